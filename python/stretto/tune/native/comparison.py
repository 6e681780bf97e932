# SPDX-License-Identifier: BSD-3-Clause
"""From samples to a table: what beats the library's own choice by more than the noise."""

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from statistics import geometric_mean, median

from .journal import Point, Sample
from .target import Rule, Table

LEAST_ROUNDS = 2
LEAST_GAIN = 1.03  # whatever the noise
MOST_ROUNDS_LOST = 0.2  # of all


@dataclass(frozen=True)
class Comparison:
    """An algorithm of one point against the library's own choice, round by round."""

    ratios: list[float]  # time over the library's, measured before and after it
    noises: list[float]  # the library's two times, the longer over the shorter
    us: float
    library_us: float

    @property
    def ratio(self) -> float:
        return median(self.ratios)

    @property
    def noise(self) -> float:
        return max(median(self.noises), LEAST_GAIN)


def won(ratios: list[float], noise: float) -> bool:
    """In the median by more than the noise, and in nearly all rounds at all."""
    if len(ratios) < LEAST_ROUNDS:
        return False
    lost = sum(ratio >= 1 for ratio in ratios)
    return median(ratios) * noise < 1 and lost <= MOST_ROUNDS_LOST * len(ratios)


def comparisons(samples: list[Sample], stage: str) -> dict[Point, dict[str, Comparison]]:
    """By point and part of a round, of the rounds that are complete."""
    times: dict[Point, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for one in samples:
        if one.run.stage == stage:
            times[one.point][one.run.part][one.run.round] = one.us
    found: dict[Point, dict[str, Comparison]] = {}
    for point, parts in times.items():
        before, after = parts.get("before", {}), parts.get("after", {})
        found[point] = {}
        for part, by_round in parts.items():
            rounds = [r for r in by_round if r in before and r in after]
            if part in ("before", "after") or not rounds:
                continue
            library = {r: math.sqrt(before[r] * after[r]) for r in rounds}
            found[point][part] = Comparison(
                [by_round[r] / library[r] for r in rounds],
                [max(before[r], after[r]) / min(before[r], after[r]) for r in rounds],
                median(by_round[r] for r in rounds),
                median(library.values()),
            )
    return found


def group_won(group: list[Comparison]) -> bool:
    """Sizes that share a fate: together faster, one for certain, and none slower beyond noise."""
    if any(one.ratio > one.noise for one in group):
        return False
    rounds = min(len(one.ratios) for one in group)
    means = [geometric_mean(one.ratios[i] for one in group) for i in range(rounds)]
    return won(means, 1.0) and any(won(one.ratios, one.noise) for one in group)


def best(found: dict[str, Comparison]) -> str | None:
    winners = [part for part, one in found.items() if won(one.ratios, one.noise)]
    return min(winners, key=lambda part: found[part].ratio, default=None)


def together(points: list[dict[str, Comparison]]) -> str | None:
    """One algorithm for all sizes."""
    common = set.intersection(*(set(one) for one in points)) if points else set()
    winners = [part for part in sorted(common) if group_won([one[part] for one in points])]
    return min(
        winners, key=lambda part: geometric_mean(one[part].ratio for one in points), default=None
    )


def complete(points: list[dict[str, Comparison]]) -> list[str | None]:
    """One algorithm for each size, or none at all."""
    if not all(points):
        return [None] * len(points)
    picked = [min(one, key=lambda part: one[part].ratio) for one in points]
    group = [one[part] for one, part in zip(points, picked, strict=True)]
    return list(picked) if group_won(group) else [None] * len(points)


def rules_of(sizes: list[int], algorithms: list[str | None], open_end: bool) -> list[Rule]:
    """Each size stands for those nearer to it than to others, in ratio.

    Beyond the largest the library is asked again, unless the end is open.
    """
    rules: list[Rule] = []
    for i, algorithm in enumerate(algorithms):
        least = math.ceil(math.sqrt(sizes[i - 1] * sizes[i])) if i else 0
        if not rules or rules[-1].algorithm != algorithm:
            rules.append(Rule(least, algorithm))
    if not open_end and rules[-1].algorithm is not None:
        step = sizes[-1] / sizes[-2] if len(sizes) > 1 else 4
        rules.append(Rule(math.ceil(sizes[-1] * math.sqrt(step)), None))
    return rules


def table_of(
    chosen: dict[Point, str | None],
    bytes_of: dict[Point, int],
    sized: Callable[[str], bool],
    whole: bool,
) -> Table:
    """`sized` says of a function whether its sizes differ; `whole`, whether all must be named."""
    groups: dict[tuple[str, int], dict[int, str | None]] = defaultdict(dict)
    for point, algorithm in chosen.items():
        groups[point[:2]][bytes_of[point]] = algorithm
    table: Table = {}
    for key, by_size in groups.items():
        sizes = sorted(by_size)
        algorithms = [by_size[size] for size in sizes]
        if not any(algorithms):
            continue
        if sized(key[0]):
            table[key] = rules_of(sizes, algorithms, whole)
        else:
            table[key] = [Rule(0, algorithms[0])]
    return table
