# SPDX-License-Identifier: BSD-3-Clause
"""Rules without measuring: what the model says is fastest on the machine of a file."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ... import _core
from ...algorithms import function_named
from ...errors import Error
from ...launch.cores import pool
from ...measure.session import Advance, unseen
from .choice import SHIPPED, Times, agrees, words_of
from .points import ORDERED, Candidate, Point, Predictor, parsed, portfolio, reduces, serves_any
from .rules import checked, last_line, lines_in_turn

SIZES = (8, 128, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20)
HOPELESS = 4.0  # times the fastest: cutting it into segments is not tried (without a topology)
AT_LEAST = 16  # ranks are predicted for: what is best on fewer need not serve more
PLAIN = 1.02  # what a parameter or segments must be faster by
LAST = (64, 4 << 10)  # ranks and bytes for which a last resort is the best
PER_NODE = (4, 16)  # ranks of a node that are equally likely, where there are several nodes


@dataclass(frozen=True)
class Level:
    """Ranks that share memory; or others, and what is left of those."""

    title: str
    conditions: list[str]
    ranks: tuple[int, ...]
    placements: Callable[[int], list[int]]  # ranks of a node that are equally likely
    depths: tuple[int, ...] = (2,)

    def up_to(self, most: int) -> "Level":
        """With enough that the choice for the largest number serves more."""
        return replace(self, ranks=tuple(p for p in self.ranks if p <= max(most, AT_LEAST)))


# Numbers that are no powers of two stand for all such, odd ones too.
NODE = Level(
    "one node", ["nodes=1"], (2, 3, 4, 5, 7, 8, 11, 16, 17, 32, 45, 64, 100), lambda p: [p], (2, 4)
)
ALONE = Level(
    "a rank on each node",
    ["per-node=1"],
    (2, 3, 4, 5, 7, 8, 11, 16, 17, 32, 33, 64, 100, 128, 201, 256),
    lambda p: [1],
)
FULL = Level(
    "full nodes",
    ["nodes=even"],
    (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256),
    lambda p: [k for k in PER_NODE if k < p and p % k == 0] or [p // 2],
)
UNEVEN = Level(
    "other nodes",
    [],
    (3, 5, 7, 9, 11, 17, 23, 33, 50, 99, 201),
    lambda p: [k for k in PER_NODE if k < p] or [2],
)


def levels_of(machine: _core.Machine, most: int | None = None) -> list[Level]:
    """Those whose messages take time, for up to `most` ranks; what is right for the largest number
    serves more."""
    levels = ((NODE, machine.node), *((one, machine.network) for one in (ALONE, FULL, UNEVEN)))
    found = [level for level, link in levels if link.message or link.alpha > 0]
    return found if most is None else [level.up_to(most) for level in found]


def cut_by_itself(one: Candidate) -> bool:
    """Cut into pieces by a parameter of its own."""
    own = one.algorithm.parameter if one.algorithm else None
    return bool(own) and own.name == "pieces"


def candidates(point: Point, depths: tuple[int, ...]) -> list[Candidate]:
    """What is cut into pieces by a parameter of its own is not cut again.

    A number of ranks that is no power of two stands for others, which must be served as well.
    """
    power = point.ranks & (point.ranks - 1) == 0

    def useful(one: Candidate) -> bool:
        assert one.algorithm
        served = power or serves_any(one.algorithm, point.function, point.ordered)
        return served and not (one.params.segment and cut_by_itself(one))

    return [one for one in portfolio(point, depths) if useful(one)]


def promising(
    every: list[Candidate],
    seconds: Callable[[Candidate], float],
    least: Callable[[Candidate], float] | None = None,
) -> Iterator[tuple[Candidate, float]]:
    """With their seconds; what is too large to be predicted is left out. What is hopeless is not
    cut into segments: it takes at `least` more than the fastest without segments."""
    whole: dict[tuple, float] = {}  # of algorithms with their parameters, without segments
    for one in sorted(every, key=lambda one: one.params.segment > 0):
        key = (one.id, one.params.value, tuple(one.params.list))
        if one.params.segment:
            if key not in whole:
                continue
            bound = least(one) if least else whole[key] / HOPELESS
            if bound > min(whole.values()):
                continue
        try:
            found = seconds(one)
        except Error:
            continue
        if not one.params.segment:
            whole[key] = found
        yield one, found


def plainness(one: Candidate) -> float:
    """Plainer choices are worth a little."""
    return PLAIN ** ((one.params.segment > 0) + (one.params.value > 0))


def predicted_times(machine: _core.Machine, level: Level, name: str, ranks: int) -> list[Times]:
    """Of every size: the predicted time of each candidate, the mean of the placements."""
    predictors = [
        Predictor(machine, _core.Placement(min(k, ranks))) for k in level.placements(ranks)
    ]
    sizes = (0,) if name == "barrier" else SIZES
    points = [Point(name, ranks, size) for size in sizes]
    return [Times(_us(predictors, point, level.depths), SHIPPED) for point in points]


def _us(predictors: list[Predictor], point: Point, depths: tuple[int, ...]) -> dict[str, float]:
    """The mean of the placements."""

    def seconds(one: Candidate) -> float:
        logs = [math.log(max(p.seconds(point, one), 1e-12)) for p in predictors]
        return math.exp(sum(logs) / len(logs)) * plainness(one)

    return {one.words: 1e6 * own for one, own in promising(candidates(point, depths), seconds)}


def known_times(machine: _core.Machine, level: Level, name: str) -> dict[int, list[Times]]:
    found = {p: predicted_times(machine, level, name, p) for p in level.ranks}
    return {p: times for p, times in found.items() if all(one.us for one in times)}


def _of_kind(known: dict[int, list[Times]], power: bool) -> dict[int, list[Times]]:
    """Of the powers of two, or of the other numbers of ranks."""
    return {p: times for p, times in known.items() if (p & (p - 1) == 0) == power}


def rules_of(machine: _core.Machine, level: Level, name: str) -> list[str]:
    """Of a function, for powers of two first; operators that do not commute apart if they must."""
    function = Point(name, 2, 8).function
    commuting = known_times(machine, level, name)
    ordered = known_times(machine, level, name + ORDERED) if reduces(function) else {}
    lines = []
    for are, power in ((["ranks=2^k"], True), ([], False)):
        words = words_of(_of_kind(commuting, power))
        rest = _of_kind(ordered, power)
        if all(agrees(words[p], times) for p, times in rest.items()):
            lines += lines_in_turn(function, [*level.conditions, *are], words, SIZES)
            continue
        for operator, found in (("commutative", words), ("not-commutative", words_of(rest))):
            head = [*level.conditions, f"operator={operator}", *are]
            lines += lines_in_turn(function, head, found, SIZES)
    return lines


def last_resort(machine: _core.Machine, name: str) -> str:
    """A rule without conditions: an algorithm that serves any ranks, root and operator."""
    function = function_named(name)
    wanted = _core.facts(function).collective
    every = [a for a in _core.all_algorithms() if a.collective == wanted and not a.needs.counts]
    own = [a for a in every if serves_any(a, function, True)]
    point, predictor = Point(name, *LAST), Predictor(machine, _core.Placement(1))
    best = min(own, key=lambda a: predictor.seconds(point, parsed(point, a.name)))
    return last_line(function, best.name)


def to_text(
    machine: _core.Machine,
    levels: list[Level],
    functions: list[str],
    head: str,
    advance: Advance = unseen,
) -> str:
    """A whole file; `head` is its beginning: comments, and rules that come first."""
    lines = [head.strip()]
    tasks = [(level, name) for level in levels for name in functions]
    with pool() as threads:
        for done, own in enumerate(threads.map(lambda task: rules_of(machine, *task), tasks)):
            level, name = tasks[done]
            advance(done + 1, len(tasks), f"{level.title}, {name}")
            lines += ([""] if name == functions[0] else []) + own
    lines += ["", "# What the rules above cannot serve."]
    lines += [last_resort(machine, name) for name in functions]
    return checked(lines)
