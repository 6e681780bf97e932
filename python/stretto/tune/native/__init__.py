# SPDX-License-Identifier: BSD-3-Clause
"""Tuning of a native library: measures its own algorithms and writes its own tuning file."""

from ...errors import Error
from ...launch.mpi import Mpi
from .intel import IntelMpi
from .mpich import Mpich
from .openmpi import OpenMpi
from .target import Target

TARGETS: dict[str, type[Target]] = {"openmpi": OpenMpi, "mpich": Mpich, "intel": IntelMpi}


def target_of(name: str, mpi: Mpi, commutative: bool = False) -> Target:
    """The exporter for this MPI; raises Error if it is another one."""
    kind = TARGETS[name]
    if mpi.name != kind.title:
        raise Error(f"--target {name} tunes {kind.title}, and not {mpi.title}", "name its --mpi")
    return kind(mpi, commutative)
