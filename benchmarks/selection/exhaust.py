# SPDX-License-Identifier: BSD-3-Clause
"""Measures the whole portfolio of a point, then its fastest beside what was chosen otherwise."""

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from stretto.launch import Mpi
from stretto.launch.mpi import cores
from stretto.measure.points import BACK_TO_BACK
from stretto.tune.own.journal import Measured, read_measured
from stretto.tune.own.paired_benchmark import Plan, measure
from stretto.tune.own.points import NATIVE, Point, does, others, parsed, portfolio, shipped

MOST = 40  # candidates of one paired benchmark
SECONDS = 60.0  # of a paired benchmark at most: it ends when all have had their blocks
LAUNCHES = 3  # of the last paired benchmarks: where a process's memory lies makes a difference
FAR = 3.0  # native calls that take so many times as long are made in one of them


@dataclass(frozen=True)
class Whole:
    """Of one number of ranks."""

    fastest: dict[Point, str]
    candidates: int
    seconds: float


def hold(mpi: Mpi, ranks: int, folder: Path, plan: Plan, seconds: float) -> list[Measured]:
    found: list[Measured] = []

    def heard(said: dict) -> None:
        found.append(read_measured("whole", said))
        print(found[-1].point, f"{found[-1].seconds:.1f} s", file=sys.stderr, flush=True)

    silent = measure(mpi, ranks, plan, seconds, folder, heard)
    if silent:
        sys.exit(f"no end of {silent}")
    return found


def exhausted(mpi: Mpi, points: list[Point], folder: Path) -> Whole:
    """Every candidate is timed in as many blocks as any other, however slow it is."""
    ranks = points[0].ranks
    plan: Plan = []
    references = {}
    count = 0
    for point in points:
        reference = shipped(point, ranks, cores())
        references[point] = reference.words
        rest = [one.words for one in others(point, reference, portfolio(point))]
        count += len(rest) + 1
        for i in range(0, max(len(rest), 1), MOST):  # all have the reference in common
            words = [reference.words, *rest[i : i + MOST]]
            plan.append((point, BACK_TO_BACK, [w if w == NATIVE else "+" + w for w in words]))
    begun = time.monotonic()
    benchmarks = hold(mpi, ranks, folder, plan, SECONDS)
    seconds = time.monotonic() - begun
    fastest = {}
    for point in points:
        us = joined([one for one in benchmarks if one.point == point], references[point])
        fastest[point] = min(us, key=lambda words: us[words])
    return Whole(fastest, count, seconds)


def joined(benchmarks: list[Measured], reference: str) -> dict[str, float]:
    """Times of one point's paired benchmarks, as if the reference had had the same in all."""
    first = benchmarks[0].us_of(reference)
    us: dict[str, float] = {}
    for benchmark in benchmarks:
        own = benchmark.us_of(reference)
        for one in benchmark.entries:
            if one.counts:
                us.setdefault(one.words, one.us * (first / own if first and own else 1.0))
    return us


def compared(
    mpi: Mpi, fastest: dict[Point, str], choices: dict[Point, dict[str, str]], folder: Path
) -> dict[Point, dict[str, float]]:
    """By way to choose, the time over that of the fastest, the median of several launches.

    What does the same as the fastest takes as long.
    """
    ranks = next(iter(fastest)).ranks
    plan = [
        (point, BACK_TO_BACK, _entrants(point, fastest[point], choices[point])) for point in fastest
    ]
    ratios: dict[Point, dict[str, list[float]]] = {point: {} for point in fastest}
    for launch in range(LAUNCHES):
        if launch == 1:
            plan = [(point, mode, _near(words, ratios[point])) for point, mode, words in plan]
        for benchmark in hold(mpi, ranks, folder, plan, SECONDS):
            point = benchmark.point
            us = {does(point, parsed(point, one.words)): one.us for one in benchmark.entries}
            best = us[does(point, parsed(point, fastest[point]))]
            for way, words in choices[point].items():
                if found := us.get(does(point, parsed(point, words))):
                    ratios[point].setdefault(way, []).append(found / best)
    return {
        point: {way: median(each) for way, each in own.items()} for point, own in ratios.items()
    }


def _near(words: list[str], ratios: dict[str, list[float]]) -> list[str]:
    """Without the native function where it is far behind."""
    if ratios.get("native", [0.0])[0] < FAR:
        return words
    return [one for one in words if one != NATIVE]


def _entrants(point: Point, fastest: str, choices: dict[str, str]) -> list[str]:
    """Each of those that do something else, once."""
    kept: dict[tuple, str] = {}
    for words in (fastest, *choices.values()):
        kept.setdefault(does(point, parsed(point, words)), words)
    return [words if words == NATIVE else "+" + words for words in kept.values()]
