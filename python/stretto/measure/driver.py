# SPDX-License-Identifier: BSD-3-Clause
"""Runs the race driver under an MPI and reads what it reports: one JSON object per line."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean

from ..errors import Error
from ..interrupt import held
from ..launch.library import heap_library, library_of, program_of
from ..launch.mpi import Mpi, no_mpi
from .points import BACK_TO_BACK, BLOCKING, FORMS
from .process import Silence, ended, object_in, start, stop
from .session import Advance, unseen

PATIENCE = 120.0  # seconds without a line before it is given up
END = 10.0  # seconds that a waiting driver has to end when it has no more to do
VARIANTS = ("allreduce-maxloc", "allgatherv-spike", "allgatherv-halving")  # beside the functions


Ratios = dict[tuple[str, str], float]  # by operator and type


class SilenceError(Error):
    """The driver said nothing for too long."""


class CellError(Error):
    """A cell was not measured. `side` is whose calls had begun: Stretto, native or both."""

    def __init__(self, what: str, side: str) -> None:
        super().__init__(what, "`stretto doctor` shows whether this MPI works at all")
        self.side = side


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
    with ended(start(mpi, command, stderr)) as process, Silence(process, patience) as silence:
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


class WaitingDriver:
    """The driver under one MPI, which waits between cells: others measure meanwhile.

    It starts when it is first asked, and again after a failure. Every rank reads its orders from a
    pipe of its own: those that wait leave the cores alone.
    """

    def __init__(self, mpi: Mpi, ranks: int, budget: float, limit: float) -> None:
        self.mpi, self.ranks, self.budget, self.limit = mpi, ranks, budget, limit
        self._process: subprocess.Popen | None = None
        self._pipes: list[int] = []
        self._folder: tempfile.TemporaryDirectory | None = None

    def __enter__(self) -> "WaitingDriver":
        return self

    def __exit__(self, *_: object) -> None:
        with held():
            self._end()

    def ask(self, cell: str, size: int, mode: str) -> dict:
        """What the driver says of the cell in that mode; raises CellError."""
        process = self._process or self._start()
        results, whole = Results(), False
        try:
            with Silence(process, self.limit) as silence:
                for pipe in self._pipes:
                    os.write(pipe, f"{cell}:{max(size, 1)}:{mode}\n".encode())
                for line in process.stdout or ():
                    take(line, results)
                    whole = '"progress"' in line
                    if whole:
                        break
        except BaseException:
            stop(process)
            raise
        if whole and silence.expired:  # just in time; but the driver is gone
            self._end()
        if whole:
            return results.cells[0]
        reason = f"the driver under {self.mpi.title} ended with exit code {process.wait()}"
        if silence.expired:
            names = {"native": self.mpi.title, "Stretto": "Stretto"}
            whose = names.get(results.stage, "one of both")
            reason = f"{whose} took more than {self.limit:.0f} s"
        self._end()
        raise CellError(reason, results.stage)

    def _start(self) -> subprocess.Popen:
        # New ones: a rank of before that has not ended yet must not read these orders.
        self._folder = tempfile.TemporaryDirectory(prefix="stretto-")
        folder = Path(self._folder.name)
        for rank in range(self.ranks):
            os.mkfifo(folder / str(rank))
            self._pipes.append(os.open(folder / str(rank), os.O_RDWR))
        arguments = ["--orders", str(folder), "--budget", str(self.budget)]
        self._process = start(self.mpi, driver_command(self.mpi, self.ranks, arguments))
        return self._process

    def _end(self) -> None:
        for pipe in self._pipes:
            os.close(pipe)
        self._pipes = []
        if self._process:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END)
            if self._process.poll() is None:
                stop(self._process)
            if self._process.stdout:
                self._process.stdout.close()
            self._process = None
        if self._folder:
            self._folder.cleanup()
            self._folder = None
