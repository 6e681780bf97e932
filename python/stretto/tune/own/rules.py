# SPDX-License-Identifier: BSD-3-Clause
"""Writes rules files: ranges of sizes and of ranks around what was measured or predicted."""

import itertools
import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from ... import _core
from ...units import size_in_words
from .choice import SHIPPED, Choice
from .points import Point, in_parts, reduces

LARGE_STEP = 4.0  # beside the only size that was measured
TINY = 64  # bytes: what holds for so few holds for fewer
SHIPPED_BELOW = "# What was not measured, or is served best so: the shipped rules."
MEASURED, PREDICTED = (22, 60), (20, 55)  # widths of the columns


@dataclass(frozen=True)
class Where:
    """Of which ranks rules are, and what is said of their times."""

    one_node: bool
    per_node: int = 0  # 0: any
    power: bool | None = None  # numbers of ranks that are powers of two, or are none; None: all
    note: str = ""
    cores: str = ""  # "own" or "shared"; "": any


Span = tuple[int, int | None]  # the least and the most ranks; 0 and None: open


@dataclass(frozen=True)
class Range:
    """Sizes from `least` to below `end`; 0 and None are open."""

    least: int
    end: int | None
    words: str
    # Beside what is decided: ranges are equal without it.
    measured: tuple[Choice, ...] = field(default=(), compare=False)


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
    sizes = [one.point.asked for one in choices]
    steps = [b / max(a, 1) for a, b in itertools.pairwise(sizes)] or [LARGE_STEP]
    bounds = [0 if sizes[0] <= TINY else between(sizes[0] / steps[0], sizes[0])]
    bounds += [between(max(a, 1), b) for a, b in itertools.pairwise(sizes)]
    bounds += [between(sizes[-1], sizes[-1] * steps[-1])] if sizes[-1] else [0]
    found = _joined(
        Range(least, end, one.words, (one,))
        for one, least, end in zip(choices, bounds, bounds[1:], strict=False)
    )
    if not sizes[-1]:
        found = [Range(0, None, one.words, one.measured) for one in found]
    return [one for one in found if one.words != SHIPPED]


def _joined(every: Iterable[Range]) -> list[Range]:
    """Neighbours that choose alike share one."""
    found: list[Range] = []
    for one in every:
        if found and found[-1].words == one.words:
            last = found.pop()
            one = Range(last.least, one.end, one.words, (*last.measured, *one.measured))
        found.append(one)
    return found


def ranges_in_turn(sizes: tuple[int, ...], words: list[str]) -> list[Range]:
    """For rules of which the first that fits decides: each range is open below, the last above."""
    ends = [between(a, b) for a, b in itertools.pairwise(sizes[: len(words)])]
    return _joined(Range(0, end, one) for one, end in zip(words, [*ends, None], strict=True))


def spans(counts: list[int], first: int, last: int | None, cores: int = 0) -> dict[int, Span]:
    """From `first` to `last` ranks: between two numbers each stands for those nearer to it in
    ratio; where one has a core for each rank and the other has not, each for those of its kind.
    0 cores: as many as ranks.
    """
    found: dict[int, Span] = {}
    for count, after in itertools.zip_longest(counts, counts[1:]):
        high = math.floor(math.sqrt(count * after)) if after else last
        if after and count <= cores < after:
            high = cores
        found[count] = (first, high)
        first = (high or 0) + 1
    return found


def _groups(
    decided: dict[int, list[Range]], spans: dict[int, Span]
) -> Iterator[tuple[Span, list[list[Range]]]]:
    """Neighbouring numbers of ranks that decide alike share a span."""
    for _, group in itertools.groupby(sorted(decided), decided.__getitem__):
        own = list(group)
        span = (spans[own[0]][0], spans[own[-1]][1])
        yield span, [decided[ranks] for ranks in own]


def _time(us: float | None) -> str:
    return "-" if us is None else f"{us:.3g}"


def _comment(measured: Iterable[Choice], note: str) -> str:
    words = [
        f"{one.point.ranks} x {size_in_words(one.point.asked)}: {_time(one.us)} µs "
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


def _of_ranks(span: Span) -> list[str]:
    low, high = span
    if low == high:
        return [f"ranks={low}"]
    words = [f"ranks>={low}"] if low else []
    return words + ([f"ranks<={high}"] if high is not None else [])


def _rule(
    function: _core.Function, conditions: list[str], one: Range, columns: tuple[int, int]
) -> str:
    size = "part" if in_parts(function) else "bytes"
    words = list(conditions)
    words += [f"{size}>={size_in_words(one.least)}"] if one.least else []
    words += [f"{size}<{size_in_words(one.end)}"] if one.end is not None else []
    name, wide = columns
    start = f"{_core.facts(function).name:<{name}} {' '.join(words):<{wide}}"
    return f"{start} -> {one.words.replace(',', ' ')}"


def _conditions(point: Point, ranks: Span, where: Where) -> list[str]:
    words = ["nodes=1" if where.one_node else "nodes>1"]
    words += [f"cores={where.cores}"] if where.cores else []
    words += [f"per-node={where.per_node}"] if where.per_node else []
    if reduces(point.function):
        words.append("operator=" + ("not-commutative" if point.ordered else "commutative"))
    words += _of_ranks(ranks)
    return words + ([] if where.power is None else ["ranks=2^k" if where.power else "ranks!=2^k"])


def lines_of(chosen: dict[int, list[Choice]], spans: dict[int, Span], where: Where) -> list[str]:
    """The rules of one name, by ranks, with the times that they rest on."""
    lines = []
    for span, members in _groups({n: ranges(own) for n, own in chosen.items()}, spans):
        for same in zip(*members, strict=True):
            lines.append(_comment((choice for one in same for choice in one.measured), where.note))
            point = same[0].measured[0].point
            lines.append(_rule(point.function, _conditions(point, span, where), same[0], MEASURED))
    return lines


def lines_in_turn(
    function: _core.Function,
    conditions: list[str],
    found: dict[int, list[str]],
    sizes: tuple[int, ...],
) -> list[str]:
    """Rules of which the first that fits decides: of each number of ranks what serves the sizes;
    numbers between them and beyond are served as the nearest is."""
    decided = {ranks: ranges_in_turn(sizes, words) for ranks, words in found.items()}
    return [
        _rule(function, [*conditions, *_of_ranks((0, high))], one, PREDICTED)
        for (_, high), members in _groups(decided, spans(sorted(found), 0, None))
        for one in members[0]
    ]


def last_line(function: _core.Function, words: str) -> str:
    """A rule without conditions."""
    return _rule(function, [], Range(0, None, words), PREDICTED)


def checked(lines: Iterable[str]) -> str:
    """A whole file; raises Error if a program would."""
    text = "\n".join(["stretto-rules 2", *lines]) + "\n"
    _core.parse_rules(text, "the rules that were found")
    return text


def _measured(by_ranks: dict[int, list[Choice]], one_node: bool, cores: int) -> list[str]:
    """The rules of one name, for numbers of ranks that all were on one node, or all on several."""
    counts = sorted(by_ranks)
    near = spans(counts, counts[0], counts[-1], cores if one_node else 0)
    others = {
        ranks: [one.for_others() for one in own]
        for ranks, own in by_ranks.items()
        if near[ranks] != (ranks, ranks) and any(one.narrow for one in own)
    }
    kinds = {"": counts}
    if one_node and cores:
        own = [ranks for ranks in counts if ranks <= cores]
        kinds = {"own": own, "shared": counts[len(own) :]}
    lines = []
    for group in (by_ranks, others):
        for kind, numbers in kinds.items():
            chosen = {ranks: group[ranks] for ranks in numbers if ranks in group}
            lines += lines_of(chosen, near, Where(one_node, cores=kind))
    return lines


def to_text(
    chosen: dict[tuple[str, int], list[Choice]],
    machine: str,
    notes: list[str],
    more: Iterable[str] = (),
    cores: int = 0,
    apart: Collection[int] = (),
) -> str:
    """A whole file: what was measured, other rules, the shipped ones. Rules for one node of so
    many `cores` say whether ranks shared them; 0: one for every rank. The numbers of ranks in
    `apart` were on several nodes."""
    lines = [f"machine {machine}", *[f"# {note}" for note in notes]]
    lines += ["# Above each rule: ranks x size: its time (native, shipped choice), in µs.", ""]
    for name in dict.fromkeys(name for name, _ in chosen):
        by_ranks = {ranks: own for (other, ranks), own in chosen.items() if other == name}
        for one_node in (True, False):
            alike = {n: own for n, own in by_ranks.items() if (n not in apart) == one_node}
            lines += _measured(alike, one_node, cores) if alike else []
    lines += more
    lines += ["", SHIPPED_BELOW]
    rest = _core.shipped_rules_text().partition("\n")[2]
    return checked([*lines, rest.removesuffix("\n")])
