# SPDX-License-Identifier: BSD-3-Clause
"""Runs the schedules of all ranks on symbols, to see what each rank holds after every step."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass

from . import _core
from .errors import Error

Contributions = tuple[int, ...]  # ranks, in the order of the operands
Slot = tuple[_core.Buffer, int]
State = dict[Slot, Contributions]


@dataclass
class Message:
    """One message: what left `source` and what `target` made of it."""

    step: int
    source: int
    target: int
    blocks: tuple[int, ...]  # of the vector
    combined: bool = False


@dataclass
class Replay:
    """`held[t][r][b]`: what rank r holds of block b after step t; row 0 is the beginning."""

    algorithm: _core.Algorithm
    shape: _core.Shape
    blocks: int
    reduces: bool
    measured: _core.Measured
    messages: list[Message]
    held: list[list[list[Contributions]]]

    @property
    def rooted(self) -> bool:
        return _core.facts(self.algorithm.collective).rooted

    @property
    def steps(self) -> int:
        return len(self.held) - 1

    def messages_of(self, step: int) -> list[Message]:
        return [m for m in self.messages if m.step == step]

    def changed(self, step: int, rank: int, block: int) -> bool:
        return step > 0 and self.held[step][rank][block] != self.held[step - 1][rank][block]


def _slots(ranges: list[_core.Range]) -> Iterator[Slot]:
    for one in ranges:
        for index in range(one.first, one.first + one.count):
            yield one.buffer, index


class _Machine:
    """The state of all ranks, and the messages under way."""

    def __init__(
        self, algorithm: _core.Algorithm, shape: _core.Shape, ends: list[list[int]]
    ) -> None:
        ranks = range(shape.ranks)
        self.schedules = [_core.build_schedule(algorithm, shape, rank) for rank in ranks]
        self.rounds = [schedule.rounds for schedule in self.schedules]
        self.ends = ends
        self.begins = [[0, *one[:-1]] for one in ends]
        self.entered = [-1] * shape.ranks
        self.now = [0] * shape.ranks
        self.under_way: dict[tuple[int, int], deque] = defaultdict(deque)
        self.states = [self._before(algorithm, shape, rank) for rank in ranks]
        self.messages: list[Message] = []
        self.arrived: list[dict[Slot, Message]] = [{} for _ in ranks]
        self.snapshots = [{0: self._held(rank)} for rank in ranks]

    def _before(self, algorithm: _core.Algorithm, shape: _core.Shape, rank: int) -> State:
        state: State = {}
        for buffer in (_core.Buffer.input, _core.Buffer.output):
            for block in range(self.schedules[rank].blocks):
                content = _core.content_before(algorithm.collective, shape, rank, buffer, block)
                if content.kind == _core.Content.Kind.contribution:
                    state[buffer, block] = (content.from_rank,)
        return state

    def _held(self, rank: int) -> list[Contributions]:
        """For every block the fullest of what the rank's buffers hold."""
        row: list[Contributions] = [()] * self.schedules[rank].blocks
        for slot, value in self.states[rank].items():
            block = self._block_of(rank, slot)
            if len(value) > len(row[block]):
                row[block] = value
        return row

    def _block_of(self, rank: int, slot: Slot) -> int:
        buffer, index = slot
        return self.schedules[rank].scratch[index] if buffer == _core.Buffer.scratch else index

    def _enter(self, rank: int) -> None:
        index = self.now[rank]
        if self.entered[rank] == index:
            return
        self.entered[rank] = index
        for send in self.rounds[rank][index].sends:
            slots = list(_slots(send.blocks))
            values = [self.states[rank][slot] for slot in slots]
            blocks = tuple(self._block_of(rank, slot) for slot in slots)
            self.under_way[rank, send.peer].append((self.begins[rank][index], blocks, values))

    def _waits(self, rank: int) -> bool:
        needed = Counter(a.peer for a in self.rounds[rank][self.now[rank]].actions if a.peer >= 0)
        return any(len(self.under_way[peer, rank]) < count for peer, count in needed.items())

    def _act(self, rank: int) -> None:
        state, index = self.states[rank], self.now[rank]
        for action in self.rounds[rank][index].actions:
            combines = action.kind in (_core.ActionKind.receive_reduce, _core.ActionKind.reduce)
            targets = list(_slots(action.target))
            message = None
            if action.peer >= 0:
                sent, blocks, values = self.under_way[action.peer, rank].popleft()
                # A message passes when both sides have come to it.
                step = 1 + max(sent, self.begins[rank][index])
                message = Message(step, action.peer, rank, blocks, combines)
                self.messages.append(message)
            else:
                values = [state[slot] for slot in _slots(action.source)]
            if combines:
                self._mark_combined(rank, [*_slots(action.source), *_slots(action.operand)])
                others = [state[slot] for slot in _slots(action.operand)]
                left = action.side == _core.Side.left
                pairs = zip(values, others, strict=True)
                values = [a + b if left else b + a for a, b in pairs]
            for slot, value in zip(targets, values, strict=True):
                state[slot] = value
                self.arrived[rank].pop(slot, None)
                if message and not combines:
                    self.arrived[rank][slot] = message
        self.snapshots[rank][self.ends[rank][index]] = self._held(rank)
        self.now[rank] += 1

    def _mark_combined(self, rank: int, slots: list[Slot]) -> None:
        """A message that was stored in scratch and is an operand now was combined after all."""
        for slot in slots:
            message = self.arrived[rank].pop(slot, None)
            if message:
                message.combined = True

    def run(self) -> None:
        """To the end: the checker has proved that it comes."""
        waiting = deque(range(len(self.schedules)))
        while waiting:
            rank = waiting.popleft()
            while self.now[rank] < len(self.rounds[rank]):
                self._enter(rank)
                if self._waits(rank):
                    waiting.append(rank)
                    break
                self._act(rank)


def replay(algorithm: _core.Algorithm, shape: _core.Shape) -> Replay:
    """Replays a schedule that the checker has proved; raises Error if it refuses."""
    checked = _core.check_algorithm(algorithm, shape)
    if checked.refused is not None:
        raise Error(
            f"{algorithm.id} is refused: {checked.refused.name}: {checked.refused.message}",
            "its schedule is wrong; `stretto show --text` prints it",
        )
    machine = _Machine(algorithm, shape, checked.round_ends)
    machine.run()
    held = [[one[0] for one in machine.snapshots]]
    for step in range(1, checked.measured.rounds + 1):
        rows = zip(machine.snapshots, held[-1], strict=True)
        held.append([snapshots.get(step, before) for snapshots, before in rows])
    reduces = _core.facts(algorithm.collective).reduces
    blocks = machine.schedules[0].blocks
    return Replay(algorithm, shape, blocks, reduces, checked.measured, machine.messages, held)


def intervals(numbers: list[int] | tuple[int, ...], modulus: int = 0) -> str:
    """[0, 1, 2, 5] as "0-2,5"; with a modulus a run may wrap around: "6-1"."""
    runs: list[list[int]] = []
    for n in sorted(set(numbers)):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    if modulus and len(runs) > 1 and runs[0][0] == 0 and runs[-1][1] == modulus - 1:
        runs[0][0] = runs.pop()[0]
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
