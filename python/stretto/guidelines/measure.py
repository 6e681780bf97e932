# SPDX-License-Identifier: BSD-3-Clause
"""Measures the pairs of the guidelines, and once more those that seem to violate one."""

from collections.abc import Callable
from dataclasses import replace

from ..launch.mpi import Mpi
from ..race import PATIENCE, Race, drive
from .table import Guideline, Pair, pairs_of
from .verdict import LIBRARIES, Verdict, verdict

Task = tuple[Pair, int]


def _word(pair: Pair, size: int) -> str:
    return "/".join(f"{cell}:{times * size}" for cell, times in pair)


def _sample(
    mpi: Mpi, ranks: int, tasks: list[Task], budget: float, advance: Callable[..., None]
) -> tuple[dict[Task, dict], Race]:
    race = Race()
    arguments = ["--pairs", ",".join(_word(*task) for task in tasks)]
    drive(mpi, ranks, arguments, budget, PATIENCE + 40 * budget, race, advance)
    return dict(zip(tasks, race.pairs, strict=False)), race


def _judge(chosen: list[Guideline], samples: dict[Task, dict]) -> dict[tuple, Verdict]:
    """By guideline, library and bytes: sizes that are rounded to the same are one."""
    found: dict[tuple, Verdict] = {}
    for guideline in chosen:
        for (pair, _), sample in samples.items():
            if pair == guideline.pair:
                for library in LIBRARIES:
                    key = (guideline, library, *sample["bytes"])
                    found.setdefault(key, verdict(guideline, library, sample))
    return found


def _settle(first: Verdict, again: Verdict | None) -> Verdict:
    """Of two measurements the one that speaks less against the library."""
    if not first.exceeds:
        return first
    if again is None or not again.exceeds:
        return replace(again or first, status="not repeated")
    return replace(min(first, again, key=lambda one: one.low or 0.0), status="violated")


def measure(
    mpi: Mpi,
    ranks: int,
    chosen: list[Guideline],
    sizes: list[int],
    budget: float,
    advance: Callable[..., None] = lambda done, of=None, what="": None,
) -> tuple[list[Verdict], list[dict]]:
    """The verdicts, and the pairs whose results were wrong.

    What exceeds its bound is measured again by other processes, whose memory lies elsewhere: only
    what exceeds it twice is a violation.
    """
    samples, race = _sample(mpi, ranks, pairs_of(chosen, sizes), budget, advance)
    wrong = race.wrong
    found = _judge(chosen, samples)
    exceeding = {(one.guideline.pair, one.asked) for one in found.values() if one.exceeds}
    repeated: dict[tuple, Verdict] = {}
    if exceeding:
        tasks = [task for task in samples if task in exceeding]
        again, race = _sample(mpi, ranks, tasks, budget, advance)
        wrong += race.wrong
        repeated = _judge(chosen, again)
    return [_settle(one, repeated.get(key)) for key, one in found.items()], wrong
