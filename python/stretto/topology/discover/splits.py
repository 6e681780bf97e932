# SPDX-License-Identifier: BSD-3-Clause
"""Which links between switches there are: each splits the machines in two sides.

Two transfers a→b and c→d slow each other down where a link has {a, c} on one side and {b, d} on
the other. Such a pair shows a way through the tree, from a to b. Along that way any two machines
can be compared: x hangs on it before y if a→b and x→y share a link. So all are sorted, and those
that hang at the same switch of the way are looked at in the same manner, with a and b in place of
all others.
"""

import random
from dataclasses import dataclass, field
from itertools import combinations

from .contention import Contention, Pair

LEAST = 4  # machines: two on each side
TOGETHER = 2  # so often each two machines send, or receive, at the same time
DRAWS = 8  # of which the best is taken
PAIRWISE = 8  # transfers whose every two are looked at
CONFIRMATIONS = 6  # of a link, by other pairs
PATIENT = 40  # that often, a draw may add nothing

Split = frozenset[int]
"""The machines on the side without machine 0."""


@dataclass
class Link:
    """A link between switches; of the transfers that it explains so many were seen to share it."""

    side: Split
    agreed: int = 0
    asked: int = 0

    @property
    def confidence(self) -> float:
        """That the next one would: Laplace's rule of succession."""
        return (self.agreed + 1) / (self.asked + 2)


@dataclass
class Finder:
    """Finds the splits of `machines`, which are numbers from 0."""

    contention: Contention
    machines: int
    seed: int = 1
    unexplained: list[list[Pair]] = field(default_factory=list)
    apart: dict[int, int] = field(default_factory=dict)
    """In how many pairings of all machines each took part, and nothing was slow."""
    refuted: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def find(self) -> list[Link]:
        """Those that are confirmed."""
        everyone = range(self.machines)
        sides = self._splits(list(everyone))
        found = {frozenset(everyone) - side if 0 in side else side for side in sides}
        links = [Link(side) for side in sorted(found, key=lambda side: (len(side), sorted(side)))]
        kept = [link for link in links if self._confirmed(link)]
        self.refuted = len(links) - len(kept)
        return kept

    def _splits(self, among: list[int]) -> list[Split]:
        """A side of each link that two of these on either side show."""
        if len(among) < LEAST:
            return []
        pair = self._sharing_pair(among)
        if pair is None:
            return []
        (start, end), (first, last) = pair
        groups = self._along(start, end, first, last, among)
        found, before = [], [start]
        for group in groups[:-1]:
            before += group
            found.append(frozenset(before))
        for group in groups:
            for side in self._splits([*group, start, end]):
                inner = frozenset([*group, start, end]) - side if start in side else side
                if end not in inner:
                    found.append(inner)
        return found

    def _along(
        self, start: int, end: int, first: int, last: int, among: list[int]
    ) -> list[list[int]]:
        """All but `start` and `end`, by where they hang on the way from the one to the other."""
        groups = [[first], [last]]

        def before(one: int, other: int) -> bool:  # seen in both directions, or a busy moment
            there, back = [(start, end), (one, other)], [(end, start), (other, one)]
            return self.contention.shared(there) and self.contention.shared(back)

        for machine in among:
            if machine in (start, end, first, last):
                continue
            low, high = 0, len(groups)
            while low < high:
                middle = (low + high) // 2
                if before(machine, groups[middle][0]):
                    high = middle
                elif before(groups[middle][0], machine):
                    low = middle + 1
                else:
                    groups[middle].append(machine)
                    break
            else:
                groups.insert(low, [machine])
        return groups

    def _sharing_pair(self, among: list[int]) -> tuple[Pair, Pair] | None:
        """Two transfers that share a link; None if machines in many pairings show none."""
        for pairs in self._pairings(among):
            if not self.contention.shared(pairs):
                if len(among) == self.machines:
                    for machine in (end for pair in pairs for end in pair):
                        self.apart[machine] = self.apart.get(machine, 0) + 1
                continue
            found = self._narrowed(pairs)
            if found:
                return found
            self.unexplained.append(pairs)
        return None

    def _pairings(self, among: list[int]) -> list[list[Pair]]:
        """Of senders with receivers, until each two machines were some times on the same side."""
        missing = dict.fromkeys(map(frozenset, combinations(among, 2)), TOGETHER)
        made: list[list[Pair]] = []

        def gain(pairs: list[Pair]) -> list[frozenset[int]]:
            sides = ([a for a, _ in pairs], [b for _, b in pairs])
            return [two for side in sides for two in map(frozenset, combinations(side, 2))]

        dull = 0
        while any(missing.values()) and dull < PATIENT:
            draws = []
            for _ in range(DRAWS):
                some = self._random.sample(among, len(among) // 2 * 2)
                draws.append(list(zip(some[::2], some[1::2], strict=True)))
            best = max(draws, key=lambda pairs: sum(missing[two] > 0 for two in gain(pairs)))
            dull = 0 if any(missing[two] for two in gain(best)) else dull + 1
            for two in gain(best):
                missing[two] = max(0, missing[two] - 1)
            made.append(best)
        return made

    def _narrowed(self, pairs: list[Pair]) -> tuple[Pair, Pair] | None:
        """Two of these transfers that share a link by themselves."""
        shared = self.contention.shared
        if len(pairs) == 2:
            return pairs[0], pairs[1]  # it was just seen
        halves = pairs[: len(pairs) // 2], pairs[len(pairs) // 2 :]
        for half in halves:
            if len(half) > 1 and shared(half):
                return self._narrowed(half)
        left, right = halves
        while left and len(left) > 1:
            left = self._half_of(left, right)
        while left and right and len(right) > 1:
            right = self._half_of(right, left)
        if left and right:
            return left[0], right[0]
        if len(pairs) <= PAIRWISE:
            for one, other in combinations(pairs, 2):
                if shared([one, other]):
                    return one, other
        return None

    def _half_of(self, pairs: list[Pair], others: list[Pair]) -> list[Pair]:
        """The half that shares a link with the others; empty if neither does."""
        for half in (pairs[: len(pairs) // 2], pairs[len(pairs) // 2 :]):
            if self.contention.shared([*half, *others]):
                return half
        return []

    def crossing(self, side: Split, count: int) -> list[list[Pair]]:
        """Pairs of transfers across a link, by turns in the one direction and the other."""
        other = [m for m in range(self.machines) if m not in side]
        made = []
        for number in range(count):
            ends = self._random.sample(sorted(side), 2), self._random.sample(other, 2)
            made.append(list(zip(*ends[:: 1 if number % 2 else -1], strict=True)))
        return made

    def _confirmed(self, link: Link) -> bool:
        """By other transfers across it. A pair that does not share it says that it is not there."""
        for pairs in self.crossing(link.side, CONFIRMATIONS):
            link.asked += 1
            if not self.contention.shared(pairs):
                return False
            link.agreed += 1
        return True
