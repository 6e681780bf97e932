# SPDX-License-Identifier: BSD-3-Clause
"""One run of a program after the other, every other one with Stretto."""

import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .. import _core
from ..errors import Error
from ..launch import preload
from ..launch.job import Job, environment_of
from ..measure.busy import Load, Span
from ..measure.process import Silence, ended, start_apart
from ..measure.session import Advance, unseen
from ..report.read import Profile, read

NATIVE, STRETTO = "native", "stretto"
SIDES = (NATIVE, STRETTO)
NAMES = {NATIVE: "without Stretto", STRETTO: "with Stretto"}
SHORTEST_LIMIT = 60.0  # seconds that a run may take where it takes less natively
PATIENCE = 20.0  # times as long as the first run


@dataclass(frozen=True)
class Wish:
    """What is to be done; `plain`: nothing is preloaded natively and no call is timed."""

    repeat: int = 5
    limit: float | None = None  # seconds for a run
    plain: bool = False
    same_output: bool = False


@dataclass(frozen=True)
class Run:
    """`code` is None where the time was up; a signal's number is negative."""

    side: str
    seconds: float
    code: int | None
    out: Path
    err: Path
    profile: Profile | None
    load: Load | None  # of others, meanwhile; None where that is not known

    @property
    def failed(self) -> bool:
        return self.code != 0

    @property
    def end(self) -> str:
        """`exit code 3`."""
        if self.code is None:
            return f"no end within {self.seconds:.0f} s"
        return f"exit code {self.code}" if self.code >= 0 else f"signal {-self.code}"


class EndedError(Error):
    """The program failed; the runs of both sides, of which one or both did."""

    status = 1

    def __init__(self, what: str, hint: str, runs: list[Run]) -> None:
        super().__init__(what, hint)
        self.runs = runs


def _variables(job: Job, side: str, profile: Path, plain: bool) -> dict[str, str]:
    """Natively, too, the library is there: it times the calls and hands them all on."""
    preloaded = {"LD_PRELOAD": preload(job.mpi.flavour)}
    served = {"STRETTO_DISABLE": "1"}
    if side == STRETTO:
        children = os.environ.get("STRETTO_CHILDREN", _core.version())
        served = {"STRETTO_CHILDREN": children} if job.hands_on else {}
    if plain:
        # What is preloaded here already, by `stretto env` perhaps, serves nothing natively.
        return {**preloaded, **served} if side == STRETTO else served
    measures = {"STRETTO_PROFILE": str(profile), "STRETTO_PROFILE_CALLS": "all"}
    return {**preloaded, **served, **measures}


@contextmanager
def _input() -> Iterator[int]:
    """The whole of the file that is our standard input, for every run again; else nothing."""
    path = Path(os.devnull)
    if sys.stdin is not None and stat.S_ISREG(os.fstat(sys.stdin.fileno()).st_mode):
        path = Path(f"/proc/self/fd/{sys.stdin.fileno()}")
    with path.open("rb") as file:
        yield file.fileno()


class Comparison:
    """Runs a job in `folder`, where output and profiles are kept."""

    def __init__(self, job: Job, wish: Wish, folder: Path) -> None:
        self.job, self.wish, self.folder = job, wish, folder
        self.runs: list[Run] = []  # in the order of time; without the first one
        self.first: Run | None = None
        self._limit = wish.limit

    @property
    def mpi(self) -> str:
        """What the program ran on, as far as it has said so."""
        said = self.first.profile.mpi if self.first and self.first.profile else ""
        return self.job.mpi.title if not said or self.is_expected else said.partition(",")[0]

    @property
    def is_expected(self) -> bool:
        """Has the program loaded the MPI whose launcher has started it, as far as it says?"""
        words = {"MPICH": "MPICH", "Intel MPI": "Intel", "Open MPI": "Open MPI"}
        profile = self.first.profile if self.first else None
        return profile is None or words[self.job.mpi.name] in profile.mpi

    def of(self, side: str) -> list[Run]:
        return [run for run in self.runs if run.side == side]

    def pairs(self) -> list[tuple[Run, Run]]:
        """Native, Stretto: neighbours in time."""
        return list(zip(self.of(NATIVE), self.of(STRETTO), strict=False))

    def begin(self) -> None:
        """The first run, natively, which is not counted; raises EndedError."""
        self.first = self._run(NATIVE)
        if self.first.failed:
            raise self._failure([self.first, self._run(STRETTO)])
        if self._limit is None:
            self._limit = max(SHORTEST_LIMIT, PATIENCE * self.first.seconds)

    def go_on(self, advance: Advance = unseen) -> None:
        """All that count; raises EndedError."""
        total = 2 * self.wish.repeat
        for pair in range(self.wish.repeat):
            for side in SIDES if pair % 2 == 0 else reversed(SIDES):
                advance(len(self.runs), total, f"run {len(self.runs) + 1}, {NAMES[side]}")
                run = self._run(side)
                self.runs.append(run)
                if run.failed:
                    raise self._failure([self._other_than(run), run])

    def _other_than(self, failed: Run) -> Run:
        """The last run of the other side that came to its end."""
        others = [run for run in self.runs if run.side != failed.side]
        if others:
            return others[-1]
        return self.first if failed.side == STRETTO and self.first else self._run(STRETTO)

    def _run(self, side: str) -> Run:
        number = len(list(self.folder.glob("*.out")))
        out, err, profile = (self.folder / f"{number}.{end}" for end in ("out", "err", "profile"))
        words = self.job.command(_variables(self.job, side, profile, self.wish.plain))
        environment = environment_of(self.job)
        # The ranks of another launcher, such as srun, are not ours: they would count as others.
        span = Span() if self.job.by_mpi else None
        with out.open("wb") as to_out, err.open("wb") as to_err, _input() as stdin:
            begun = time.monotonic()
            try:
                process = start_apart(words, environment, stdin=stdin, stdout=to_out, stderr=to_err)
            except OSError as error:
                what = f"{words[0]}: {(error.strerror or str(error)).lower()}"
                raise Error(what, "is the launcher on PATH?") from error
            with ended(process):
                code = self._wait(process)
        seconds = time.monotonic() - begun if code is not None else self._limit or 0.0
        found = read(profile) if profile.exists() and code == 0 else None
        return Run(side, seconds, code, out, err, found, span.end() if span else None)

    def _wait(self, process: subprocess.Popen) -> int | None:
        if self._limit is None:
            return process.wait()
        with Silence(process, self._limit) as watch:  # wait(limit) looks every 50 ms only
            code = process.wait()
        return None if watch.expired else code

    def _failure(self, runs: list[Run]) -> EndedError:
        ends = {run.side: run.end for run in runs}
        limit = "--limit SECONDS gives it more time" if None in [run.code for run in runs] else ""
        if ends[NATIVE] == ends[STRETTO]:
            what = f"{self.job} fails alike with Stretto and without: {ends[NATIVE]}"
            return EndedError(what, limit or "what it needs is wanting in both", runs)
        what = f"{self.job}: {ends[STRETTO]} with Stretto, {ends[NATIVE]} without"
        others = "STRETTO_LOG=select,summary shows what served its calls"
        return EndedError(what, limit or others, runs)
