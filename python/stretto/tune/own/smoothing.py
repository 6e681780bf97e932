# SPDX-License-Identifier: BSD-3-Clause
"""Noisy times, each together with those of the sizes around it.

What one candidate takes longer than another changes little from a size to the next, and where ranks
share cores less than a few blocks of calls differ. A time is taken for that of its point (what all
candidates have in common there) times that of the candidate, which drifts with the size.
"""

import math
from collections import defaultdict
from dataclasses import dataclass

from .points import NATIVE, Point, parsed
from .residual_correction import own_key

DRIFT = 0.1  # of the logarithm with each doubling of the size, usually
FAR = 3  # doublings
ROUNDS = 10  # of the fit: each brings points and candidates nearer to each other


@dataclass(frozen=True)
class Noisy:
    """A logarithm of µs, and the variance of what it is off by."""

    log: float
    variance: float


def smooth(found: dict[Point, dict[str, Noisy]]) -> dict[Point, dict[str, float]]:
    """In µs, by candidate. What was measured well stays as it is."""
    groups: dict[tuple[str, int], list[Point]] = defaultdict(list)
    for point in found:
        groups[point.name, point.ranks].append(point)
    times: dict[Point, dict[str, float]] = {}
    for points in groups.values():
        times |= _fitted({point: found[point] for point in points if found[point]})
    return times


def _fitted(found: dict[Point, dict[str, Noisy]]) -> dict[Point, dict[str, float]]:
    curves: dict[object, dict[Point, Noisy]] = defaultdict(dict)
    keys = {point: {words: _key(point, words) for words in own} for point, own in found.items()}
    for point, own in found.items():
        for words, one in own.items():
            curves[keys[point][words]][point] = one
    common = {point: min(one.log for one in own.values()) for point, own in found.items()}
    near = {(key, point): _near(curve, point) for key, curve in curves.items() for point in curve}
    beside: dict[tuple[object, Point], float] = {}
    for _ in range(ROUNDS):
        for (key, point), shares in near.items():
            curve = curves[key]
            beside[key, point] = sum(
                w * (curve[one].log - common[one]) for one, w in shares.items()
            )
        for point, own in found.items():
            pairs = [
                (one.log - beside[keys[point][w], point], one.variance) for w, one in own.items()
            ]
            common[point] = sum(log / v for log, v in pairs) / sum(1 / v for _, v in pairs)
    return {
        point: {w: math.exp(common[point] + beside[keys[point][w], point]) for w in own}
        for point, own in found.items()
    }


def _near(curve: dict[Point, Noisy], point: Point) -> dict[Point, float]:
    """What each size's time counts for that of this one; 1 in all."""
    weights = {}
    for other, one in curve.items():
        doublings = abs(math.log2(max(other.asked, 1) / max(point.asked, 1)))
        if doublings <= FAR:
            weights[other] = 1 / (one.variance + (DRIFT * doublings) ** 2)
    total = sum(weights.values())
    return {other: weight / total for other, weight in weights.items()}


def _key(point: Point, words: str) -> object:
    """Equal where the same is done."""
    one = None if words == NATIVE else parsed(point, words)
    return own_key(point, one) if one and one.algorithm else words
