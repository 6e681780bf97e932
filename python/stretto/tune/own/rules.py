# SPDX-License-Identifier: BSD-3-Clause
"""Writes a rules file: ranges of sizes and of ranks around what was measured."""

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass

from ... import _core
from ...units import size_in_words
from .cells import Cell, in_parts, reduces
from .choice import SHIPPED, Choice

LARGE_STEP = 4.0  # beside the only size that was measured
TINY = 64  # bytes: what holds for so few holds for fewer


@dataclass(frozen=True)
class Where:
    """Of which ranks rules are, and what is said of their times."""

    one_node: bool
    per_node: int = 0  # 0: any
    power: bool | None = None  # numbers of ranks that are powers of two, or are none; None: all
    note: str = ""
    cores: str = ""  # "own" or "shared"; "": any


Span = tuple[int, int | None]  # the least and the most ranks; None: open


@dataclass(frozen=True)
class Range:
    """Sizes from `least` to below `end`; an end of None is open."""

    least: int
    end: int | None
    words: str
    measured: tuple[Choice, ...]

    @property
    def decision(self) -> tuple:
        return self.least, self.end, self.words


def between(a: float, b: float) -> int:
    """A readable number near the middle of both, in ratio: a power of two, or three halves of one.

    No less than a and below b, so that each stays on its side: a < result <= b.
    """
    middle = math.sqrt(a * b)
    low = 2 ** math.floor(math.log2(middle))
    found = min((low, low * 3 // 2, low * 2), key=lambda n: abs(math.log(max(n, 1) / middle)))
    return found if a < found <= b else math.ceil(middle)


def ranges(choices: list[Choice]) -> list[Range]:
    """Neighbours that choose alike share one; where the shipped rules decide there is none."""
    sizes = [one.cell.asked for one in choices]
    steps = [b / max(a, 1) for a, b in itertools.pairwise(sizes)] or [LARGE_STEP]
    first = 0 if sizes[0] <= TINY else between(sizes[0] / steps[0], sizes[0])
    bounds = [first]
    bounds += [between(max(a, 1), b) for a, b in itertools.pairwise(sizes)]
    bounds += [between(sizes[-1], sizes[-1] * steps[-1])] if sizes[-1] else [0]
    found: list[Range] = []
    for one, least, end in zip(choices, bounds, bounds[1:], strict=False):
        if found and found[-1].words == one.words:
            last = found.pop()
            found.append(Range(last.least, end, one.words, (*last.measured, one)))
        else:
            found.append(Range(least, end, one.words, (one,)))
    if not sizes[-1]:
        found = [Range(0, None, one.words, one.measured) for one in found]
    return [one for one in found if one.words != SHIPPED]


def rank_ranges(counts: list[int], cores: int = 0) -> dict[int, Span]:
    """Between two numbers of ranks each stands for those nearer to it in ratio; where one has a
    core for each rank and the other has not, each for those of its kind. 0 cores: as many as ranks.
    """
    found: dict[int, Span] = {}
    low = counts[0]
    for i, count in enumerate(counts):
        last = i + 1 == len(counts)
        high = count if last else math.floor(math.sqrt(count * counts[i + 1]))
        if not last and count <= cores < counts[i + 1]:
            high = cores
        found[count] = (low, high)
        low = high + 1
    return found


def _time(us: float | None) -> str:
    return "-" if us is None else f"{us:.3g}"


def _comment(measured: Iterable[Choice], note: str) -> str:
    words = [
        f"{one.cell.ranks} x {size_in_words(one.cell.asked)}: {_time(one.us)} µs "
        f"({_time(one.native_us)}, {_time(one.shipped_us)})"
        for one in measured
    ]
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(word) < 110:
            lines[-1] += "; " + word
        else:
            lines.append(f"# {note if not lines else ''}{word}")
    return "\n".join(lines)


def _conditions(cell: Cell, one: Range, ranks: Span, where: Where) -> list[str]:
    words = ["nodes=1" if where.one_node else "nodes>1"]
    words += [f"cores={where.cores}"] if where.cores else []
    words += [f"per-node={where.per_node}"] if where.per_node else []
    if reduces(cell.function):
        words.append("operator=" + ("not-commutative" if cell.ordered else "commutative"))
    low, high = ranks
    words += [f"ranks={low}"] if low == high else [f"ranks>={low}"]
    words += [f"ranks<={high}"] if high is not None and low != high else []
    words += [] if where.power is None else ["ranks=2^k" if where.power else "ranks!=2^k"]
    size = "part" if in_parts(cell.function) else "bytes"
    words += [f"{size}>={size_in_words(one.least)}"] if one.least else []
    words += [f"{size}<{size_in_words(one.end)}"] if one.end is not None else []
    return words


def _rule(cell: Cell, one: Range, ranks: Span, where: Where) -> str:
    conditions = " ".join(_conditions(cell, one, ranks, where))
    name = _core.facts(cell.function).name
    return f"{name:<22} {conditions:<60} -> {one.words.replace(',', ' ')}"


def lines_of(chosen: dict[int, list[Choice]], spans: dict[int, Span], where: Where) -> list[str]:
    """The rules of one name, by ranks; neighbouring numbers that decide alike share theirs."""
    groups: list[tuple[Span, list[list[Range]]]] = []
    for ranks, own in sorted(chosen.items()):
        found = ranges(own)
        span, decisions = spans[ranks], [one.decision for one in found]
        if groups and [one.decision for one in groups[-1][1][0]] == decisions:
            (low, _), members = groups.pop()
            groups.append(((low, span[1]), [*members, found]))
        else:
            groups.append((span, [found]))
    lines = []
    for span, members in groups:
        for same in zip(*members, strict=True):
            lines.append(_comment((choice for one in same for choice in one.measured), where.note))
            lines.append(_rule(same[0].measured[0].cell, same[0], span, where))
    return lines


def _by_cores(
    chosen: dict[int, list[Choice]], one_node: bool, cores: int
) -> list[tuple[Where, dict[int, list[Choice]]]]:
    if not one_node or cores == 0:
        return [(Where(one_node), chosen)]
    own = {ranks: each for ranks, each in chosen.items() if ranks <= cores}
    shared = {ranks: each for ranks, each in chosen.items() if ranks > cores}
    return [(Where(True, cores="own"), own), (Where(True, cores="shared"), shared)]


def to_text(
    chosen: dict[tuple[str, int], list[Choice]],
    machine: str,
    one_node: bool,
    notes: list[str],
    more: Iterable[str] = (),
    cores: int = 0,
) -> str:
    """A whole file: what was measured, other rules, the shipped ones. Rules for one node of so
    many `cores` say whether ranks shared them; 0: one for every rank."""
    lines = ["stretto-rules 2", f"machine {machine}", *[f"# {note}" for note in notes]]
    lines += ["# Above each rule: ranks x size: its time (native, shipped choice), in µs.", ""]
    for name in dict.fromkeys(name for name, _ in chosen):
        by_ranks = {ranks: own for (other, ranks), own in chosen.items() if other == name}
        spans = rank_ranges(sorted(by_ranks), cores if one_node else 0)
        others = {
            ranks: [one.for_others() for one in own]
            for ranks, own in by_ranks.items()
            if spans[ranks] != (ranks, ranks) and any(one.narrow for one in own)
        }
        for group in (by_ranks, others):
            for where, own in _by_cores(group, one_node, cores):
                lines += lines_of(own, spans, where)
    lines += more
    lines += ["", "# What was not measured, or is served best so: the shipped rules."]
    rest = _core.shipped_rules_text().partition("\n")[2]
    text = "\n".join(lines) + "\n" + rest
    _core.parse_rules(text, "the rules that were found")  # raises Error if a program would
    return text
