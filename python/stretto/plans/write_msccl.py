# SPDX-License-Identifier: BSD-3-Clause
"""Schedules as a plan in MSCCL's XML.

A GPU has a thread block for each GPU that it sends to, for each that it receives from, and one for
work of its own. A step waits for those of other thread blocks that touch the same chunks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

from .. import _core
from .nodes import Kind
from .pieces import Cutter, Piece, Sizes

TYPES = {
    Kind.SEND: "s", Kind.RECEIVE: "r", Kind.RECEIVE_REDUCE: "rrc", Kind.COPY: "cpy",
    Kind.REDUCE: "re",
}  # fmt: skip
Step = tuple[int, int]  # thread block, step


@dataclass
class Line:
    """A step that is to be written; no piece: it only waits."""

    piece: Piece | None
    waits: Step | None
    awaited: bool = False


@dataclass
class Block:
    """A thread block; `known` has how far it knows other ones to be."""

    send: int
    receive: int
    lines: list[Line] = field(default_factory=list)
    known: dict[int, int] = field(default_factory=dict)


class Gpu:
    """Deals the pieces of one GPU out to thread blocks."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.of: dict[tuple[str, int], int] = {}
        self.writer: dict[tuple[str, int], Step] = {}
        self.readers: dict[tuple[str, int], list[Step]] = {}

    def _block(self, piece: Piece) -> int:
        way = "send" if piece.kind == Kind.SEND else "receive" if piece.peer >= 0 else "own"
        if (way, piece.peer) not in self.of:
            self.of[way, piece.peer] = len(self.blocks)
            self.blocks.append(Block(piece.peer if way == "send" else -1,
                                     piece.peer if way == "receive" else -1))  # fmt: skip
        return self.of[way, piece.peer]

    def _before(self, piece: Piece) -> Iterator[Step]:
        for slot in piece.reads + piece.writes:
            if slot in self.writer:
                yield self.writer[slot]
        for slot in piece.writes:
            yield from self.readers.get(slot, ())

    def add(self, piece: Piece) -> None:
        number = self._block(piece)
        block = self.blocks[number]
        waits: dict[int, int] = {}
        for other, step in self._before(piece):
            if other != number and step > max(block.known.get(other, -1), waits.get(other, -1)):
                waits[other] = step
        block.known |= waits
        found: list[Step | None] = [*waits.items()] or [None]
        for one in found[:-1]:
            block.lines.append(Line(None, one))
        block.lines.append(Line(piece, found[-1]))
        for other, step in waits.items():
            self.blocks[other].lines[step].awaited = True
        here = (number, len(block.lines) - 1)
        for slot in piece.writes:
            self.writer[slot] = here
            self.readers[slot] = []
        for slot in piece.reads:
            if slot not in piece.writes:
                self.readers.setdefault(slot, []).append(here)


def _step(number: int, line: Line) -> str:
    piece = line.piece
    source = target = None
    if piece:
        source, target = piece.source or piece.operand, piece.target
        source, target = source or target, target or source
    where = [("i", -1, 0) if one is None else (one.buffer, one.first, one.count)
             for one in (source, target)]  # fmt: skip
    block, step = line.waits or (-1, -1)
    return (
        f'      <step s="{number}" type="{TYPES[piece.kind] if piece else "nop"}" '
        f'srcbuf="{where[0][0]}" srcoff="{where[0][1]}" dstbuf="{where[1][0]}" '
        f'dstoff="{where[1][1]}" cnt="{where[0][2]}" depid="{block}" deps="{step}" '
        f'hasdep="{int(line.awaited)}"/>\n'
    )


def _gpu(number: int, gpu: Gpu, sizes: Sizes) -> Iterator[str]:
    yield (
        f'  <gpu id="{number}" i_chunks="{sizes.inputs}" o_chunks="{sizes.outputs}" '
        f's_chunks="{sizes.scratch[number]}">\n'
    )
    for i, block in enumerate(gpu.blocks):
        yield f'    <tb id="{i}" send="{block.send}" recv="{block.receive}" chan="0">\n'
        for step, line in enumerate(block.lines):
            yield _step(step, line)
        yield "    </tb>\n"
    yield "  </gpu>\n"


def msccl(schedules: list[_core.Schedule]) -> str:
    """The plan of the schedules of all ranks; raises Error for what no plan can say."""
    cutter = Cutter(schedules)
    sizes = cutter.sizes
    lines = [
        f"<algo name={quoteattr(schedules[0].algorithm.partition('/')[2])} "
        f'proto="Simple" nchannels="1" nchunksperloop="{sizes.per_loop}" '
        f'ngpus="{sizes.ranks}" coll="{sizes.word}" inplace="0" outofplace="1" '
        'minBytes="0" maxBytes="0">\n'
    ]
    for number, pieces in enumerate(cutter.all()):
        gpu = Gpu()
        for piece in pieces:
            gpu.add(piece)
        lines += _gpu(number, gpu, sizes)
    return "".join([*lines, "</algo>\n"])
