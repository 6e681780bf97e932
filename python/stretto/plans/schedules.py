# SPDX-License-Identifier: BSD-3-Clause
"""Stretto's schedules of a plan."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from .. import _core
from .nodes import IN_PARTS, Kind, Node, Place, Plan, Slot
from .order import Conflicts, in_order, refute_races
from .roots import find_root
from .rounds import Rounds, in_rounds
from .split import split
from .values import Layout, Values, aliases, follow

Block = Callable[[int], int]  # the block of Stretto's vector that a block of the plan's is
Where = tuple[_core.Buffer, int]
Step = tuple[Place, set[Where]]  # of the plan, and what it writes, or sends


@dataclass
class Analysed:
    """A plan that comes to its end without races."""

    plan: Plan
    order: list[int]
    values: Values
    conflicts: list[Conflicts]

    def __post_init__(self) -> None:
        self.rank_of = {number: rank for rank, number in enumerate(self.order)}
        self._rounds: dict[bool, Rounds] = {}

    def rounds(self, apart: bool) -> Rounds:
        if apart not in self._rounds:
            self._rounds[apart] = in_rounds(self.plan, self.order, self.conflicts, apart)
        return self._rounds[apart]


def analysed(plan: Plan) -> Analysed:
    """Raises RefutedError. A plan for calls in place and others has to be right in both."""
    order = in_order(plan)
    find_root(plan, order)
    modes = [mode for mode, on in ((True, plan.in_place), (False, plan.out_of_place)) if on]
    conflicts, mixed = [], set()
    for mode in modes:
        found = Conflicts(plan, order, aliases(plan, mode))
        refute_races(plan, order, found)
        conflicts.append(found)
        values = follow(plan, order, mode)
        mixed.update(values.mixed)
    if mixed:
        split(plan, sorted(mixed))
        return analysed(plan)
    return Analysed(plan, order, values, conflicts)


@dataclass(frozen=True)
class Form:
    """How a plan is written as schedules."""

    apart: bool = False  # the steps of a thread block are in rounds of their own
    save: bool = False  # the input is copied first, for calls in place
    lane: int | None = None  # of an alltoall whose pairs have several chunks: this one


@dataclass
class Message:
    """What travels in a round from one GPU to another at once: the receives of some steps."""

    key: int
    kind: str
    swapped: bool
    receives: list[int]


@dataclass
class Work:
    """What a GPU does in one round."""

    sends: list[Message] = field(default_factory=list)
    actions: list[tuple[int, object]] = field(default_factory=list)  # messages and local nodes


class Writer:
    """Writes one rank's schedule."""

    def __init__(self, all_: "AllRanks", gpu: int) -> None:
        self.all, self.plan, self.gpu = all_, all_.plan, gpu
        self.builder = _core.Builder(gpu, self.plan.ranks, all_.blocks)
        self.kept: dict[tuple, int] = {}  # scratch slots, by what they are for
        self.alias = all_.same[gpu]
        self.places: list[list[Step]] = []  # of each round
        self.wanted = {self.alias.get(s, s): b for s, b in Layout(self.plan).wanted(gpu).items()}

    def _scratch(self, key: tuple, block: int) -> Where:
        if key not in self.kept:
            self.kept[key] = self.builder.new_scratch(self.all.block(block), 1)
        return _core.Buffer.scratch, self.kept[key]

    def _input(self, block: int) -> Where:
        """Where a block of the input stands."""
        if (self.gpu, block) in self.all.saved:
            return self._scratch(("saved", block), block)
        if self.plan.collective == "bcast":
            return _core.Buffer.output, block
        if self.plan.collective == "alltoall":
            return _core.Buffer.input, self.all.block(block) % self.plan.ranks
        return _core.Buffer.input, block

    def _written(self, slot: Slot, block: int) -> Where:
        slot = self.alias.get(slot, slot)
        if self.wanted.get(slot) != block:
            return self._scratch((slot, block), block)
        if self.plan.collective == "alltoall":
            return _core.Buffer.output, self.all.block(block) // self.plan.ranks
        return _core.Buffer.output, block

    def reads(self, number: int, operand: bool) -> list[Where]:
        node, values = self.plan.nodes[number], self.all.values
        slots = node.operand if operand else node.source
        blocks = values.operand[number] if operand else values.source[number]
        untouched = values.untouched[number]
        first = len(node.source) if operand else 0
        return [
            self._input(block) if untouched[first + i] else self._written(slot, block)
            for i, (slot, block) in enumerate(zip(slots, blocks, strict=True))
            if self.all.has(block)
        ]

    def targets(self, number: int) -> list[Where]:
        node, blocks = self.plan.nodes[number], self.all.values.source[number]
        pairs = zip(node.target, blocks, strict=True)
        at_root = self.plan.collective == "bcast" and self.gpu == self.plan.root
        if at_root and node.kind == Kind.RECEIVE:
            # Its input and output are one buffer here, which may be on its way to others.
            return [self._scratch((slot, "back"), block) for slot, block in pairs]
        return [self._written(slot, block) for slot, block in pairs if self.all.has(block)]

    def early(self, number: int) -> list[Where]:
        """Where the message waits that came before its receive."""
        numbered = enumerate(self.all.values.source[number])
        return [self._scratch(("early", number, i), b) for i, b in numbered if self.all.has(b)]

    def save_inputs(self) -> None:
        """Before anything else: what is read after its place in the output was written."""
        blocks = sorted(b for gpu, b in self.all.saved if gpu == self.gpu and self.all.has(b))
        if not blocks:
            return
        for block in blocks:
            alltoall = self.plan.collective == "alltoall"
            slot = self.all.block(block) % self.plan.ranks if alltoall else block
            self.builder.copy(ranges([(_core.Buffer.input, slot)]), ranges([self._input(block)]))
        self.builder.round()
        self.places.append([])

    def keep_own(self) -> None:
        """What stands in the input and belongs into the output, untouched."""
        held = self.all.values.at_end[self.gpu]
        for slot, block in self.wanted.items():
            if held[slot][1] and self.all.has(block):
                source, target = self._input(block), self._written(slot, block)
                self.builder.copy(ranges([source]), ranges([target]))

    def write(self, work: dict[int, Work]) -> _core.Schedule:
        self.save_inputs()
        self.keep_own()
        for place_in_time, number in enumerate(sorted(work)):
            if place_in_time:
                self.builder.round()
            self._round(work[number])
        return self.builder.finish(self.all.id, self.plan.root)

    def _round(self, work: Work) -> None:
        nodes = self.plan.nodes
        steps: list[Step] = []
        for message in sorted(work.sends, key=lambda one: one.key):
            senders = [nodes[one].partner for one in message.receives]
            found = [where for one in senders for where in self.reads(one, False)]
            if found:
                self.builder.send(nodes[message.receives[0]].gpu, ranges(found))
                steps += [(nodes[one].place, set(self.reads(one, False))) for one in senders]
        for _, item in sorted(work.actions, key=lambda one: one[0]):
            steps += self._receive(item) if isinstance(item, Message) else self._local(item)
        if steps:
            self.places.append(steps)

    def _receive(self, message: Message) -> list[Step]:
        early = self.all.rounds.early
        targets, operands, steps = [], [], []
        for one in message.receives:
            own = self.early(one) if one in early else self.targets(one)
            targets += own
            operands += self.reads(one, True)
            steps.append((self.plan.nodes[one].place, set(own)))
        if not targets:
            return []
        peer = self.plan.nodes[self.plan.nodes[message.receives[0]].partner].gpu
        if message.kind == Kind.RECEIVE:
            self.builder.receive(peer, ranges(targets))
        else:
            which = side(message.swapped)
            self.builder.receive_reduce(peer, ranges(targets), which, ranges(operands))
        return steps

    def _local(self, number: int) -> list[Step]:
        node = self.plan.nodes[number]
        source = self.early(number) if node.receives else self.reads(number, False)
        target = self.targets(number)
        if not target or (node.kind in (Kind.COPY, Kind.RECEIVE) and source == target):
            return []
        if node.kind in (Kind.COPY, Kind.RECEIVE):
            self.builder.copy(ranges(source), ranges(target))
        else:
            operand, which = self.reads(number, True), side(self.all.values.swapped[number])
            self.builder.reduce(ranges(source), ranges(target), which, ranges(operand))
        return [(node.place, set(target))]


class AllRanks:
    """The schedules of all ranks. In an alltoall whose pairs have several chunks, of one of them:
    Stretto's pairs have one."""

    def __init__(self, found: Analysed, id_: str, form: Form) -> None:
        self.plan, self.values, self.rank_of = found.plan, found.values, found.rank_of
        self.id, self.lane = id_, form.lane
        self.rounds = found.rounds(form.apart)
        self.chained = self._chained(found.conflicts)
        # Writing in place, unless the plan must not.
        self.same = aliases(self.plan, not self.plan.out_of_place)
        self.saved = self._inputs_to_save() if form.save else set()
        self.places: list[list[list[Step]]] = []

    def _chained(self, conflicts: list[Conflicts]) -> set[int]:
        """Nodes that go on with what another of their round has written or read."""
        nodes, of = self.plan.nodes, self.rounds.of
        return {
            later
            for found in conflicts
            for earlier, later, _ in found.pairs
            if nodes[earlier].kind != Kind.SEND and of[earlier] == of[later]
        }

    @property
    def blocks(self) -> int:
        plan = self.plan
        if plan.collective == "alltoall":
            return plan.ranks
        return plan.chunks * (plan.ranks if plan.collective in IN_PARTS else 1)

    def has(self, block: int) -> bool:
        return self.lane is None or block % self.plan.chunks == self.lane

    def block(self, block: int) -> int:
        return block if self.lane is None else block // self.plan.chunks

    def _inputs_to_save(self) -> set[tuple[int, int]]:
        """What of the input is read, by GPU and block."""
        found = set()
        for number, node in enumerate(self.plan.nodes):
            blocks = self.values.source[number] if node.source else []
            blocks = blocks + self.values.operand[number]
            for block, untouched in zip(blocks, self.values.untouched[number], strict=True):
                if untouched:
                    found.add((node.gpu, block))
        return found

    def results(self) -> dict[tuple[int, int], Place]:
        """The step that wrote a block of the output last, by GPU and block."""
        found = {}
        for gpu in range(self.plan.ranks):
            for slot, block in Layout(self.plan).wanted(gpu).items():
                writer = self.values.writer.get((gpu, self.same[gpu].get(slot, slot)))
                if writer is not None:
                    found[gpu, block] = self.plan.nodes[writer].place
        return found

    def schedules(self) -> list[_core.Schedule]:
        work = self._work()
        written = []
        for gpu in range(self.plan.ranks):
            writer = Writer(self, gpu)
            schedule = writer.write(work[gpu])
            if self.plan.collective in IN_PARTS and self.plan.chunks > 1:
                steps = range(self.plan.ranks + 1)
                schedule.parts = _core.Parts([self.plan.chunks * one for one in steps])
            written.append(schedule)
            self.places.append(writer.places)
        return written

    def _work(self) -> list[dict[int, Work]]:
        """For each GPU and round."""
        found: list[dict[int, Work]] = [defaultdict(Work) for _ in range(self.plan.ranks)]
        for number, node in enumerate(self.plan.nodes):
            if node.kind in (Kind.COPY, Kind.REDUCE) or number in self.rounds.early:
                work = found[node.gpu][self.rounds.of[number]]
                work.actions.append((self.rank_of[number], number))
        for (sender, receiver, time), messages in self._messages().items():
            for message in messages:
                found[sender][time].sends.append(message)
                found[receiver][time].actions.append((message.key, message))
        return found

    def _messages(self) -> dict[tuple[int, int, int], list[Message]]:
        """Between two GPUs in one round: what is received alike travels together."""
        found: dict[tuple[int, int, int], list[Message]] = defaultdict(list)
        nodes = self.plan.nodes
        numbers = [n for n, node in enumerate(nodes) if node.receives]
        for number in sorted(numbers, key=self.rank_of.__getitem__):
            if not any(map(self.has, self.values.source[number])):
                continue
            node: Node = nodes[number]
            time = self.rounds.of[node.partner]
            here = found[nodes[node.partner].gpu, node.gpu, time]
            kind = Kind.RECEIVE if number in self.rounds.early else node.kind
            swapped = kind == Kind.RECEIVE_REDUCE and self.values.swapped[number]
            alike = [one for one in here if (one.kind, one.swapped) == (kind, swapped)]
            if alike and number not in self.chained:
                alike[-1].receives.append(number)
            else:
                here.append(Message(self.rank_of[number], kind, swapped, [number]))
        return found


def side(swapped: bool) -> _core.Side:
    return _core.Side.right if swapped else _core.Side.left


def ranges(places: list[Where]) -> list[_core.Range]:
    """Neighbours are one range."""
    found: list[list] = []
    for buffer, slot in places:
        if found and found[-1][0] == buffer and found[-1][1] + found[-1][2] == slot:
            found[-1][2] += 1
        else:
            found.append([buffer, slot, 1])
    return [_core.Range(*one) for one in found]
