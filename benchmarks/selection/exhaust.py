# SPDX-License-Identifier: BSD-3-Clause
"""Measures the whole portfolio of a cell, then its fastest beside what was chosen otherwise."""

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from stretto.launch import Mpi
from stretto.launch.mpi import cores
from stretto.tune.own.cells import NATIVE, Cell, does, others, parsed, portfolio, shipped
from stretto.tune.own.journal import Measured, read_measured
from stretto.tune.own.trial import Plan, measure

MOST = 40  # candidates of one contest
SECONDS = 60.0  # of a contest at most: it ends when all have had their blocks
LAUNCHES = 3  # of the last contests: where a process's memory lies makes a difference


@dataclass(frozen=True)
class Whole:
    """Of one number of ranks."""

    fastest: dict[Cell, str]
    candidates: int
    seconds: float


def hold(mpi: Mpi, ranks: int, folder: Path, plan: Plan, seconds: float) -> list[Measured]:
    found: list[Measured] = []

    def heard(said: dict) -> None:
        found.append(read_measured("whole", said))
        print(found[-1].cell, f"{found[-1].seconds:.1f} s", file=sys.stderr, flush=True)

    silent = measure(mpi, ranks, plan, seconds, folder, heard)
    if silent:
        sys.exit(f"no end of {silent}")
    return found


def exhausted(mpi: Mpi, cells: list[Cell], folder: Path) -> Whole:
    """Every candidate is timed in as many blocks as any other, however slow it is."""
    ranks = cells[0].ranks
    plan: Plan = []
    references = {}
    count = 0
    for cell in cells:
        reference = shipped(cell, ranks, cores())
        references[cell] = reference.words
        rest = [one.words for one in others(cell, reference, portfolio(cell))]
        count += len(rest) + 1
        for i in range(0, max(len(rest), 1), MOST):  # all have the reference in common
            words = [reference.words, *rest[i : i + MOST]]
            plan.append((cell, [w if w == NATIVE else "+" + w for w in words]))
    begun = time.monotonic()
    contests = hold(mpi, ranks, folder, plan, SECONDS)
    seconds = time.monotonic() - begun
    fastest = {}
    for cell in cells:
        us = joined([one for one in contests if one.cell == cell], references[cell])
        fastest[cell] = min(us, key=lambda words: us[words])
    return Whole(fastest, count, seconds)


def joined(contests: list[Measured], reference: str) -> dict[str, float]:
    """Times of one cell's contests, as if the reference had had the same in all."""
    first = contests[0].us_of(reference)
    us: dict[str, float] = {}
    for contest in contests:
        own = contest.us_of(reference)
        for one in contest.entries:
            if one.counts:
                us.setdefault(one.words, one.us * (first / own if first and own else 1.0))
    return us


def compared(
    mpi: Mpi, fastest: dict[Cell, str], choices: dict[Cell, dict[str, str]], folder: Path
) -> dict[Cell, dict[str, float]]:
    """By way to choose, the time over that of the fastest, the median of several launches.

    What does the same as the fastest takes as long. Native calls are made in one launch.
    """
    ranks = next(iter(fastest)).ranks
    plan = [(cell, _entrants(cell, fastest[cell], choices[cell])) for cell in fastest]
    own = [(cell, [one for one in words if one != NATIVE]) for cell, words in plan]
    ratios: dict[Cell, dict[str, list[float]]] = {cell: {} for cell in fastest}
    for launch in range(LAUNCHES):
        for contest in hold(mpi, ranks, folder, own if launch else plan, SECONDS):
            cell = contest.cell
            us = {does(cell, parsed(cell, one.words)): one.us for one in contest.entries}
            best = us[does(cell, parsed(cell, fastest[cell]))]
            for way, words in choices[cell].items():
                if found := us.get(does(cell, parsed(cell, words))):
                    ratios[cell].setdefault(way, []).append(found / best)
    return {cell: {way: median(each) for way, each in own.items()} for cell, own in ratios.items()}


def _entrants(cell: Cell, fastest: str, choices: dict[str, str]) -> list[str]:
    """Each of those that do something else, once."""
    kept: dict[tuple, str] = {}
    for words in (fastest, *choices.values()):
        kept.setdefault(does(cell, parsed(cell, words)), words)
    return [words if words == NATIVE else "+" + words for words in kept.values()]
