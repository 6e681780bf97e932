# SPDX-License-Identifier: BSD-3-Clause
"""What a model says of candidates' times."""

from ... import _core
from ...topology.predict import OnTree
from .points import Candidate, Point


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
        shape = call.shape(one.algorithm)
        if key not in self._simulators:
            params = _core.Params(value=one.params.value, list=one.params.list)
            self._simulators[key] = call.simulator(one.algorithm, params)
        load = _core.Load(call.bytes, one.params.segment, one.params.depth, call.operation)
        seconds = self._simulators[key].run(load, self._machine).seconds
        if self._tree:
            on_tree = self._tree.seconds(one.algorithm, shape, one.params, call.bytes)
            seconds = max(seconds, on_tree)
        return seconds

    def least(self, point: Point, one: Candidate) -> float:
        """On the topology, in however many segments; raises Error as `seconds` does."""
        assert one.algorithm and self._tree
        call = point.call(self._placement)
        return self._tree.least(one.algorithm, call.shape(one.algorithm), one.params, call.bytes)

    def sorted(self, point: Point, found: list[Candidate]) -> list[tuple[float, Candidate]]:
        pairs = [(self.seconds(point, one), one) for one in found]
        return sorted(pairs, key=lambda pair: pair[0])
