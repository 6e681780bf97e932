# SPDX-License-Identifier: BSD-3-Clause
"""The schedules of all ranks as few programs: peers and blocks are counted from the own rank."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .. import _core
from .loops import Item, Loop, centred, find_loops

Ranges = tuple[tuple[str, int, int], ...]  # buffer, first slot, how many

BUFFERS = {_core.Buffer.input: "INPUT", _core.Buffer.output: "OUTPUT", _core.Buffer.scratch: "WORK"}


class Operation(NamedTuple):
    """A message, or a thing to do: its ranges are the message, or target, source and operand."""

    kind: str
    side: str
    peer: int | None
    lists: tuple[Ranges, ...]


@dataclass(frozen=True)
class Part:
    """One rank's schedule."""

    rank: int
    slots: int  # of the input and of the output
    scratch: list[int]
    rounds: list[list[Operation]]


def _plain(ranges: Sequence[_core.Range]) -> Ranges:
    return tuple((BUFFERS[one.buffer], one.first, one.count) for one in ranges)


def _operation(action: _core.Action) -> Operation:
    kind = action.kind.name
    lists = [action.target]
    lists += [action.source] * (kind in ("copy", "reduce"))
    lists += [action.operand] * kind.endswith("reduce")
    side = action.side.name.upper() if kind.endswith("reduce") else ""
    peer = action.peer if kind.startswith("receive") else None
    return Operation(kind, side, peer, tuple(map(_plain, lists)))


def part_of(schedule: _core.Schedule) -> Part:
    rounds = []
    for one in schedule.rounds:
        sends = [Operation("send", "", send.peer, (_plain(send.blocks),)) for send in one.sends]
        rounds.append(sends + [_operation(action) for action in one.actions])
    return Part(schedule.rank, schedule.blocks, list(schedule.scratch), rounds)


@dataclass(frozen=True)
class Program:
    """What some ranks do. The body of each loop are rounds; the shape of a round are loops of
    operations, and its numbers are theirs."""

    rounds: tuple[Loop, ...]
    holds: tuple[int, ...] = ()  # the block of each slot of the scratch, counted as blocks are


class Encoder:
    """Counts peers from the own place among all ranks, and blocks likewise or from 0.

    `blocks` is "0", "me" or "order": block b as it is, as so many behind the own place, or as that
    of the rank that stands so many places behind.
    """

    def __init__(self, order: Sequence[int], slots: int, blocks: str) -> None:
        self.ranks, self.slots, self.blocks = len(order), slots, blocks
        self.unit = slots // self.ranks
        self.places = {rank: place for place, rank in enumerate(order)}

    def program(self, part: Part, holds: bool) -> Program:
        """`holds`: does it matter which blocks stand in the scratch?"""
        me = self.places[part.rank]
        rounds = tuple(find_loops([self._round(me, one) for one in part.rounds]))
        held = [self._block(me, block)[0] for block in part.scratch] if holds else []
        return Program(rounds, tuple(held))

    def _round(self, me: int, operations: Sequence[Operation]) -> Item:
        loops = find_loops([self._item(me, one) for one in operations])
        shape = tuple(
            (loop.times, tuple((i.shape, i.moduli) for i in loop.body), loop.steps)
            for loop in loops
        )
        items = [item for loop in loops for item in loop.body]
        values = tuple(value for item in items for value in item.values)
        return Item(shape, values, tuple(m for item in items for m in item.moduli))

    def _item(self, me: int, operation: Operation) -> Item:
        values: list[int] = []
        moduli: list[int] = []
        if operation.peer is not None:
            values.append(centred(self.places[operation.peer] - me, self.ranks))
            moduli.append(self.ranks)
        lists = []
        for ranges in operation.lists:
            names = []
            for buffer, (first, modulus), count in self._ranges(me, ranges):
                values += [first, count]
                moduli += [modulus, 0]
                names.append((buffer, modulus != 0))
            lists.append(tuple(names))
        return Item((operation.kind, operation.side, *lists), tuple(values), tuple(moduli))

    def _block(self, me: int, block: int) -> tuple[int, int]:
        """How the block is counted, and the modulus of that."""
        if self.blocks == "0":
            return block, 0
        place = self.places[block] if self.blocks == "order" else block
        return centred(place - self.unit * me, self.slots), self.slots

    def _ranges(self, me: int, ranges: Ranges) -> Iterator[tuple[str, tuple[int, int], int]]:
        joined: list[tuple[str, int, int]] = []
        for buffer, first, count in ranges:
            around = first == 0 and self.blocks == "me" and buffer != "WORK" and joined
            if around and joined[-1][0] == buffer and sum(joined[-1][1:]) == self.slots:
                joined[-1] = (*joined[-1][:2], joined[-1][2] + count)
            else:
                joined.append((buffer, first, count))
        for buffer, first, count in joined:
            if buffer == "WORK" or (first, count) == (0, self.slots):
                yield buffer, (first, 0), count
            elif self.blocks == "order":
                for block in range(first, first + count):
                    yield buffer, self._block(me, block), 1
            else:
                yield buffer, self._block(me, first), count


@dataclass(frozen=True)
class Programs:
    """`of[root][rank]`: the number of its program; where there is no root there is one row."""

    blocks: str  # as in Encoder
    own: str  # in C: the first block of the own place
    programs: list[Program]
    of: list[list[int]]


def find_programs(parts: Sequence[Sequence[Part]], order: Sequence[int], holds: bool) -> Programs:
    """Of all ranks, for each root; blocks are counted in the way that makes the fewest programs."""
    slots, ranks = parts[0][0].slots, len(order)
    ways = ["0"]
    ways += ["me"] * (slots % ranks == 0)
    ways += ["order"] * (slots == ranks and list(order) != list(range(ranks)))
    found = []
    for way in ways:
        encoder = Encoder(order, slots, way)
        numbers: dict[Program, int] = {}
        of = [
            [numbers.setdefault(encoder.program(one, holds), len(numbers)) for one in row]
            for row in parts
        ]
        own = "me" if encoder.unit == 1 else f"{encoder.unit} * me"
        found.append(Programs(way, own, list(numbers), of))
    return min(found, key=lambda one: len(one.programs))
