# SPDX-License-Identifier: BSD-3-Clause
"""Noisy times, each together with those of the sizes around it.

What one candidate takes longer than another changes little from a size to the next, and where ranks
share cores less than a few blocks of calls differ. A time is taken for that of its cell (what all
candidates have in common there) times that of the candidate, which drifts with the size.
"""

import math
from collections import defaultdict
from dataclasses import dataclass

from .cells import NATIVE, Cell, parsed
from .corrected import own_key

DRIFT = 0.1  # of the logarithm with each doubling of the size, usually
FAR = 3  # doublings
ROUNDS = 10  # of the fit: each brings cells and candidates nearer to each other


@dataclass(frozen=True)
class Noisy:
    """A logarithm of µs, and the variance of what it is off by."""

    log: float
    variance: float


def smoothed(found: dict[Cell, dict[str, Noisy]]) -> dict[Cell, dict[str, float]]:
    """In µs, by candidate. What was measured well stays as it is."""
    groups: dict[tuple[str, int], list[Cell]] = defaultdict(list)
    for cell in found:
        groups[cell.name, cell.ranks].append(cell)
    times: dict[Cell, dict[str, float]] = {}
    for cells in groups.values():
        times |= _fitted({cell: found[cell] for cell in cells if found[cell]})
    return times


def _fitted(found: dict[Cell, dict[str, Noisy]]) -> dict[Cell, dict[str, float]]:
    curves: dict[object, dict[Cell, Noisy]] = defaultdict(dict)
    keys = {cell: {words: _key(cell, words) for words in own} for cell, own in found.items()}
    for cell, own in found.items():
        for words, one in own.items():
            curves[keys[cell][words]][cell] = one
    common = {cell: min(one.log for one in own.values()) for cell, own in found.items()}
    near = {(key, cell): _near(curve, cell) for key, curve in curves.items() for cell in curve}
    beside: dict[tuple[object, Cell], float] = {}
    for _ in range(ROUNDS):
        for (key, cell), shares in near.items():
            curve = curves[key]
            beside[key, cell] = sum(w * (curve[one].log - common[one]) for one, w in shares.items())
        for cell, own in found.items():
            pairs = [
                (one.log - beside[keys[cell][w], cell], one.variance) for w, one in own.items()
            ]
            common[cell] = sum(log / v for log, v in pairs) / sum(1 / v for _, v in pairs)
    return {
        cell: {w: math.exp(common[cell] + beside[keys[cell][w], cell]) for w in own}
        for cell, own in found.items()
    }


def _near(curve: dict[Cell, Noisy], cell: Cell) -> dict[Cell, float]:
    """What each size's time counts for that of this one; 1 in all."""
    weights = {}
    for other, one in curve.items():
        doublings = abs(math.log2(max(other.asked, 1) / max(cell.asked, 1)))
        if doublings <= FAR:
            weights[other] = 1 / (one.variance + (DRIFT * doublings) ** 2)
    total = sum(weights.values())
    return {other: weight / total for other, weight in weights.items()}


def _key(cell: Cell, words: str) -> object:
    """Equal where the same is done."""
    one = None if words == NATIVE else parsed(cell, words)
    return own_key(cell, one) if one and one.algorithm else words
