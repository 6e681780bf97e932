# SPDX-License-Identifier: BSD-3-Clause
"""Moves messages between the machines of an MPI job, to discover its network."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from ..errors import Error
from ..launch.library import program_of
from ..launch.mpi import Mpi, no_mpi
from ..topology.discover import Machine
from .process import Silence, ended, object_in, start

PATIENCE = 120.0  # seconds without an answer before it is given up


def machines_of(ranks: Sequence[dict]) -> list[Machine]:
    """From where each rank says it is: by name, and by the boot of its kernel where names are
    alike."""
    found: dict[tuple[str, str], Machine] = {}
    for rank, one in enumerate(ranks):
        place = one["host"], one["boot"]
        if place not in found:
            again = sum(place[0] == host for host, _ in found)
            name = f"{place[0]}-{again + 1}" if again else place[0]
            found[place] = Machine(name, [], one["sockets"], one["caches"])
        found[place].ranks.append(rank)
    return list(found.values())


@dataclass
class Probe:
    """A running driver. Machines are numbered as in `machines`; the first rank of each moves."""

    process: subprocess.Popen
    silence: Silence
    title: str
    machines: list[Machine]

    def move(
        self, transfers: Sequence[tuple[int, int, int]], repeats: int, enough: float
    ) -> list[float]:
        words = [f"{self._rank(a)}:{self._rank(b)}:{size}" for a, b, size in transfers]
        said = self._answer(f"move {repeats} {enough:.6f} {' '.join(words)}", "moved")
        return [seconds for seconds, _ in said]

    def ping(self, pair: tuple[int, int], times: int) -> float:
        return self._answer(f"ping {times} {self._rank(pair[0])}:{self._rank(pair[1])}", "ping")

    def eager(self, pair: tuple[int, int], size: int, tries: int) -> bool:
        order = f"eager {tries} {self._rank(pair[0])}:{self._rank(pair[1])}:{size}"
        return self._answer(order, "eager")

    def _rank(self, machine: int) -> int:
        return self.machines[machine].ranks[0]

    def _answer(self, order: str, key: str):
        assert self.process.stdin
        with suppress(BrokenPipeError):  # it ended, which is told below
            self.process.stdin.write(order + "\n")
            self.process.stdin.flush()
        return self.heard(key)

    def heard(self, key: str):
        """What the next line with that key says; raises Error if the driver ends or hangs."""
        for line in self.process.stdout or ():
            said = object_in(line)
            if key in said:
                self.silence.heard()
                return said[key]
            sys.stderr.write(line)  # the MPI's own words
        hint = (
            "`stretto doctor` shows whether this MPI works; its launcher must hand stdin to rank 0"
        )
        if self.silence.expired:
            what = f"the probe under {self.title} said nothing for {self.silence.patience:.0f} s"
            raise Error(what, hint)
        status = self.process.wait()
        raise Error(f"the probe under {self.title} ended with exit code {status}", hint)


@contextmanager
def probing(mpi: Mpi, ranks: int, patience: float = PATIENCE) -> Iterator[Probe]:
    """The driver under this MPI, which is ended with the block."""
    if mpi.library is None:
        raise no_mpi(f"{mpi.title}: its library was not found beside {mpi.mpiexec}")
    command = mpi.command(ranks, [str(program_of("probe", mpi.flavour)), str(mpi.library)], {})
    with (
        ended(start(mpi, command, stdin=subprocess.PIPE)) as process,
        Silence(process, patience) as silence,
    ):
        probe = Probe(process, silence, mpi.title, [])
        probe.machines = machines_of(probe.heard("ranks"))
        yield probe
        assert process.stdin
        with suppress(BrokenPipeError):  # it has ended already
            process.stdin.write("end\n")
            process.stdin.close()
        process.wait()
