# SPDX-License-Identifier: BSD-3-Clause
"""Runs the race driver under an MPI and reads what it reports: one JSON object per line."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import geometric_mean

from ..errors import Error
from ..launch.library import heap_library, library_of, program_of
from ..launch.mpi import Mpi, no_mpi
from .points import BACK_TO_BACK, BLOCKING, FORMS
from .process import Silence, launched, object_in
from .session import Advance, unseen

PATIENCE = 120.0  # seconds without a line before it is given up
VARIANTS = ("allreduce-maxloc", "allgatherv-spike", "allgatherv-halving")  # beside the functions


Ratios = dict[tuple[str, str], float]  # by operator and type


class SilenceError(Error):
    """The driver said nothing for too long."""


@dataclass
class Results:
    """What was measured: the machine, and one row per function and size."""

    machine: dict = field(default_factory=dict)
    cells: list[dict] = field(default_factory=list)
    pairs: list[dict] = field(default_factory=list)  # of cells, or more, that were compared
    reductions: Ratios = field(default_factory=dict)  # seconds per byte over those of sum.f64
    stage: str = ""  # whose calls the driver has begun: Stretto, native, both

    @property
    def wrong(self) -> list[dict]:
        return [one for one in (*self.cells, *self.pairs) if not one["correct"]]

    @property
    def ratio(self) -> float:
        """Geometric mean of native over Stretto; 0 without cells."""
        ratios = [cell["ratio"] for cell in self.cells if cell["ratio"] > 0]
        return geometric_mean(ratios) if ratios else 0.0


def driver_command(
    mpi: Mpi, ranks: int, arguments: list[str], variables: dict[str, str] | None = None
) -> list[str]:
    """The command line of the race driver under this MPI."""
    if mpi.library is None:
        raise no_mpi(f"{mpi.title}: its library was not found beside {mpi.mpiexec}")
    program = [str(program_of("race", mpi.flavour)), "--mpi-library", str(mpi.library)]
    program += ["--stretto-library", str(library_of(mpi.flavour)), *arguments]
    return mpi.command(ranks, program, variables or {})


def run_benchmark(
    mpi: Mpi,
    ranks: int,
    functions: list[str],
    sizes: list[int],
    budget: float,
    advance: Advance = unseen,
    modes: Sequence[str] = (BACK_TO_BACK,),
    form: str = BLOCKING,
    shared_buffers: bool = False,
    variables: dict[str, str] | None = None,
    graph: str = "",
    overlap: bool = False,
) -> Results:
    """Races in these MODES and in one of the FORMS or `all`, with `variables` for the ranks; raises
    Error if the driver fails or hangs.

    `shared_buffers` lie in each rank's shared heap, if they have 64 KiB or more. `graph` is that of
    neighbourhood functions; without one the eight nearest ranks on a ring are neighbours. With
    `overlap` cells have the Parts of each library (overlap.py) instead, and no modes and forms.
    """
    arguments = ["--collectives", ",".join(functions), "--sizes", ",".join(map(str, sizes))]
    forms = ",".join(FORMS) if form == "all" else form
    arguments += ["--overlap"] if overlap else ["--modes", ",".join(modes), "--forms", forms]
    if graph:
        arguments += ["--graph", graph]
    if shared_buffers:
        heap = {"LD_PRELOAD": str(heap_library()), "STRETTO_SHARED_HEAP": "64K"}
        variables = heap | (variables or {})
    patience = PATIENCE + (40 if overlap else 20) * budget
    return drive(mpi, ranks, arguments, budget, patience, Results(), advance, variables)


def drive(
    mpi: Mpi,
    ranks: int,
    arguments: list[str],
    budget: float,
    patience: float,
    results: Results,
    advance: Advance = unseen,
    variables: dict[str, str] | None = None,
    quiet: bool = False,
) -> Results:
    """Runs the driver and fills `results`, which keeps what was heard even if this raises Error.

    `variables` are for the ranks; `quiet` hides what the MPI says on stderr.
    """
    command = driver_command(mpi, ranks, [*arguments, "--budget", str(budget)], variables)
    stderr = subprocess.DEVNULL if quiet else None
    with launched(mpi, command, stderr) as process, Silence(process, patience) as silence:
        for line in process.stdout or ():
            if take(line, results, advance):
                silence.heard()
        status = process.wait()
    hint = "`stretto doctor` shows whether this MPI works at all"
    if silence.expired:
        what = f"the race under {mpi.title} said nothing for {silence.patience:.0f} s"
        raise SilenceError(what, hint)
    if status != 0 and not results.wrong:
        raise Error(f"the race under {mpi.title} ended with exit code {status}", hint)
    return results


def take(line: str, results: Results, advance: Advance = unseen) -> bool:
    """True if the driver has got on."""
    said = object_in(line)
    if not said:
        sys.stderr.write(line)  # the MPI's own words
    elif "machine" in said:
        results.machine = said["machine"]
    elif "progress" in said:
        advance(said["progress"], said["of"])
    elif "stage" in said:
        results.stage = said["stage"]
        return False
    elif "reductions" in said:
        results.reductions = {(name, kind): ratio for name, kind, ratio in said["reductions"]}
    elif "pair" in said:
        results.pairs.append(said)
    elif "function" in said:
        results.cells.append(said)
    return True
