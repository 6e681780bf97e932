# SPDX-License-Identifier: BSD-3-Clause
"""How much faster: the ratio of pairs of times that were measured one after the other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Ratio:
    """Native over Stretto; above 1 Stretto is faster. With the limits of its interval."""

    value: float
    low: float
    high: float

    @property
    def faster(self) -> bool:
        return self.low > 1

    @property
    def slower(self) -> bool:
        return self.high < 1

    @property
    def interval(self) -> str:
        """`1.02–1.05`; with a digit more where it is near 1."""
        return f"{self._text(self.low)}–{self._text(self.high)}"

    @property
    def inverse(self) -> "Ratio":
        return Ratio(1 / self.value, 1 / self.high, 1 / self.low)

    def __str__(self) -> str:
        return self._text(self.value)

    def _text(self, number: float) -> str:
        if number >= 10:
            return f"{number:.0f}" if number < 1e5 else f"{number:.0e}"
        near = max(abs(self.low - 1), abs(self.high - 1)) < 0.02
        return f"{number:.3f}" if near else f"{number:.2f}"


def ratio_of(native: Sequence[float], stretto: Sequence[float]) -> Ratio | None:
    """The geometric mean of the pairs' ratios; its interval is Student's, on their logarithms.

    None with fewer than two pairs, or where a time is zero.
    """
    pairs = list(zip(native, stretto, strict=True))
    if len(pairs) < 2 or any(a <= 0 or b <= 0 for a, b in pairs):
        return None
    from scipy.special import stdtrit

    logs = [math.log(a / b) for a, b in pairs]
    middle = mean(logs)
    half = float(stdtrit(len(logs) - 1, (1 + CONFIDENCE) / 2)) * stdev(logs) / math.sqrt(len(logs))
    return Ratio(math.exp(middle), math.exp(middle - half), math.exp(middle + half))
