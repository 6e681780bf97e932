# SPDX-License-Identifier: BSD-3-Clause
"""Measures the pairs of the guidelines, and again those that are not settled: is each guideline
kept, beyond the noise, or can it not be told?"""

from dataclasses import dataclass, replace
from itertools import accumulate
from math import comb
from statistics import median

from ..launch.cores import cores
from ..launch.mpi import Mpi
from ..measure.driver import PATIENCE, Results, drive
from ..measure.session import Advance, unseen
from .table import Guideline, Pair, pairs_of

MISS = 0.01  # how often an interval may miss the median
TOLERANCE = 1.05  # what is less than that is no violation: where code and data lie costs as much
LIBRARIES = ("stretto", "native")
RUNS = 3
Task = tuple[Pair, int]


def median_interval(values: list[float], miss: float) -> tuple[float, float] | None:
    """Holds the median whatever the distribution, by order statistics; None of too few values."""
    n = len(values)
    outside = accumulate(comb(n, k) for k in range(n // 2))  # of 2^n orders: the median is below
    rank = sum(2 * orders <= miss * 2**n for orders in outside)  # of the lower end
    if rank == 0:
        return None
    ordered = sorted(values)
    return ordered[rank - 1], ordered[n - rank]


def ratio_interval(left: list[float], right: list[float]) -> tuple[float, float] | None:
    """Of the medians' ratio: each median may leave its interval in half of the misses allowed."""
    one, other = (median_interval(values, MISS / 2) for values in (left, right))
    return (one[0] / other[1], one[1] / other[0]) if one and other else None


@dataclass(frozen=True)
class Verdict:
    """One guideline at one size, of one library. `ratio` is left over what it may take."""

    guideline: Guideline
    library: str
    ranks: int
    asked: int
    bytes: int  # m, of whole elements
    left_us: float
    right_us: float
    ratio: float
    low: float | None  # the interval's ends
    high: float | None
    blocks: int
    algorithms: tuple[str, str] | None  # Stretto's
    status: str  # kept, violated, not repeated, not judged

    @property
    def exceeds(self) -> bool:
        return self.low is not None and self.low > TOLERANCE

    def as_row(self) -> dict:
        row = {name: value for name, value in vars(self).items() if name != "guideline"}
        own = self.guideline
        return {"group": own.group, "function": own.function, "guideline": own.words, **row}


def calm(blocks: list[tuple[float, int]], ranks: int) -> list[float]:
    """Times in which no other program got the core of a rank; ranks that share cores get none."""
    return [us for us, disturbed in blocks if not disturbed or ranks > cores()]


def verdict(guideline: Guideline, library: str, sample: dict) -> Verdict:
    """From what the driver said of the pair: one measurement, which violates nothing yet."""
    turn = 1 if guideline.left == guideline.pair[0] else -1
    left, right = (calm(side, sample["ranks"]) for side in sample[library][::turn])
    interval = ratio_interval(left, right)
    low, high = (end / guideline.factor for end in interval) if interval else (None, None)
    left_us, right_us = (median(times) if times else 0.0 for times in (left, right))
    return Verdict(
        guideline=guideline,
        library=library,
        ranks=sample["ranks"],
        asked=sample["asked"][0] // guideline.pair[0].times,
        bytes=sample["bytes"][0],
        left_us=left_us,
        right_us=right_us,
        ratio=left_us / (guideline.factor * right_us) if right_us else 0.0,
        low=low,
        high=high,
        blocks=min(len(left), len(right)),
        algorithms=tuple(sample["algorithms"][::turn]) if library == "stretto" else None,
        status="not judged" if interval is None else "kept",
    )


def settle(said: list[Verdict]) -> Verdict | None:
    """Of one measurement after the other; None while another one is needed.

    What exceeds its bound must do so twice; the one that speaks less against the library counts.
    """
    judged = [one for one in said if one.low is not None]
    if judged and not judged[0].exceeds:
        return judged[0]
    if len(judged) < 2:
        return None
    first, again = judged[:2]
    if not again.exceeds:
        return replace(again, status="not repeated")
    return replace(min(first, again, key=lambda one: one.low or 0.0), status="violated")


def settle_at_last(said: list[Verdict]) -> Verdict:
    """After the last measurement."""
    judged = [one for one in said if one.low is not None]
    return settle(said) or (replace(judged[0], status="not repeated") if judged else said[-1])


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
