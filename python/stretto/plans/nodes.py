# SPDX-License-Identifier: BSD-3-Clause
"""A plan for GPUs as a graph: what its thread blocks do, and what has to wait for what.

Both forms that can be read (msccl.py, mscclpp.py) are turned into this; everything after that
goes by it alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from ..errors import Error, FailureError

Slot = tuple[str, int]  # a chunk of a buffer of one GPU: ("i", 3); i, o and s are the buffers


class Kind(str, Enum):
    """What a node does."""

    COPY = "copy"  # target = source
    REDUCE = "reduce"  # target = source . operand
    SEND = "send"  # source leaves
    RECEIVE = "receive"  # target is the message
    RECEIVE_REDUCE = "receive_reduce"  # target = message . operand
    WAIT = "wait"  # nothing, but an order


# The collectives by the names that plans give them.
COLLECTIVES = {
    "allreduce": "allreduce",
    "allgather": "allgather",
    "reducescatter": "reduce_scatter",
    "alltoall": "alltoall",
    "broadcast": "bcast",
    "reduce": "reduce",
    "gather": "gather",
    "scatter": "scatter",
}
IN_PARTS = ("allgather", "reduce_scatter", "gather", "scatter")  # of the vector, one for each rank
INPUT_IN_ONE_PART, OUTPUT_IN_ONE_PART = ("allgather", "gather"), ("reduce_scatter", "scatter")


def chunks_of(
    collective: str, ranks: int, sizes: list[tuple[int, int]], error: Callable[[str], Error]
) -> int:
    """Of the vector, or of a part where there are parts: by what all GPUs say of their input and
    output. In place one of the two has no chunks of its own. Raises what `error` makes."""
    chunks = large = max((max(one) for one in sizes), default=0)
    if collective == "alltoall" or collective in IN_PARTS:
        chunks = large // ranks if large % ranks == 0 else 0
    if collective in IN_PARTS and not chunks:
        own = 0 if collective in INPUT_IN_ONE_PART else 1
        chunks = max((one[own] for one in sizes), default=0)
    if chunks < 1:
        raise error(f"{large} chunks for {ranks} GPUs")
    return chunks


HINT = "docs/plans.md says what of these forms is read"


class RefutedError(FailureError):
    """The plan is wrong whatever the data; `name` says in how far, as a Refused's does, and
    `message` where and why."""

    def __init__(self, plan: "Plan", where: str, name: str, why: str) -> None:
        self.plan, self.name, self.message = plan, name, f"{where}: {name}: {why}"
        super().__init__(self.message, "GPUs, thread blocks and steps count from 0")


@dataclass(frozen=True)
class Place:
    """Where in the plan something stands."""

    gpu: int
    block: int
    step: int
    line: int = 0  # 0: not known
    by: int = -1  # the GPU whose step it is, where that reaches into the memory of `gpu`

    @property
    def far(self) -> bool:
        return self.by >= 0

    def __str__(self) -> str:
        gpu = self.by if self.far else self.gpu
        where = f", in the memory of gpu {self.gpu}" if self.far else ""
        return f"gpu {gpu}, thread block {self.block}, step {self.step}{where}"


@dataclass
class Node:
    """One thing that a thread block does. A step that receives and sends is two of them."""

    kind: Kind
    place: Place
    before: list[int]  # nodes that have ended when it begins
    source: tuple[Slot, ...] = ()
    operand: tuple[Slot, ...] = ()
    target: tuple[Slot, ...] = ()
    partner: int = -1  # the other end of its message
    gpu: int = field(init=False)

    def __post_init__(self) -> None:
        self.gpu = self.place.gpu

    @property
    def receives(self) -> bool:
        return self.kind in (Kind.RECEIVE, Kind.RECEIVE_REDUCE)

    @property
    def reads(self) -> tuple[Slot, ...]:
        return self.source + self.operand


@dataclass
class Plan:
    """All thread blocks of all GPUs."""

    path: str
    form: str  # "MSCCL" or "MSCCL++"
    name: str
    collective: str  # as Stretto names it
    ranks: int
    chunks: int  # of the vector, or of each rank's part where there are parts
    in_place: bool
    out_of_place: bool
    root: int = 0  # found in the steps: roots.py
    finer: int = 1  # chunks here for one of the file's, of which thread blocks do parts
    nodes: list[Node] = field(default_factory=list)

    def at(self, place: Place) -> str:
        """For the beginning of a sentence: file and line, then the step."""
        line = f":{place.line}" if place.line else ""
        return f"{self.path}{line}: {place}"

    def refute(self, place: Place, name: str, why: str) -> RefutedError:
        return RefutedError(self, self.at(place), name, why)

    def slot(self, slot: Slot) -> str:
        """In the words of the file."""
        return f"{slot[0]}[{slot[1] // self.finer}]{self._part(slot[1])}"

    def chunk(self, number: int) -> str:
        return f"chunk {number // self.finer} of the vector{self._part(number)}"

    def _part(self, number: int) -> str:
        if self.finer == 1:
            return ""
        return f" (part {number % self.finer + 1} of {self.finer})"
