# SPDX-License-Identifier: BSD-3-Clause
"""Runs the race driver under an MPI and reads what it reports: one JSON object per line."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from . import _core
from .errors import Error
from .interrupt import held
from .launch.library import library_of, race_driver_of
from .launch.mpi import Mpi, no_mpi

PATIENCE = 120.0  # seconds without a line before the race is given up
VARIANTS = ("allreduce-maxloc", "allgatherv-spike", "allgatherv-halving")  # beside the functions


Ratios = dict[tuple[str, str], float]  # by operator and type


class SilenceError(Error):
    """The driver said nothing for too long."""


@dataclass
class Race:
    """What was measured: the machine, and one row per function and size."""

    machine: dict = field(default_factory=dict)
    cells: list[dict] = field(default_factory=list)
    pairs: list[dict] = field(default_factory=list)  # of cells that were compared
    reductions: Ratios = field(default_factory=dict)  # seconds per byte over those of sum.f64
    stage: str = ""  # whose calls the driver has begun: Stretto, native, both

    @property
    def wrong(self) -> list[dict]:
        return [one for one in (*self.cells, *self.pairs) if not one["correct"]]

    @property
    def ratio(self) -> float:
        """Geometric mean of native over Stretto; 0 without cells."""
        from statistics import geometric_mean

        ratios = [cell["ratio"] for cell in self.cells if cell["ratio"] > 0]
        return geometric_mean(ratios) if ratios else 0.0


def parse_sizes(text: str) -> list[int]:
    """`8-1M` or `8:1M` doubles from 8 B to 1 MiB; `8,4K` is these two."""
    sizes: set[int] = set()
    for part in text.split(","):
        low_text, dash, high_text = part.strip().replace(":", "-").partition("-")
        low = _core.parse_size(low_text)
        high = _core.parse_size(high_text) if dash else low
        if low is None or high is None or low < 1 or high < low:
            raise Error(f"--sizes: '{part}' is not a range of sizes", "write 8-1M or 8,1K,64K")
        while low <= high:
            sizes.add(low)
            low *= 2
    return sorted(sizes)


def driver_command(
    mpi: Mpi, ranks: int, arguments: list[str], variables: dict[str, str] | None = None
) -> list[str]:
    """The command line of the race driver under this MPI."""
    if mpi.library is None:
        raise no_mpi(f"{mpi.title}: its library was not found beside {mpi.mpiexec}")
    program = [
        str(race_driver_of(mpi.flavour)),
        "--mpi-library",
        str(mpi.library),
        "--stretto-library",
        str(library_of(mpi.flavour)),
        *arguments,
    ]
    return mpi.command(ranks, program, variables or {})


def stop(process: subprocess.Popen) -> None:
    """Ends the launcher that we started, and its ranks; a second Ctrl-C waits for that."""
    with held():
        family = _family(process.pid) if process.poll() is None else {}
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
        # A launcher that does not answer, and ranks, in groups of their own, that it forgot.
        for one, begun in family.items():
            if _stat(one)[1] == begun:
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)


def _stat(process: int) -> tuple[int, int]:
    """Its parent, and when it was started, which tells it from a later one of that number."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0, 0
    after_name = text.rpartition(")")[2].split()
    return int(after_name[1]), int(after_name[19])


def _family(ancestor: int) -> dict[int, int]:
    """The process and what descends from it, with the times of their starts."""
    every = {int(path.name): _stat(int(path.name)) for path in Path("/proc").glob("[0-9]*")}
    children = defaultdict(list)
    for process, (parent, _) in every.items():
        children[parent].append(process)
    found = [ancestor]
    for one in found:  # grows meanwhile
        found += children[one]
    return {one: every[one][1] for one in found if one in every}


_started: list[subprocess.Popen] = []


def start(mpi: Mpi, command: list[str], stderr: int | None = None) -> subprocess.Popen:
    """A launcher in a session of its own, for `stop`."""
    with held():  # or a signal could come between the start and our knowing of it
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=stderr,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            env=mpi.environment(),
            start_new_session=True,
        )
        _started[:] = [one for one in _started if one.poll() is None] + [process]
    return process


def stop_all() -> None:
    """Whatever was started and runs on: of a command that a signal ended at a bad moment."""
    for process in _started:
        if process.poll() is None:
            stop(process)


@contextmanager
def launched(mpi: Mpi, command: list[str], stderr: int | None = None) -> Iterator[subprocess.Popen]:
    """A launcher, which is ended with its ranks if the block fails."""
    process = start(mpi, command, stderr)
    try:
        yield process
    except BaseException:
        stop(process)
        raise
    finally:
        if process.stdout:
            process.stdout.close()


class Watch:
    """Ends a process that says nothing for too long."""

    def __init__(self, process: subprocess.Popen, patience: float) -> None:
        self.expired = False
        self._process, self.patience = process, patience
        self._timer: threading.Timer | None = None

    def _expire(self) -> None:
        self.expired = True
        stop(self._process)

    def heard(self) -> None:
        self.end()
        self._timer = threading.Timer(self.patience, self._expire)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        if self._timer:
            self._timer.cancel()


def run_race(
    mpi: Mpi,
    ranks: int,
    functions: list[str],
    sizes: list[int],
    budget: float,
    advance: Callable[..., None] = lambda done, of=None, what="": None,
) -> Race:
    """Races; raises Error if the driver fails or hangs."""
    race = Race()
    arguments = ["--collectives", ",".join(functions), "--sizes", ",".join(map(str, sizes))]
    drive(mpi, ranks, arguments, budget, PATIENCE + 20 * budget, race, advance)
    return race


def drive(
    mpi: Mpi,
    ranks: int,
    arguments: list[str],
    budget: float,
    patience: float,
    race: Race,
    advance: Callable[..., None] = lambda done, of=None, what="": None,
    variables: dict[str, str] | None = None,
    quiet: bool = False,
) -> None:
    """Runs the driver and fills `race`, which keeps what was heard even if this raises Error.

    `variables` are for the ranks; `quiet` hides what the MPI says on stderr.
    """
    command = driver_command(mpi, ranks, [*arguments, "--budget", str(budget)], variables)
    with launched(mpi, command, subprocess.DEVNULL if quiet else None) as process:
        watch = Watch(process, patience)
        watch.heard()
        try:
            for line in process.stdout or ():
                if take(line, race, advance):
                    watch.heard()
            status = process.wait()
        finally:
            watch.end()
    hint = "`stretto doctor` shows whether this MPI works at all"
    if watch.expired:
        what = f"the race under {mpi.title} said nothing for {watch.patience:.0f} s"
        raise SilenceError(what, hint)
    if status != 0 and not race.wrong:
        raise Error(f"the race under {mpi.title} ended with exit code {status}", hint)


def take(
    line: str,
    race: Race,
    advance: Callable[..., None] = lambda done, of=None, what="": None,
) -> bool:
    """True if the driver has got on."""
    try:
        said = json.loads(line)
    except json.JSONDecodeError:
        said = None
    if not isinstance(said, dict):
        sys.stderr.write(line)  # the MPI's own words
    elif "machine" in said:
        race.machine = said["machine"]
    elif "progress" in said:
        advance(said["progress"], said["of"])
    elif "stage" in said:
        race.stage = said["stage"]
        return False
    elif "reductions" in said:
        race.reductions = {(name, kind): ratio for name, kind, ratio in said["reductions"]}
    elif "pair" in said:
        race.pairs.append(said)
    elif "function" in said:
        race.cells.append(said)
    return True
