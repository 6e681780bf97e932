# SPDX-License-Identifier: BSD-3-Clause
"""Whether a guideline is kept: beyond the noise, or not to be told."""

from dataclasses import dataclass
from math import comb
from statistics import median

from .table import Guideline

MISS = 0.01  # how often an interval may miss the median
TOLERANCE = 1.05  # what is less than that is no violation: where code and data lie costs as much
LIBRARIES = ("stretto", "native")


def median_interval(values: list[float], miss: float = MISS) -> tuple[float, float] | None:
    """Holds the median whatever the distribution, by order statistics; None of too few values."""
    n = len(values)
    rank, outside = 0, 0  # of the lower end; of 2^n orders, how many have the median below it
    while rank < n // 2:
        outside += comb(n, rank)
        if 2 * outside > miss * 2**n:
            break
        rank += 1
    if rank == 0:
        return None
    ordered = sorted(values)
    return ordered[rank - 1], ordered[n - rank]


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


def verdict(guideline: Guideline, library: str, sample: dict) -> Verdict:
    """From what the driver said of the pair: one measurement, which violates nothing yet."""
    turn = 1 if guideline.left == guideline.pair[0] else -1
    times = sample[f"{library}_us"][::turn]
    ratios = [one / (guideline.factor * other) for one, other in zip(*times, strict=True)]
    interval = median_interval(ratios)
    low, high = interval or (None, None)
    return Verdict(
        guideline=guideline,
        library=library,
        ranks=sample["ranks"],
        asked=sample["asked"][0] // guideline.pair[0][1],
        bytes=sample["bytes"][0],
        left_us=median(times[0]),
        right_us=median(times[1]),
        ratio=median(ratios),
        low=low,
        high=high,
        blocks=len(ratios),
        algorithms=tuple(sample["algorithms"][::turn]) if library == "stretto" else None,
        status="not judged" if interval is None else "kept",
    )
