# SPDX-License-Identifier: BSD-3-Clause
"""What a program that learns would do: its own code is asked, which the driver's build has made."""

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stretto.errors import Error
from stretto.tune.own.points import Point


@dataclass(frozen=True)
class Outcome:
    """Of a comparison by times that never change."""

    choice: str  # that it ends with
    settled: bool
    calls: int  # until then
    worst: float  # at any moment: the time of all calls so far over that of as many native ones
    compared: list[str]
    unknown: list[str]  # that would be compared next, but have no times


@dataclass(frozen=True)
class Compared:
    """What is compared for a class of calls: words of STRETTO_ALLREDUCE, the native function first;
    and which one serves at first."""

    words: list[str]
    first: int


@dataclass(frozen=True)
class Learner:
    program: Path

    @classmethod
    def beside(cls, driver: Path) -> "Learner":
        return cls(driver.with_name("stretto-learner"))

    def candidates(self, points: Iterable[Point], rules: Path | None = None) -> list[Compared]:
        """For each point, where each rank is on a node of its own. `rules` is a file of rules that
        were not measured; without it those of the library count."""
        last = f" {rules}" if rules else ""
        asked = [f"candidates {p.function.name} {p.ranks} {p.bytes}{last}" for p in points]
        return [Compared(**one) for one in self._answers(asked)]

    def plays(
        self, calls: dict[Point, Compared], times: dict[Point, dict[str, float]], telling: float
    ) -> dict[Point, Outcome]:
        """What becomes of calls whose candidates take so many seconds, and their refinements.
        0: it is left out. Ranks tell each other the times of a round in `telling`."""
        asked = []
        for p, own in calls.items():
            later = [words for words in times[p] if words not in own.words]
            known = " ".join(f"{one} {times[p][one]:.9e}" for one in (*own.words, *later))
            numbers = f"{own.first} {telling:.9e} {len(own.words)}"
            asked.append(f"play {p.function.name} {p.ranks} {p.bytes} {numbers} {known}")
        return {p: Outcome(**one) for p, one in zip(calls, self._answers(asked), strict=True)}

    def _answers(self, lines: list[str]) -> list[dict]:
        asked = "".join(f"{line}\n" for line in lines)
        done = subprocess.run([self.program], input=asked, capture_output=True, text=True)
        if done.returncode:
            raise Error(f"{self.program.name} failed: {done.stderr.strip()}", "was it built?")
        return [json.loads(line) for line in done.stdout.splitlines()]
