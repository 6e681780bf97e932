# SPDX-License-Identifier: BSD-3-Clause
"""What the operations of MSCCL++ do, as nodes of a plan's graph."""

from collections import defaultdict
from dataclasses import dataclass, field, replace

from ..errors import Error
from .json_part import Part
from .nodes import HINT, Kind, Node, Place, Plan, Slot

# Operations that combine: are further sources than the first another GPU's, are they packets?
REDUCTIONS = {
    "re": (False, False), "res": (False, False), "rre": (True, False), "rres": (True, False),
    "repkt": (False, True), "respkt": (False, True), "recpkt": (False, True),
    "recspkt": (False, True),
}  # fmt: skip
SWITCH = ("glre", "glres", "gstore", "gstorepkt")
# Those that another one's code does as well.
ALIKE = {
    "pws": "put", "pwsf": "put", "ppkt": "put", "rppkt": "put", "cpkt": "copy", "upkt": "copy",
    "rlxsignal": "signal", "rlxwait": "wait", "sem_acquire": "semaphore",
    "sem_release": "semaphore",
}  # fmt: skip
OTHERS = ("nop", "barrier", "put", "get", "copy", "signal", "wait", "flush", *ALIKE)


@dataclass
class Gpu:
    """What a GPU has."""

    number: int
    sizes: dict[str, int]
    channels: dict[str, list[int]]  # the peer of each, by type
    remote: list[tuple[int, str]]  # GPU and buffer
    semaphores: list[int]  # their first values

    def pair(self, kind: str, channel: int) -> tuple[int, int]:
        """The peer of a channel, and which of the channels to it it is."""
        peer = self.channels[kind][channel]
        return peer, self.channels[kind][:channel].count(peer)


@dataclass
class Block:
    """A thread block: what it may use, and how far it is."""

    number: int
    channels: dict[str, list[int]]
    buffers: dict[str, list[tuple[int, str]]]
    now: list[int] = field(default_factory=list)  # the nodes that end what was done last
    under_way: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))


class Machine:
    """Runs thread blocks one after the other and notes what waits for what."""

    def __init__(self, plan: Plan, finer: int, loops: int) -> None:
        self.plan, self.finer, self.loops = plan, finer, loops
        self.gpus: list[Gpu] = []
        self.signals: dict[tuple, list[int]] = defaultdict(list)
        self.waits: list[tuple[int, tuple, int]] = []
        self.counts: dict[tuple, int] = defaultdict(int)
        self.barriers: dict[tuple, list[tuple[int, int]]] = defaultdict(list)
        self.released: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        self.acquired: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        self.packets: dict[tuple[int, Slot], int] = {}  # who writes a packet
        self.unpacked: list[tuple[int, tuple[Slot, ...]]] = []
        self.part = (0, 1)  # of what the loop at work does: this turn of so many

    def run(self, gpu: Gpu, block: Block, ops: list[Part]) -> None:
        for step, op in enumerate(ops):
            place = Place(gpu.number, block.number, step, op.line)
            if op.word("name") != "pipeline":
                Step(self, gpu, block, op, place).run()
                continue
            for turn in range(self.loops):
                self.part = (turn, self.loops)
                for inner in op.parts("ops"):
                    if inner.word("name") == "pipeline":
                        raise inner.error("a pipeline in a pipeline")
                    Step(self, gpu, block, inner, replace(place, line=inner.line)).run()
            self.part = (0, 1)

    def add(self, node: Node) -> int:
        self.plan.nodes.append(node)
        return len(self.plan.nodes) - 1

    def finish(self) -> None:
        """Fills in what thread blocks wait for."""
        for number, key, count in self.waits:
            given = self.signals.get(key, [])
            node = self.plan.nodes[number]
            if count >= len(given):
                why = f"waits for signal {count} of gpu {key[1]}, which gives {len(given)} on that"
                raise self.plan.refute(node.place, "deadlock", f"{why} {key[0]} channel")
            node.before.append(given[count])
        for members in self.barriers.values():
            for number, size in members:
                node = self.plan.nodes[number]
                if len(members) != size:
                    why = f"a barrier of {size} thread blocks, of which {len(members)} come to it"
                    raise self.plan.refute(node.place, "deadlock", why)
                node.before = [one - 1 for one, _ in members]  # the nodes that come to it
        self._semaphores()
        for number, slots in self.unpacked:
            node = self.plan.nodes[number]
            for slot in slots:
                writer = self.packets.get((node.gpu, slot))
                if writer is None:
                    why = f"waits for a packet in {self.plan.slot(slot)}, which nobody writes"
                    raise self.plan.refute(node.place, "deadlock", why)
                node.before.append(writer)

    def _semaphores(self) -> None:
        for (gpu, which), takers in self.acquired.items():
            givers = self.released[gpu, which]
            first = self.gpus[gpu].semaphores[which]
            if len({block for _, block in givers}) > 1 or len({block for _, block in takers}) > 1:
                where = self.plan.at(self.plan.nodes[takers[0][0]].place)
                why = f"semaphore {which} is not of two thread blocks alone: who waits for whom"
                raise Error(f"{where}: {why} is not known", HINT)
            for count, (number, _) in enumerate(takers):
                if count - first >= len(givers):
                    place = self.plan.nodes[number].place
                    why = f"semaphore {which} is not released so often"
                    raise self.plan.refute(place, "deadlock", why)
                if count >= first:
                    self.plan.nodes[number].before.append(givers[count - first][0])


class Step:
    """One operation of a thread block."""

    def __init__(self, machine: Machine, gpu: Gpu, block: Block, op: Part, place: Place) -> None:
        self.machine, self.gpu, self.block, self.op, self.place = machine, gpu, block, op, place
        self.name = op.word("name")
        self.kind = op.word("channel_type", "memory")

    def run(self) -> None:
        if self.name in SWITCH or self.kind == "switch":
            raise self.op.error(f"'{self.name}' goes through the switch's multicast, for which "
                                "there are no messages between two ranks")  # fmt: skip
        if self.kind not in ("memory", "port"):
            self.kind = "memory"
        if self.name in REDUCTIONS:
            self._reduce(*REDUCTIONS[self.name])
        elif self.name in OTHERS:
            getattr(self, "_" + ALIKE.get(self.name, self.name))()
        else:
            raise self.op.error(f"operation '{self.name}' is not known")

    # --- what is read and written

    def _slots(self, part: Part, buffer: str, gpu: Gpu) -> tuple[Slot, ...]:
        if buffer not in gpu.sizes:
            raise part.error(f"'{buffer}' is no buffer: it has to be i, o or s")
        finer = self.machine.finer
        first, count = part.number("index") * finer, part.number("size") * finer
        if first + count > gpu.sizes[buffer]:
            last, size = (first + count) // finer - 1, gpu.sizes[buffer] // finer
            raise part.error(f"{buffer}[{last}] is beyond the {size} chunks of gpu {gpu.number}")
        if "tbg_info" in self.op.value:
            group = self.op.part("tbg_info")
            own, size = group.number("tb_id"), group.number("tbg_size")
            if own >= size:
                raise group.error(f"there is no thread block {own} in a group of {size}")
            first, count = _part(first, count, own, size)
        first, count = _part(first, count, *self.machine.part)
        return tuple((buffer, first + i) for i in range(count))

    def _local(self, part: Part) -> tuple[Slot, ...]:
        return self._slots(part, part.word("type"), self.gpu)

    def _remote(self, part: Part) -> tuple[Gpu, tuple[Slot, ...]]:
        which = part.number("buffer_id")
        known = self.block.buffers.get(self.kind, [])
        if which >= len(known):
            raise part.error(f"thread block {self.block.number} has no {self.kind} buffer {which}")
        number, buffer = known[which]
        other = self.machine.gpus[number]
        return other, self._slots(part, buffer, other)

    def _pairs(self) -> list[tuple[Part, Part]]:
        sources, targets = self.op.parts("src_buff"), self.op.parts("dst_buff")
        if len(sources) == 1:
            sources = sources * len(targets)
        if len(sources) != len(targets) or not targets:
            raise self.op.error(f"{len(sources)} sources for {len(targets)} targets")
        return list(zip(sources, targets, strict=True))

    # --- nodes

    def _do(self, kind: str, **slots: tuple[Slot, ...]) -> int:
        """Something that the thread block does itself, after what it did before."""
        sizes = {len(one) for one in slots.values()}
        if len(sizes) > 1:
            raise self.op.error("source and target are not of one size")
        number = self.machine.add(Node(kind, self.place, list(self.block.now), **slots))
        self.block.now = [number]
        return number

    def _transfer(
        self, sender: Gpu, source: tuple[Slot, ...], receiver: Gpu, target: tuple[Slot, ...],
        operand: tuple[Slot, ...] = (),
    ) -> tuple[int, int]:  # fmt: skip
        """A message; the one GPU does not take part in it."""
        if len(source) != len(target):
            raise self.op.error("source and target are not of one size")
        if sender is receiver:
            raise self.op.error(f"gpu {sender.number} sends to itself")
        ends = []
        taking = Kind.RECEIVE_REDUCE if operand else Kind.RECEIVE
        for kind, gpu in ((Kind.SEND, sender), (taking, receiver)):
            by = self.gpu.number if gpu is not self.gpu else -1
            place = replace(self.place, gpu=gpu.number, by=by)
            ends.append(self.machine.add(Node(kind, place, list(self.block.now))))
        one, two = (self.machine.plan.nodes[end] for end in ends)
        one.partner, two.partner = ends[1], ends[0]
        one.source, two.target, two.operand = source, target, operand
        return ends[0], ends[1]

    def _note_packets(self, gpu: Gpu, slots: tuple[Slot, ...], number: int) -> None:
        for slot in slots:
            if (gpu.number, slot) in self.machine.packets:
                where = f"{self.machine.plan.slot(slot)} of gpu {gpu.number}"
                raise self.op.error(f"a second packet in {where}: which one is read is not known")
            self.machine.packets[gpu.number, slot] = number

    def _unpack(self, slots: tuple[Slot, ...]) -> None:
        """Whoever reads packets waits for them first."""
        self.machine.unpacked.append((self._do(Kind.WAIT), slots))

    def _send(self, source: tuple[Slot, ...], target: Part, channel: int | None) -> None:
        """A thread block writes through a memory channel itself; a port does so by and by."""
        other, slots = self._remote(target)
        ends = self._transfer(self.gpu, source, other, slots)
        if self.name.endswith("pkt"):
            self._note_packets(other, slots, ends[1])
        if self.kind == "memory" or channel is None:
            self.block.now = [*ends]
        else:
            self.block.under_way[channel] += ends

    # --- operations

    def _nop(self) -> None:
        """Holds the threads of a block together."""

    def _copy(self) -> None:
        for source, target in self._pairs():
            if self.name == "upkt":
                self._unpack(self._local(source))
            number = self._do(Kind.COPY, source=self._local(source), target=self._local(target))
            if self.name == "cpkt":
                self._note_packets(self.gpu, self._local(target), number)

    def _put(self) -> None:
        """Who reads packets waits for them: rppkt, and a port, which sends what is in packets."""
        packets = self.name == "rppkt" or (self.name == "ppkt" and self.kind == "port")
        channels = self._own_channels() if self.kind == "port" else []
        for i, (source, target) in enumerate(self._pairs()):
            if packets:
                self._unpack(self._local(source))
            channel = channels[min(i, len(channels) - 1)] if channels else None
            self._send(self._local(source), target, channel)
        if self.name in ("pws", "pwsf"):
            self._signal()
        if self.name == "pwsf":
            self._flush()

    def _get(self) -> None:
        for source, target in self._pairs():
            other, slots = self._remote(source)
            self.block.now = [*self._transfer(other, slots, self.gpu, self._local(target))]

    def _reduce(self, remote: bool, packets: bool) -> None:
        sources, targets = self.op.parts("src_buff"), self.op.parts("dst_buff")
        if not sources or not targets:
            raise self.op.error(f"'{self.name}' needs a source and a target")
        operand, target = self._local(sources[0]), self._local(targets[0])
        for part in sources[1:]:
            if remote:
                other, slots = self._remote(part)
                self.block.now = [*self._transfer(other, slots, self.gpu, target, operand)]
            else:
                slots = self._local(part)
                if packets:
                    self._unpack(slots)
                self._do(Kind.REDUCE, source=slots, operand=operand, target=target)
            operand = target
        if len(sources) == 1:
            self._do(Kind.COPY, source=operand, target=target)
        further = targets[1:]
        if self.name in ("recpkt", "recspkt") and further:
            slots = self._local(further[0])
            number = self._do(Kind.COPY, source=target, target=slots)
            self._note_packets(self.gpu, slots, number)
            further = further[1:]
        for part in further:
            self._send(target, part, None)

    # --- order

    def _own_channels(self) -> list[int]:
        own = self.block.channels[self.kind]
        found = self.op.numbers("channel_ids")
        if not found or max(found) >= len(own):
            raise self.op.error(f"thread block {self.block.number} has no such {self.kind} channel")
        return [own[one] for one in found]

    def _signal(self) -> None:
        for channel in self._own_channels():
            peer, which = self.gpu.pair(self.kind, channel)
            before = self.block.now + self.block.under_way[channel]
            number = self.machine.add(Node(Kind.WAIT, self.place, before))
            self.machine.signals[self.kind, self.gpu.number, peer, which].append(number)

    def _wait(self) -> None:
        for channel in self._own_channels():
            peer, which = self.gpu.pair(self.kind, channel)
            key = (self.kind, peer, self.gpu.number, which)
            self.machine.waits.append((self._do(Kind.WAIT), key, self.machine.counts[key]))
            self.machine.counts[key] += 1

    def _flush(self) -> None:
        for channel in self._own_channels():
            self.block.now = self.block.now + self.block.under_way.pop(channel, [])

    def _barrier(self) -> None:
        self._do(Kind.WAIT)
        which = self.op.number("barrier_id")
        count = self.machine.counts["barrier", self.gpu.number, self.block.number, which]
        self.machine.counts["barrier", self.gpu.number, self.block.number, which] += 1
        number = self._do(Kind.WAIT)
        key = (self.gpu.number, which, count)
        self.machine.barriers[key].append((number, self.op.number("num_threadblocks")))

    def _semaphore(self) -> None:
        table = self.machine.acquired if self.name == "sem_acquire" else self.machine.released
        for which in self.op.numbers("semaphore_ids"):
            if which >= len(self.gpu.semaphores):
                raise self.op.error(f"gpu {self.gpu.number} has no semaphore {which}")
            table[self.gpu.number, which].append((self._do(Kind.WAIT), self.block.number))


def _part(first: int, count: int, which: int, of: int) -> tuple[int, int]:
    begin, end = count * which // of, count * (which + 1) // of
    return first + begin, end - begin
