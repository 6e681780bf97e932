# SPDX-License-Identifier: BSD-3-Clause
"""Schedules as a plan in MSCCL++'s JSON.

A GPU has one thread block, which does its rounds one after the other. A message is put where it
belongs, if nothing of the receiver was there before, else into scratch of its own; a signal follows
it. Signals at the beginning say that a GPU has begun, so that its memory may be written.
"""

import json

from .. import _core
from .nodes import Kind, Slot
from .pieces import Cutter, Piece, Span


class Landing:
    """Where the pieces of messages arrive, by sender, receiver and number."""

    def __init__(self, cutter: Cutter, all_: list[list[Piece]]) -> None:
        self.scratch = list(cutter.sizes.scratch)
        self.at: dict[tuple[int, int, int], Span] = {}
        for gpu, pieces in enumerate(all_):
            touched: set[Slot] = set()
            for piece in pieces:
                self._take(gpu, piece, touched)
                touched.update(piece.reads, piece.writes)

    def _take(self, gpu: int, piece: Piece, touched: set[Slot]) -> None:
        if piece.kind not in (Kind.RECEIVE, Kind.RECEIVE_REDUCE):
            return
        span = piece.target
        if piece.kind == Kind.RECEIVE_REDUCE or touched.intersection(span.slots):
            span = Span("s", self.scratch[gpu], span.count)
            self.scratch[gpu] += span.count
        self.at[piece.peer, gpu, piece.number] = span


class Gpu:
    """Writes what one GPU does."""

    def __init__(self, number: int, pieces: list[Piece], landing: Landing) -> None:
        self.number, self.landing = number, landing
        self.sends_to = sorted({one.peer for one in pieces if one.kind == Kind.SEND})
        self.hears = sorted({one.peer for one in pieces if one.kind != Kind.SEND and one.peer >= 0})
        self.peers = sorted({*self.sends_to, *self.hears})
        self.buffers: list[tuple[int, str]] = []
        self.ops: list[dict] = []
        self._signals("rlxsignal", self.hears)
        self._signals("rlxwait", self.sends_to)
        for piece in pieces:
            self._piece(piece)

    def _signals(self, name: str, peers: list[int]) -> None:
        if peers:
            ids = [self.peers.index(one) for one in peers]
            self._do(name, channel_ids=ids, channel_type="memory")

    def _buffer(self, peer: int, name: str) -> int:
        if (peer, name) not in self.buffers:
            self.buffers.append((peer, name))
        return self.buffers.index((peer, name))

    def _piece(self, piece: Piece) -> None:
        if piece.kind == Kind.SEND:
            span = self.landing.at[self.number, piece.peer, piece.number]
            buffer = self._buffer(piece.peer, span.buffer)
            target = {"buffer_id": buffer, "index": span.first, "size": span.count}
            way = {"channel_ids": [self.peers.index(piece.peer)], "channel_type": "memory"}
            self._do("put", src_buff=[_local(piece.source)], dst_buff=[target], **way)
            self._signals("signal", [piece.peer])
            return
        source = piece.source
        if piece.peer >= 0:
            self._signals("wait", [piece.peer])
            source = self.landing.at[piece.peer, self.number, piece.number]
            if source == piece.target:
                return
        if piece.kind in (Kind.COPY, Kind.RECEIVE):
            self._do("copy", src_buff=[_local(source)], dst_buff=[_local(piece.target)])
        else:
            both = [_local(piece.operand), _local(source)]
            self._do("re", src_buff=both, dst_buff=[_local(piece.target)], reduce_op="sum")

    def _do(self, name: str, **more: object) -> None:
        """One operation; then the threads of the block wait for each other."""
        self.ops += [{"name": name, **more}, {"name": "nop"}]

    def value(self, inputs: int, outputs: int) -> dict:
        channels = {"channel_type": "memory", "channel_ids": list(range(len(self.peers)))}
        refs = {"access_channel_type": "memory",
                "remote_buffer_ids": list(range(len(self.buffers)))}  # fmt: skip
        block = {"id": 0, "ops": self.ops, "channels": [channels], "remote_buffer_refs": [refs]}
        return {
            "id": self.number, "input_chunks": inputs, "output_chunks": outputs,
            "scratch_chunks": self.landing.scratch[self.number],
            "threadblocks": [block],
            "channels": [{"channel_type": "memory", "connected_to": self.peers}],
            "remote_buffers": [{"rank": peer, "type": name, "access_channel_types": ["memory"]}
                               for peer, name in self.buffers],
            "semaphores": [],
        }  # fmt: skip


def _local(span: Span) -> dict:
    return {"type": span.buffer, "index": span.first, "size": span.count}


def mscclpp(schedules: list[_core.Schedule]) -> str:
    """The plan of the schedules of all ranks; raises Error for what no plan can say."""
    cutter = Cutter(schedules)
    sizes, all_ = cutter.sizes, cutter.all()
    landing = Landing(cutter, all_)
    gpus = [Gpu(number, pieces, landing) for number, pieces in enumerate(all_)]
    plan = {
        "name": schedules[0].algorithm.partition("/")[2],
        "collective": sizes.word,
        "protocol": "Simple",
        "inplace": False,
        "reuse_resources": False,
        "gpus": [gpu.value(sizes.inputs, sizes.outputs) for gpu in gpus],
        "num_threads_per_block": 1024,
        "use_double_scratch_buffer": False,
        "buffer_alignment": 16,
    }
    return json.dumps(plan, indent=1) + "\n"
