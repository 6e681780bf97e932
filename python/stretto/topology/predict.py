# SPDX-License-Identifier: BSD-3-Clause
"""What a call takes at least on a tree, where messages share links."""

from dataclasses import dataclass, field

from .. import _core


def placement_of(topology: _core.Topology) -> _core.Placement:
    """So many consecutive ranks on each machine; 1 where they are placed otherwise, so that the
    model lets all messages take the network."""
    machines = [topology.machine_of(rank) for rank in range(topology.ranks)]
    each = machines.count(machines[0])
    blocks = [machines[i : i + each] for i in range(0, len(machines), each)]
    regular = all(len(set(block)) == 1 for block in blocks) and len(blocks) == len(set(machines))
    return _core.Placement(each if regular else 1)


@dataclass(frozen=True)
class Steps:
    """What a schedule does on a tree."""

    traffic: _core.Traffic
    blocks: int
    spans: tuple[tuple[float, float], ...]
    """Of each rank, from its first step to its last: latency, and seconds for a byte of a block."""
    rendezvous: int
    """Bytes from which on messages wait for their receiver's answer; 0: none do."""

    def seconds(self, size: int, segment: int, depth: int) -> float:
        """Of the first segment, step by step, each as long as its slowest link; the others follow
        as closely as the link lets them that all steps together use most, and as each rank can
        with `depth` of them in flight. Each segment waits for an answer that no other hides."""
        whole = size / self.blocks
        count = -(-size // segment) if 0 < segment < size else 1
        part = whole / count
        answers = self._answers(part)
        once = self.traffic.latency + part * self.traffic.per_block + sum(answers)
        flying = min(depth, count)
        longest = max((alpha + part * beta for alpha, beta in self.spans), default=0.0)
        apart = max(part * self.traffic.busiest, longest / flying) + max(answers, default=0.0)
        return once + (count - 1) * apart

    def least(self, size: int) -> float:
        """In however many segments: what the busiest link takes for all bytes."""
        return size / self.blocks * self.traffic.busiest

    def _answers(self, part: float) -> list[float]:
        """Seconds in which messages of such blocks wait for an answer, of the steps that have any.
        The answer queues behind data that the receiver sends: as much as goes without an answer."""
        if not self.rendezvous:
            return []
        return [
            2 * step.latency + self.rendezvous * step.per_block / step.largest
            for step in self.traffic.steps
            if step.largest * part >= self.rendezvous
        ]


def steps_of(
    topology: _core.Topology, algorithm: _core.Algorithm, shape: _core.Shape, params: _core.Params
) -> Steps:
    """Raises Error where there are too many messages, or the topology has fewer ranks."""
    messages = _core.Messages(algorithm, shape, params)
    traffic = _core.traffic(topology, messages)
    alpha, beta = [0.0], [0.0]
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for number, step in enumerate(traffic.steps):
        alpha.append(alpha[-1] + step.latency)
        beta.append(beta[-1] + step.per_block)
        for transfer in messages.of_step(number + 1):
            for rank in (transfer.from_rank, transfer.to_rank):
                first.setdefault(rank, number)
                last[rank] = number + 1
    ends = {(first[rank], last[rank]) for rank in first}
    spans = {(alpha[end] - alpha[begin], beta[end] - beta[begin]) for begin, end in ends}
    blocks = max(algorithm.blocks(shape, params), 1)
    return Steps(traffic, blocks, tuple(sorted(spans)), topology.rendezvous)


@dataclass
class OnTree:
    """Keeps what was found: it serves all sizes and segments."""

    topology: _core.Topology
    _steps: dict[tuple, Steps] = field(default_factory=dict)

    def seconds(
        self, algorithm: _core.Algorithm, shape: _core.Shape, params: _core.Params, size: int
    ) -> float:
        steps = self.steps(algorithm, shape, params)
        return steps.seconds(size, params.segment, params.depth)

    def steps(self, algorithm: _core.Algorithm, shape: _core.Shape, params: _core.Params) -> Steps:
        key = (algorithm.id, shape.ranks, shape.root, params.value, tuple(params.list))
        if key not in self._steps:
            whole = _core.Params(value=params.value, list=params.list)
            self._steps[key] = steps_of(self.topology, algorithm, shape, whole)
        return self._steps[key]
