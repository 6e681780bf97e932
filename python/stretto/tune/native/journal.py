# SPDX-License-Identifier: BSD-3-Clause
"""The journal of a native library's tuning."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from ...measure.journal import Records

FILE = "state.jsonl"
FORMAT = 1


class Point(NamedTuple):
    """A function at one size on so many ranks."""

    function: str
    ranks: int
    asked: int


@dataclass(frozen=True)
class Run:
    """One start of the driver.

    `part` is "before" or "after", where the library is as it is, or what is tried;
    `stage` is "scan", or names the table that is confirmed.
    """

    stage: str
    round: int
    ranks: int
    part: str


@dataclass(frozen=True)
class Sample:
    run: Run
    function: str
    asked: int
    bytes: int
    us: float

    @property
    def point(self) -> Point:
        return Point(self.function, self.run.ranks, self.asked)


@dataclass(frozen=True)
class Failure:
    """Not to be tried again."""

    function: str
    ranks: int
    algorithm: str
    reason: str


class Journal(Records):
    """`head` is what a measurement was asked for: another one needs another folder."""

    def __init__(self, folder: Path, head: dict, fresh: bool = False) -> None:
        head = {"format": FORMAT, **head}
        self.samples: list[Sample] = []
        self.failures: list[Failure] = []
        super().__init__(folder / FILE, head, fresh, "name another folder with --output")
        self._known = {(one.run, one.point) for one in self.samples}

    def _heard(self, said: dict) -> None:
        if "us" in said:
            self.samples.append(Sample(**{**said, "run": Run(**said["run"])}))
        elif "reason" in said:
            self.failures.append(Failure(**said))

    def add(self, samples: Iterable[Sample] = (), failures: Iterable[Failure] = ()) -> None:
        samples, failures = list(samples), list(failures)
        self.samples += samples
        self.failures += failures
        self._known |= {(one.run, one.point) for one in samples}
        self._write(asdict(one) for one in [*samples, *failures])

    def failed(self, function: str, ranks: int, algorithm: str) -> bool:
        key = (function, ranks, algorithm)
        return any((one.function, one.ranks, one.algorithm) == key for one in self.failures)

    def has(self, run: Run, point: Point) -> bool:
        return (run, point) in self._known
