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

    current: int  # the candidate that it ends with
    settled: bool
    calls: int  # until then
    worst: float  # at any moment: the time of all calls so far over that of as many native ones


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

    def plays(self, calls: Iterable[tuple[list[float], int, float]]) -> list[Outcome]:
        """For each class of calls: the candidates' seconds, the native function's first; which one
        serves at first; and the seconds in which ranks tell each other the times of a round."""
        asked = []
        for seconds, first, telling in calls:
            numbers = " ".join(f"{one:.9e}" for one in (telling, *seconds))
            asked.append(f"play {first} {numbers}")
        return [Outcome(**one) for one in self._answers(asked)]

    def _answers(self, lines: list[str]) -> list[dict]:
        asked = "".join(f"{line}\n" for line in lines)
        done = subprocess.run([self.program], input=asked, capture_output=True, text=True)
        if done.returncode:
            raise Error(f"{self.program.name} failed: {done.stderr.strip()}", "was it built?")
        return [json.loads(line) for line in done.stdout.splitlines()]
