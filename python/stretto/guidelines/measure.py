# SPDX-License-Identifier: BSD-3-Clause
"""Measures the pairs of the guidelines, and again those that are not settled."""

from ..launch.mpi import Mpi
from ..measure.driver import PATIENCE, Results, drive
from ..measure.session import Advance, unseen
from .table import Guideline, Pair, pairs_of
from .verdict import LIBRARIES, Verdict, settle, settle_at_last, verdict

RUNS = 3
Task = tuple[Pair, int]


def _word(pair: Pair, size: int) -> str:
    return "/".join(f"{side.cell}:{side.times * size}:{side.form}" for side in pair)


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


def measure(
    mpi: Mpi,
    ranks: int,
    chosen: list[Guideline],
    sizes: list[int],
    budget: float,
    advance: Advance = unseen,
) -> tuple[list[Verdict], list[dict]]:
    """The verdicts, and the pairs whose results were wrong.

    What exceeds its bound, or cannot be told, is measured again by new processes, whose memory lies
    elsewhere.
    """
    tasks = pairs_of(chosen, sizes)
    said: dict[tuple, list[Verdict]] = {}
    wrong: list[dict] = []
    for _ in range(RUNS):
        words = ["--pairs", ",".join(_word(*task) for task in tasks)]
        race = drive(mpi, ranks, words, budget, PATIENCE + 40 * budget, Results(), advance)
        samples = dict(zip(tasks, race.pairs, strict=False))
        wrong += race.wrong
        for key, one in _judge(chosen, samples).items():
            said.setdefault(key, []).append(one)
        open_ones = [some[0] for some in said.values() if settle(some) is None]
        unsettled = {(one.guideline.pair, one.asked) for one in open_ones}
        tasks = [task for task in tasks if task in unsettled]
        if not tasks:
            break
    return [settle_at_last(some) for some in said.values()], wrong
