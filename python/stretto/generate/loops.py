# SPDX-License-Identifier: BSD-3-Clause
"""Finds loops: items of the same shape whose numbers are affine in how often they came."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

LEAST = 3  # two of anything are affine
LONGEST = 4  # items of a body


def centred(value: int, modulus: int) -> int:
    """The number of least magnitude; without a modulus the value itself."""
    if modulus == 0:
        return value
    value %= modulus
    return value - modulus if 2 * value > modulus else value


@dataclass(frozen=True)
class Item:
    """Numbers in a shape; those with a modulus (not 0) are counted modulo it."""

    shape: Hashable
    values: tuple[int, ...] = ()
    moduli: tuple[int, ...] = ()

    def steps_to(self, other: "Item") -> tuple[int, ...] | None:
        """What the numbers grow by; None if the other has another shape."""
        if (self.shape, self.moduli) != (other.shape, other.moduli):
            return None
        pairs = zip(self.values, other.values, self.moduli, strict=True)
        return tuple(centred(b - a, modulus) for a, b, modulus in pairs)


@dataclass(frozen=True)
class Loop:
    """`body` in turn, `times` times; `steps` are what the numbers of each item grow by."""

    times: int
    body: tuple[Item, ...]
    steps: tuple[tuple[int, ...], ...]


def _times(items: Sequence[Item], first: int, period: int) -> int:
    """How often the body of that length comes from there on."""
    times = 1
    while first + (times + 1) * period <= len(items):
        for i in range(first + (times - 1) * period, first + times * period):
            step = items[i].steps_to(items[i + period])
            if step is None or (times > 1 and step != items[i - period].steps_to(items[i])):
                return times
        times += 1
    return times


def find_loops(items: Sequence[Item]) -> list[Loop]:
    """All items in their order; those that are in no loop come once."""
    found: list[Loop] = []
    first = 0
    while first < len(items):
        best, period = 1, 1
        for length in range(1, LONGEST + 1):
            times = _times(items, first, length)
            if times >= LEAST and times * length > best * period:
                best, period = times, length
        body = tuple(items[first : first + period])
        after = items[first + period : first + 2 * period] if best > 1 else body  # no growth
        steps = tuple(a.steps_to(b) or () for a, b in zip(body, after, strict=True))
        found.append(Loop(best, body, steps))
        first += best * period
    return found
