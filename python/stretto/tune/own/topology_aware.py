# SPDX-License-Identifier: BSD-3-Clause
"""What the model says is fastest for the ranks of one topology, as rules for that many ranks."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ... import _core
from ...errors import Error
from ...topology.lists import list_for
from ...topology.predict import placement_of
from .choice import SHIPPED, Times, along
from .points import Candidate, Point, Predictor, different, reduces, with_parameters
from .predicted import SIZES, cut_by_itself, plainness, promising
from .rules import lines_in_turn

DEPTHS = (2, 8, 32)
SHORTEST_EAGER = 1 << 10  # bytes of a segment
MOST_EAGER = 1 << 10  # such segments of a call
LEAST_RANKS = 2

Found = list[tuple[float, Candidate]]  # predicted seconds, the best first


def with_lists(point: Point, every: list[Candidate], topology: _core.Topology) -> list[Candidate]:
    """One of those that do the same; and what takes a list, with the one that the tree gives."""
    listed = []
    for one in every:
        assert one.algorithm
        if made := list_for(one.algorithm, topology, point.ranks):
            listed.append(one.changed(list=made))
    return different(point, every) + listed


def with_eager_segments(point: Point, found: list[Candidate], rendezvous: int) -> list[Candidate]:
    """Adds the longest power of two that needs no answer, if the shortest segments so far may need
    one."""
    eager = 1 << (rendezvous - 1).bit_length() - 1 if rendezvous > 1 else 0
    shortest = min((one.params.segment for one in found if one.params.segment), default=0)
    if not SHORTEST_EAGER <= eager < shortest or point.bytes > MOST_EAGER * eager:
        return found
    return found + [one.changed(segment=eager) for one in found if one.params.segment == shortest]


@dataclass
class OnTopology:
    """Predicts for all ranks of a topology."""

    machine: _core.Machine
    topology: _core.Topology

    def __post_init__(self) -> None:
        if self.topology.ranks < LEAST_RANKS:
            raise Error("a topology of one rank has nothing to choose", "place more ranks on it")
        self._predictor = Predictor(self.machine, placement_of(self.topology), self.topology)

    def point(self, name: str, size: int) -> Point:
        return Point(name, self.topology.ranks, size)

    def candidates(self, point: Point) -> Found:
        """Algorithms with their parameters and the topology's lists; in segments, too, where they
        are not hopeless, each with the depths that still have something to put in flight."""

        def useful(one: Candidate) -> bool:
            own = one.params
            in_flight = own.depth // 4 * own.segment
            return not own.segment or not (in_flight >= point.bytes or cut_by_itself(one))

        plain = with_parameters(point, DEPTHS)
        every = with_eager_segments(point, plain, self.topology.rendezvous)
        every = with_lists(point, every, self.topology)
        found = promising(
            [one for one in every if useful(one)],
            lambda one: self._predictor.seconds(point, one),
            lambda one: self._predictor.least(point, one),
        )
        return sorted(((seconds, one) for one, seconds in found), key=lambda pair: pair[0])


def best_few(found: Found, algorithms: int, more: int, far: float = math.inf) -> list[Candidate]:
    """To be measured: the best of each of so many algorithms, with a list of their own and
    without, and so many others; none that are `far` times as slow as the best."""
    different: dict[tuple, Candidate] = {}  # what takes exactly as long does the same
    for seconds, one in found:
        if seconds <= far * found[0][0]:
            key = (f"{seconds:.9e}", one.params.segment, one.params.depth)
            different.setdefault(key, one)
    near = list(different.values())
    first: dict[tuple, Candidate] = {}
    for one in near:
        first.setdefault((one.id, bool(one.params.list)), one)
    best = list(first.values())[:algorithms]
    return best + [one for one in near if one not in best][:more]


def rules_for(name: str, ranks: int, sizes: tuple[int, ...], words: list[str]) -> list[str]:
    """Of a function, for exactly so many ranks; `words` serve these sizes."""
    conditions, function = [f"ranks={ranks}"], Point(name, ranks, 8).function
    if reduces(function):
        conditions.insert(0, "operator=commutative")
    return lines_in_turn(function, conditions, {ranks: words}, sizes)


def predicted_rules(
    on: OnTopology, functions: list[str], advance: Callable[..., None] = lambda *_: None
) -> list[str]:
    lines = []
    for done, name in enumerate(functions):
        advance(done, len(functions), f"{on.topology.ranks} ranks, {name}")
        sizes = (0,) if name == "barrier" else SIZES
        found = [on.candidates(on.point(name, size)) for size in sizes]
        if all(found):
            us = [{one.words: s * 1e6 * plainness(one) for s, one in own} for own in found]
            words = along([Times(own, SHIPPED) for own in us])
            lines += rules_for(name, on.topology.ranks, sizes, words)
    return lines
