# SPDX-License-Identifier: BSD-3-Clause
"""What a rule is looked for, which algorithms with which parameters may be its answer, and what a
model says of their times."""

import functools
from dataclasses import dataclass
from typing import Any

from ... import _core
from ...algorithms import function_named
from ...simulation import Call, suitable, takes_segments, values
from ...topology.predict import OnTree
from ...units import size_in_words

NATIVE = "native"
ORDERED = "-ordered"  # of a point's name: an operator that does not commute
SEGMENTS = (16 << 10, 64 << 10, 256 << 10, 1 << 20)
DEPTHS = (2, 4)
MOST_SEGMENTS = 64  # of a call
LARGEST = 64 << 20  # bytes of a vector, all parts together
MANY_RANKS = 71  # what serves fewer serves any number
FEW_RANKS = 16  # whose schedules are compared


@dataclass(frozen=True, order=True)
class Point:
    """A function, or one with operators that do not commute, at one size on so many ranks."""

    name: str  # as the driver calls it
    ranks: int
    asked: int

    @property
    def function(self) -> _core.Function:
        return function_named(self.name.removesuffix(ORDERED))

    @property
    def ordered(self) -> bool:
        return self.name.endswith(ORDERED)

    @property
    def bytes(self) -> int:
        """Of the whole vector, as rules and the model count."""
        if in_parts(self.function):
            return self.asked * self.ranks
        unit = 8 * (self.ranks if _collective(self.function).per_rank else 1)  # doubles for each
        return max(self.asked // unit, 1) * unit if self.asked else 0

    def call(self, placement: _core.Placement) -> Call:
        operation = _core.Operation("sum", "f64") if reduces(self.function) else _core.Operation()
        commutative = not self.ordered
        return Call(self.function, self.ranks, self.bytes, 0, commutative, placement, operation)

    def __str__(self) -> str:
        return f"{self.name} {size_in_words(self.asked)}, {self.ranks} ranks"


def _collective(function: _core.Function) -> _core.CollectiveFacts:
    return _core.facts(_core.facts(function).collective)


def reduces(function: _core.Function) -> bool:
    return _collective(function).reduces


def in_parts(function: _core.Function) -> bool:
    """Whether the driver's bytes are those of one rank's part."""
    return _collective(function).per_rank and not reduces(function)


@dataclass(frozen=True)
class Candidate:
    """An algorithm with parameters; `words` as in an info key."""

    words: str
    algorithm: _core.Algorithm | None  # None: the native library
    params: _core.Params

    @property
    def id(self) -> str:
        return self.algorithm.id if self.algorithm else NATIVE

    def changed(self, **others: Any) -> "Candidate":
        """The algorithm with some other parameters."""
        names = ("segment", "depth", "value", "list", "copy")
        own = {name: getattr(self.params, name) for name in names}
        return candidate(self.algorithm, _core.Params(**own | others))


def candidate(algorithm: _core.Algorithm | None, params: _core.Params) -> Candidate:
    words = _core.written(algorithm, params).replace(" ", ",")
    return Candidate(words, algorithm, params)


def parsed(point: Point, words: str) -> Candidate:
    forced = _core.parse_algorithm_spec(point.function, words)
    return Candidate(words, forced.algorithm, forced.params)


def _segmentations(size: int, depths: tuple[int, ...]) -> list[tuple[int, int]]:
    """Segment and depth."""
    sizes = [one for one in SEGMENTS if one < size <= one * MOST_SEGMENTS]
    return [(0, 2), *((one, depth) for one in sizes for depth in depths)]


def _plainness(one: Candidate) -> tuple:
    """Of several that do the same, the first is kept."""
    assert one.algorithm
    return one.params.value != 0, one.algorithm.name != "linear", one.words


def does(point: Point, one: Candidate) -> tuple:
    """Equal for candidates that do the same: on few ranks many an algorithm is another one."""
    if one.algorithm is None or point.ranks > FEW_RANKS or one.algorithm.needs.counts:
        return (one.words,)
    key = (one.id, one.params.value, point.ranks)
    if key not in _schedules:
        shape = _core.Shape(point.ranks)
        params = _core.Params(value=one.params.value)
        built = (_core.build_schedule(one.algorithm, shape, r, params) for r in range(point.ranks))
        _schedules[key] = tuple(_core.to_text(one).partition("\n")[2] for one in built)
    cut = one.params.segment < point.bytes and one.params.segment
    in_segments = cut and (one.params.segment, one.params.depth)
    return _schedules[key], one.algorithm.forwards, in_segments, one.params.copy


_schedules: dict[tuple[str, int, int], tuple[str, ...]] = {}


def others(point: Point, reference: Candidate, found: list[Candidate]) -> list[Candidate]:
    """What does not do the same as the reference."""
    same = does(point, reference)
    return [one for one in found if does(point, one) != same]


def different(point: Point, found: list[Candidate]) -> list[Candidate]:
    """The plainest of those that do the same; what comes first stays first."""
    plainest: dict[tuple, Candidate] = {}
    for one in found:
        key = does(point, one)
        if key not in plainest or _plainness(one) < _plainness(plainest[key]):
            plainest[key] = one
    return list(plainest.values())


def ways_to_copy(ranks: int, cores: int) -> tuple[_core.Copy, ...]:
    """Beside staging, on a node: what is lent is found out by each connection. Where ranks share
    cores and their caches none of them can find out that all had better lend."""
    shared = ranks > cores
    return (_core.Copy.measured, _core.Copy.kernel) if shared else (_core.Copy.measured,)


def portfolio(
    point: Point, depths: tuple[int, ...] = DEPTHS, copies: tuple[_core.Copy, ...] = ()
) -> list[Candidate]:
    """Every algorithm that can serve the point, with its parameters and in segments; of those that
    do the same, one.

    Those with long messages also with these ways to copy them, beside staging.
    """
    found = with_parameters(point, depths)
    if point.asked >= _core.least_lent:
        few = [one for one in found if one.params.segment in (0, SEGMENTS[-1])]
        found += [one.changed(copy=copy) for copy in copies for one in few]
    return different(point, found)


def with_parameters(point: Point, depths: tuple[int, ...]) -> list[Candidate]:
    """All, also those that do the same without a list."""
    call = point.call(_core.Placement(point.ranks))
    sized = _core.facts(point.function).bytes_known
    found = []
    for algorithm in suitable(call, _core.all_algorithms()):
        # The default of those that go by the counts is made from the counts of the call.
        own = [0] if algorithm.needs.counts else values(call, algorithm)
        cut = sized and takes_segments(call, algorithm)
        cuts = _segmentations(point.bytes, depths) if cut else [(0, 2)]
        for value in own:
            given = value if value != own[0] else 0
            found += [
                candidate(algorithm, _core.Params(segment=segment, depth=depth, value=given))
                for segment, depth in cuts
            ]
    return found


def shipped(point: Point, per_node: int, cores: int = 0) -> Candidate:
    """The choice of the shipped rules."""
    choice = chosen(_core.shipped_rules(), point, per_node, cores)
    return candidate(choice.algorithm, choice.params)


def chosen(rules: _core.Rules, point: Point, per_node: int, cores: int = 0) -> _core.Choice:
    """Of ranks of which so many are on each node of so many cores; 0: one for every rank."""
    per_node = min(per_node, point.ranks)
    call = _core.Call(
        point.function,
        _core.Shape(point.ranks),
        point.bytes,
        commutative=not point.ordered,
        predefined=not point.ordered,
        per_node=per_node,
        even_nodes=point.ranks % per_node == 0,
        oversubscribed=0 < cores < per_node,
    )
    return _core.choose(rules, call)


def chosen_words(rules: _core.Rules, point: Point, per_node: int, cores: int = 0) -> str:
    """What the rules say of a point, as a candidate's words."""
    choice = chosen(rules, point, per_node, cores)
    return candidate(choice.algorithm, choice.params).words


def points_of(names: list[str], ranks: int, sizes: list[int]) -> list[Point]:
    """Those of one size side by side: what is cut short has something of every function. Vectors
    of more than 64 MiB are left out, unless nothing smaller was asked for."""
    found: dict[Point, None] = {}
    for i, size in enumerate(sorted(sizes)):
        for name in names:
            point = Point(name, ranks, 0 if name == "barrier" else max(size, 8))
            if i == 0 or point.bytes <= LARGEST:
                found[point] = None
    return list(found)


@functools.cache
def serves_any(algorithm: _core.Algorithm, function: _core.Function, ordered: bool) -> bool:
    """Any number of ranks, with its defaults."""
    if algorithm.needs.counts:
        return True  # of which the ranks' parts are asked, not their number
    return not any(
        _core.unsuitable(algorithm, function, _core.Shape(p), not ordered, _core.Params())
        for p in range(1, MANY_RANKS)
    )


class Predictor:
    """Keeps simulators: they serve all sizes. On a topology a call takes no less than that says."""

    def __init__(
        self,
        machine: _core.Machine,
        placement: _core.Placement,
        topology: _core.Topology | None = None,
    ) -> None:
        self._machine, self._placement = machine, placement
        self._tree = OnTree(topology) if topology else None
        self._simulators: dict[tuple, _core.Simulator] = {}

    def seconds(self, point: Point, one: Candidate) -> float:
        assert one.algorithm
        own = one.params
        key = (point.function, one.algorithm.id, point.ranks, own.value, tuple(own.list))
        call = point.call(self._placement)
        if key not in self._simulators:
            params = _core.Params(value=own.value, list=own.list)
            self._simulators[key] = call.simulator(one.algorithm, params)
        load = _core.Load(call.bytes, own.segment, own.depth, call.operation)
        seconds = self._simulators[key].run(load, self._machine).seconds
        if self._tree:
            shape = call.shape(one.algorithm)
            seconds = max(seconds, self._tree.seconds(one.algorithm, shape, own, call.bytes))
        return seconds

    def least(self, point: Point, one: Candidate) -> float:
        """On the topology, in however many segments; raises Error as `seconds` does."""
        assert one.algorithm and self._tree
        call = point.call(self._placement)
        steps = self._tree.steps(one.algorithm, call.shape(one.algorithm), one.params)
        return steps.least(call.bytes)

    def sorted(self, point: Point, found: list[Candidate]) -> list[tuple[float, Candidate]]:
        pairs = [(self.seconds(point, one), one) for one in found]
        return sorted(pairs, key=lambda pair: pair[0])
