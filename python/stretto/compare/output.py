# SPDX-License-Identifier: BSD-3-Clause
"""Is the output of runs with Stretto that of runs without it?"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan

ROUNDING = 1e-6  # by so much numbers may differ that come of sums in another order


@dataclass(frozen=True)
class Sameness:
    same: bool
    words: str


Lines = list[list[str]]


def _number(word: str) -> float | None:
    try:
        return float(word.strip("(),;:[]"))
    except ValueError:
        return None


def _apart(a: str, b: str) -> float | None:
    """How far two numbers are apart, as a share of the larger; None: they are words."""
    x, y = _number(a), _number(b)
    if x is None or y is None:
        return None
    if not (isfinite(x) and isfinite(y)):
        return 0.0 if x == y or (isnan(x) and isnan(y)) else inf
    largest = max(abs(x), abs(y))
    return abs(x - y) / largest if largest > 0 and x != y else 0.0


def _line_apart(natives: list[list[str]], mine: list[str]) -> float | None:
    """Of one line; 0 as well where it differs from run to run natively. None: other words."""
    if mine in natives or any(line != natives[0] for line in natives):
        return 0.0
    if len(natives[0]) != len(mine):
        return None
    apart = [0.0 if a == b else _apart(a, b) for a, b in zip(natives[0], mine, strict=True)]
    return None if None in apart else max(apart, default=0.0)


def _by_line(natives: list[Lines], strettos: list[Lines]) -> Sameness:
    counts = {len(one) for one in natives}
    if len(counts) > 1:
        return Sameness(True, "it cannot be compared: its length differs from run to run natively")
    worst, where = 0.0, 0
    for one in strettos:
        if len(one) not in counts:
            return Sameness(False, f"it has {len(one)} lines, without Stretto {len(natives[0])}")
        for at, mine in enumerate(one):
            theirs = [native[at] for native in natives]
            apart = _line_apart(theirs, mine)
            if apart is None:
                said = f"'{' '.join(mine)}', without Stretto '{' '.join(theirs[0])}'"
                return Sameness(False, f"line {at + 1} is {said}")
            if apart > worst:
                worst, where = apart, at + 1
    if worst == 0:
        return Sameness(True, "the same, but for what differs from run to run natively as well")
    if worst == inf:
        return Sameness(
            False, f"a number is no number, or infinite, on one side alone (line {where})"
        )
    words = f"the same, but for numbers that differ by up to {worst:.1g} of their size"
    return Sameness(worst <= ROUNDING, f"{words} (line {where})")


def compare(natives: Sequence[bytes], strettos: Sequence[bytes]) -> Sameness:
    """Of at least one run each."""
    everything = [*natives, *strettos]
    if all(one == everything[0] for one in everything):
        return Sameness(True, "the same, byte for byte")
    split = [[line.split() for line in one.decode(errors="replace").splitlines()]
             for one in everything]  # fmt: skip
    if all(sorted(one) == sorted(split[0]) for one in split):
        return Sameness(True, "the same, but for the order of its lines")
    return _by_line(split[: len(natives)], split[len(natives) :])
