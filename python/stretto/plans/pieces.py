# SPDX-License-Identifier: BSD-3-Clause
"""Stretto's schedules as single transfers between neighbouring chunks, for those who write plans.

A plan has no messages of several ranges: these are cut where either end, or what is combined, is
not in one piece.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from .. import _core
from ..errors import Error
from .nodes import COLLECTIVES, INPUT_IN_ONE_PART, OUTPUT_IN_ONE_PART, Kind, Slot

WORDS = {"bcast": "broadcast", "reduce_scatter": "reducescatter"}  # of plans, where not Stretto's
EXPRESSIBLE = tuple(COLLECTIVES.values())


@dataclass(frozen=True)
class Span:
    """Chunks of a buffer, one behind the other."""

    buffer: str
    first: int
    count: int

    @property
    def slots(self) -> list[Slot]:
        return [(self.buffer, self.first + i) for i in range(self.count)]


@dataclass
class Piece:
    """One thing that a GPU does; `kind` is that of a Node."""

    kind: str
    peer: int = -1
    source: Span | None = None
    target: Span | None = None
    operand: Span | None = None
    number: int = -1  # of a message's piece, among all between the two GPUs

    @property
    def reads(self) -> list[Slot]:
        return [slot for one in (self.source, self.operand) if one for slot in one.slots]

    @property
    def writes(self) -> list[Slot]:
        return self.target.slots if self.target else []


@dataclass(frozen=True)
class Sizes:
    """Of all GPUs, in chunks."""

    collective: str
    ranks: int
    root: int
    inputs: int
    outputs: int
    scratch: list[int]

    @property
    def word(self) -> str:
        """The collective, as plans name it."""
        return WORDS.get(self.collective, self.collective)

    @property
    def per_loop(self) -> int:
        """Chunks in what a call's count says: for a gather and a scatter a part, else the whole."""
        whole = self.collective not in ("gather", "scatter")
        return max(self.inputs, self.outputs) if whole else min(self.inputs, self.outputs)

    def own_part(self, buffer: str) -> int:
        """How many chunks a buffer has that holds a rank's part of the vector alone; else 0."""
        if buffer == "i" and self.collective in INPUT_IN_ONE_PART:
            return self.inputs
        return self.outputs if buffer == "o" and self.collective in OUTPUT_IN_ONE_PART else 0


def sizes_of(schedules: list[_core.Schedule]) -> Sizes:
    """Raises Error for what no plan can say."""
    first = schedules[0]
    name = first.algorithm.partition("/")[0]
    if name not in EXPRESSIBLE:
        raise Error(f"{name} cannot be a plan: the form has no word for it",
                    f"{', '.join(EXPRESSIBLE)} can")  # fmt: skip
    parts = first.parts.first or list(range(first.ranks + 1))
    if len({b - a for a, b in pairwise(parts)}) > 1:
        raise Error(f"{first.algorithm}: the parts of the ranks have different numbers of blocks",
                    "in a plan all chunks are of one size")  # fmt: skip
    inputs = parts[1] if name in INPUT_IN_ONE_PART else first.blocks
    outputs = parts[1] if name in OUTPUT_IN_ONE_PART else first.blocks
    scratch = [len(one.scratch) for one in schedules]
    return Sizes(name, first.ranks, first.root, inputs, outputs, scratch)


def _places(sizes: Sizes, rank: int, ranges: list[_core.Range], read: bool = False) -> list[Slot]:
    """As the plan counts them: of a part there are its own chunks alone. What the root of a bcast
    reads stands in its input, which Stretto's schedules do not have."""
    found = []
    for one in ranges:
        buffer = {_core.Buffer.input: "i", _core.Buffer.output: "o"}.get(one.buffer, "s")
        if read and buffer == "o" and sizes.collective == "bcast" and rank == sizes.root:
            buffer = "i"
        first = one.first - rank * sizes.own_part(buffer)
        found += [(buffer, first + i) for i in range(one.count)]
    return found


def _spans(*lists: list[Slot]) -> list[list[Span | None]]:
    """Cut where any of the lists is not in one piece; empty lists stay away."""
    count = max(map(len, lists))
    cuts = [0]
    for i in range(1, count):
        if any(one and one[i] != (one[i - 1][0], one[i - 1][1] + 1) for one in lists):
            cuts.append(i)
    cuts.append(count)
    ends = list(pairwise(cuts)) if count else []
    return [[Span(*one[a], b - a) if one else None for one in lists] for a, b in ends]


def _ends(schedules: list[_core.Schedule], sizes: Sizes) -> tuple[dict, dict]:
    """Of each message, by its two GPUs, in order: what is sent; and the action that takes it."""
    sent, taken = defaultdict(list), defaultdict(list)
    for one in schedules:
        for round_ in one.rounds:
            for send in round_.sends:
                sent[one.rank, send.peer].append(_places(sizes, one.rank, send.blocks, True))
            for action in round_.actions:
                if action.peer >= 0:
                    target = _places(sizes, one.rank, action.target)
                    operand = _places(sizes, one.rank, action.operand, True)
                    taken[action.peer, one.rank].append((target, operand))
    return sent, taken


class Cutter:
    """Writes the pieces of all GPUs, in an order in which they could be done one by one."""

    def __init__(self, schedules: list[_core.Schedule]) -> None:
        self.schedules, self.sizes = schedules, sizes_of(schedules)
        sent, taken = _ends(schedules, self.sizes)
        # The messages that are still to come, by end: their pieces, numbered.
        self.messages: dict[tuple, Iterator[list[tuple[int, list[Span | None]]]]] = {}
        for pair, sources in sent.items():
            numbers = itertools.count()
            cut = [_spans(a, *b) for a, b in zip(sources, taken[pair], strict=True)]
            numbered = [[(next(numbers), spans) for spans in message] for message in cut]
            for way in ("sent", "taken"):
                self.messages[(way, *pair)] = iter(numbered)

    def all(self) -> list[list[Piece]]:
        """For each GPU."""
        found = [
            [piece for round_ in one.rounds for piece in self._round(one.rank, round_)]
            for one in self.schedules
        ]
        if self.sizes.collective == "bcast":  # the root's output is filled too
            whole = [Span(buffer, 0, self.sizes.outputs) for buffer in "io"]
            found[self.sizes.root].append(Piece(Kind.COPY, source=whole[0], target=whole[1]))
        return found

    def _round(self, rank: int, round_: _core.Round) -> list[Piece]:
        found = []
        for send in round_.sends:
            for number, (source, _, _) in next(self.messages["sent", rank, send.peer]):
                found.append(Piece(Kind.SEND, send.peer, source=source, number=number))
        for action in round_.actions:
            found += self._action(rank, action)
        return found

    def _action(self, rank: int, action: _core.Action) -> list[Piece]:
        if action.peer >= 0:
            kind = Kind.RECEIVE_REDUCE if action.operand else Kind.RECEIVE
            return [
                Piece(kind, action.peer, target=target, operand=operand, number=number)
                for number, (_, target, operand) in next(self.messages["taken", action.peer, rank])
            ]
        source = _places(self.sizes, rank, action.source, True)
        operand = _places(self.sizes, rank, action.operand, True)
        target = _places(self.sizes, rank, action.target)
        spans = _spans(source, target, operand)
        if not operand:
            return [Piece(Kind.COPY, source=a, target=b) for a, b, _ in spans]
        return [one for a, b, c in spans for one in _reduction(a, b, c)]


def _reduction(source: Span, target: Span, operand: Span) -> list[Piece]:
    """Plans combine into one of the two operands."""
    if target == source:
        source, operand = operand, source
    if target == operand:
        return [Piece(Kind.REDUCE, source=source, target=target, operand=target)]
    if set(source.slots) & set(target.slots):
        raise Error("a reduction writes a part of what it reads", "no plan can say that")
    return [Piece(Kind.COPY, source=operand, target=target),
            Piece(Kind.REDUCE, source=source, target=target, operand=target)]  # fmt: skip
