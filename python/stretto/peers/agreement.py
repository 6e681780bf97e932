# SPDX-License-Identifier: BSD-3-Clause
"""Whether rounds agree: each has a ratio of times that were taken in turns, in one process.

The speed of the machine may change between rounds, and all times with it; the ratio does not.
"""

from statistics import median

FACTOR = 1.25  # of the median: within it, ratios agree


def ratio_of(said: dict) -> float:
    """The native time over Stretto's, in what a driver says of a cell."""
    return said["native_us"] / said["stretto_us"]


def agreeing(ratios: list[float]) -> int:
    """How many of them lie near their median."""
    middle = median(ratios)
    return sum(middle / FACTOR <= one <= middle * FACTOR for one in ratios)
