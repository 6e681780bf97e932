# SPDX-License-Identifier: BSD-3-Clause
"""Do transfers share a link? From the times that they take together, and alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

Pair = tuple[int, int]
"""Of machines: from, to."""


class Mover(Protocol):
    """What can move messages between machines, which are numbers.

    No time may be shorter than a link lets the transfers be; a busy machine may make it longer.
    """

    def move(
        self, transfers: Sequence[tuple[int, int, int]], repeats: int, enough: float
    ) -> list[float]:
        """(from, to, bytes) of each, all at once; up to so many times, and no more after the first
        time that took `enough` seconds or less. Seconds of each time, until all had arrived."""

    def ping(self, pair: Pair, times: int) -> float:
        """Seconds of a short message, one way: the least of so many."""

    def eager(self, pair: Pair, size: int, tries: int) -> bool:
        """Does a message of so many bytes leave before its receiver asks for it? Never without
        reason; a busy machine may hide it, so that it is tried so often."""


LEAST_BYTES, MOST_BYTES = 1 << 20, 1 << 26  # of a transfer; links let some 64 KiB pass at once
SECONDS = 0.05  # that a transfer shall take
TRIES, SOME = 12, 3  # times at most, and at first
STEADY = 1.1  # some times so near each other are believed
BETWEEN = 0.45  # of the way from what is expected of links of their own to that of a shared one
NEARLY = 1.15  # as fast as the fastest


@dataclass
class Contention:
    """Asks a mover, and remembers. `asked` counts the transfers that were begun together."""

    mover: Mover
    size: int = 0
    fastest: float = 0.0
    asked: int = 0
    _alone: dict[Pair, float] = field(default_factory=dict)

    def begin(self, pairs: Sequence[Pair]) -> None:
        """Finds a size that takes long enough to be seen, by some transfers alone."""
        self.size = LEAST_BYTES
        for pair in pairs:
            self.rate(pair)
        wanted = int(self.fastest * SECONDS)
        if wanted > 2 * self.size:
            self.size, self.fastest = min(wanted, MOST_BYTES), 0.0
            self._alone.clear()
            for pair in pairs:
                self.rate(pair)

    def times(
        self, sizes: dict[Pair, int], repeats: int = SOME, enough: float = 0.0
    ) -> list[float]:
        transfers = [(*pair, size) for pair, size in sizes.items()]
        moved = self.mover.move(transfers, repeats, enough)
        self.asked += len(moved)
        return moved

    def rate(self, pair: Pair) -> float:
        """Bytes per second of a transfer alone: the most that was seen. All that are nearly as fast
        as the fastest are taken to be so."""
        if pair not in self._alone:
            enough = NEARLY * self.size / self.fastest if self.fastest else 0.0
            self._alone[pair] = self.size / self._least({pair: self.size}, [], enough)
            self.fastest = max(self.fastest, self._alone[pair])
        alone = self._alone[pair]
        return self.fastest if alone * NEARLY >= self.fastest else alone

    def shared(self, pairs: Sequence[Pair]) -> bool:
        """Do two or more of these transfers share a link that cannot carry both?

        Only a slow time is ever doubted: what shares a link cannot look fast, since the clock
        starts before the first transfer and stops after the last; what does not may look slow
        where cores or links are busy.
        """
        sizes, seen = dict.fromkeys(pairs, self.size), []
        if any(pair not in self._alone for pair in pairs):
            limit = (1 + BETWEEN) * self.size / self.fastest
            seen = self.times(sizes, SOME, limit)
            if min(seen) <= limit:
                return False
        rates = [self.rate(pair) for pair in pairs]
        slow, fast = min(rates), max(rates)
        alone = self.size / fast
        if slow < self.fastest:  # a slow link: all are made to take equally long alone
            alone *= max(1.0, LEAST_BYTES / 4 / self.size * fast / slow)
            sizes = {pair: int(rate * alone) for pair, rate in zip(pairs, rates, strict=True)}
            seen = []
        limit = alone * (1 + BETWEEN * slow / fast)
        return self._least(sizes, seen, limit, 2 * alone if len(pairs) == 2 else None) > limit

    def _least(
        self, sizes: dict[Pair, int], seen: list[float], enough: float, most: float | None = None
    ) -> float:
        """The shortest of some times; of more where the first are slow and not alike, or slower
        than anything but a busy machine can make them."""
        if not seen:
            seen = self.times(sizes, SOME, enough)
        while len(seen) < TRIES and (least := min(seen)) > enough:
            alike = sorted(seen)[SOME - 1] <= STEADY * least
            if alike and (most is None or least <= STEADY * most):
                break
            seen += self.times(sizes, 1, enough)
        return min(seen)
