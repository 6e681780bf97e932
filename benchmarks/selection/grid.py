# SPDX-License-Identifier: BSD-3-Clause
"""All calls that a choice is asked for, and a sample of them."""

import random
from dataclasses import dataclass

from stretto import _core
from stretto.tune.own.points import Point

LARGEST = 32 << 20  # bytes of a vector, all parts together


@dataclass(frozen=True)
class Grid:
    """Functions, numbers of ranks and sizes."""

    names: list[str]
    ranks: list[int]
    sizes: list[int]

    def points(self, ranks: int) -> list[Point]:
        """But vectors of more than 32 MiB."""
        found = []
        for name in self.names:
            own = [Point(name, ranks, size) for size in ((0,) if name == "barrier" else self.sizes)]
            found += [point for point in own if point.bytes <= LARGEST]
        return found

    def sample(self, each: int, seed: int) -> dict[int, list[Point]]:
        """So many of every number of ranks, each function as often as any other."""
        chance, found = random.Random(seed), {}
        for ranks in self.ranks:
            by_name: dict[str, list[Point]] = {}
            for point in self.points(ranks):
                by_name.setdefault(point.name, []).append(point)
            names: list[str] = []
            while len(names) < each:
                names += chance.sample(list(by_name), len(by_name))
            picked = [chance.choice(by_name[name]) for name in names[:each]]
            found[ranks] = list(dict.fromkeys(picked))
        return found


def every_function() -> list[str]:
    """All but the neighbourhood functions, which are not tuned."""
    every = [_core.facts(one) for one in _core.all_functions()]
    return [one.name for one in every if not _core.facts(one.collective).neighbourhood]
