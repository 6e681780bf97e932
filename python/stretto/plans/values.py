# SPDX-License-Identifier: BSD-3-Clause
"""Which block of the vector stands where: a plan moves chunks without saying whose they are."""

from dataclasses import dataclass, field

from ..errors import Error
from .nodes import INPUT_IN_ONE_PART, OUTPUT_IN_ONE_PART, Kind, Node, Plan, RefutedError, Slot

MOST = 1 << 22  # chunks in the buffers of all GPUs


class Layout:
    """What the slots of `i` and `o` mean in a collective. Blocks count as Stretto counts them, but
    that in an alltoall each pair of ranks has `chunks` of them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        c, p = plan.chunks, plan.ranks
        self.sizes = {
            "allreduce": (c, c), "allgather": (c, c * p), "reduce_scatter": (c * p, c),
            "alltoall": (c * p, c * p), "bcast": (c, c), "reduce": (c, c),
            "gather": (c, c * p), "scatter": (c * p, c),
        }[plan.collective]  # fmt: skip
        if p * max(self.sizes) > MOST:
            raise Error(f"{plan.path}: {max(self.sizes)} chunks on each of {p} GPUs",
                        f"a plan may have {MOST} in all")  # fmt: skip

    @property
    def outputs(self) -> list[Slot]:
        return [("o", k) for k in range(self.sizes[1])]

    def given(self, gpu: int) -> dict[Slot, int]:
        """The blocks that stand in the input."""
        if self.plan.collective in ("bcast", "scatter") and gpu != self.plan.root:
            return {}
        own = self.plan.collective in (*INPUT_IN_ONE_PART, "alltoall")
        first = gpu * self.sizes[0] if own else 0
        return {("i", k): first + k for k in range(self.sizes[0])}

    def wanted(self, gpu: int) -> dict[Slot, int]:
        """The blocks that have to stand in the output in the end."""
        if self.plan.collective in ("reduce", "gather") and gpu != self.plan.root:
            return {}
        return {slot: self._output_block(gpu, slot[1]) for slot in self.outputs}

    def same(self, gpu: int) -> dict[Slot, Slot]:
        """In place: slots that are another name for a slot. One name of each is kept."""
        c = self.plan.chunks
        if self.plan.collective in OUTPUT_IN_ONE_PART:
            return {("o", k): ("i", gpu * c + k) for k in range(c)}
        shift = gpu * c if self.plan.collective in INPUT_IN_ONE_PART else 0
        return {("i", k): ("o", shift + k) for k in range(self.sizes[0])}

    def _output_block(self, gpu: int, k: int) -> int:
        c, p = self.plan.chunks, self.plan.ranks
        if self.plan.collective in OUTPUT_IN_ONE_PART:
            return gpu * c + k
        return (k // c * p + gpu) * c + k % c if self.plan.collective == "alltoall" else k


Value = tuple[int, bool, int]  # the block, whether it still is the input, the least rank in it


@dataclass
class Values:
    """For every node, the blocks that it reads as source, as operand, and that it writes; and of
    what it reads, whether it still is the input.

    Operands go by the least rank that is in them, so that all GPUs that combine the same come to
    the same bits: plans leave the order open."""

    source: list[list[int]]
    operand: list[list[int]]
    untouched: list[list[bool]]  # of source, then of operand
    least: list[list[int]]  # of each chunk of the source, or message: the least rank in it
    swapped: list[bool]  # is the operand the left one?
    at_end: list[dict[Slot, Value]]  # of each GPU
    writer: dict[tuple[int, Slot], int]  # the node that wrote last
    mixed: list[int] = field(default_factory=list)  # nodes of which that differs between chunks


def aliases(plan: Plan, in_place: bool) -> list[dict[Slot, Slot]]:
    layout = Layout(plan)
    return [layout.same(gpu) if in_place else {} for gpu in range(plan.ranks)]


def follow(plan: Plan, order: list[int], in_place: bool) -> Values:
    """Raises RefutedError where a slot holds nothing, or the wrong block."""
    layout = Layout(plan)
    same = aliases(plan, in_place)
    held: list[dict[Slot, Value]] = []
    for gpu in range(plan.ranks):
        given = layout.given(gpu).items()
        held.append({same[gpu].get(slot, slot): (block, True, gpu) for slot, block in given})
    count = len(plan.nodes)
    values = Values([[]] * count, [[]] * count, [[]] * count, [[]] * count, [False] * count, held,
                    {})  # fmt: skip
    for number in order:
        _step(plan, number, values, same)
    for gpu in range(plan.ranks):
        _check_end(plan, gpu, layout.wanted(gpu), values, same[gpu])
    return values


def _read(
    plan: Plan, node: Node, slots: tuple[Slot, ...], values: Values, alias: dict[Slot, Slot]
) -> list[Value]:
    found = []
    for slot in slots:
        value = values.at_end[node.gpu].get(alias.get(slot, slot))
        if value is None:
            verb = "sends" if node.kind == Kind.SEND and not node.place.far else "reads"
            why = f"{verb} {plan.slot(slot)}, which holds nothing"
            raise plan.refute(node.place, "never written", why)
        found.append(value)
    return found


def _step(plan: Plan, number: int, values: Values, same: list[dict[Slot, Slot]]) -> None:
    node = plan.nodes[number]
    alias = same[node.gpu]
    source = _read(plan, node, node.source, values, alias)
    operand = _read(plan, node, node.operand, values, alias)
    values.untouched[number] = [value[1] for value in source + operand]
    values.operand[number] = [value[0] for value in operand]
    if node.receives:
        values.source[number] = values.source[node.partner]
        values.least[number] = values.least[node.partner]
    else:
        values.source[number] = [value[0] for value in source]
        values.least[number] = [value[2] for value in source]
    for arriving, standing, slot in zip(values.source[number], values.operand[number],
                                        node.operand, strict=False):  # fmt: skip
        if arriving != standing:
            both = f"{plan.chunk(arriving)} with {plan.chunk(standing)}"
            why = f"combines {both}, which stands in {plan.slot(slot)}"
            raise plan.refute(node.place, "wrong chunk", why)
    least = values.least[number]
    if operand:
        swapped = {value[2] < other for value, other in zip(operand, least, strict=True)}
        if len(swapped) > 1:
            values.mixed.append(number)
        values.swapped[number] = swapped == {True}
        least = [min(value[2], other) for value, other in zip(operand, least, strict=True)]
    written = zip(node.target, values.source[number], least, strict=False)  # sends write nothing
    for slot, block, one in written:
        kept = alias.get(slot, slot)
        values.at_end[node.gpu][kept] = (block, False, one)
        values.writer[node.gpu, kept] = number


def _check_end(
    plan: Plan, gpu: int, wanted: dict[Slot, int], values: Values, alias: dict[Slot, Slot]
) -> None:
    for slot, block in wanted.items():
        kept = alias.get(slot, slot)
        held = values.at_end[gpu].get(kept)
        if held and held[0] == block:
            continue
        what = plan.chunk(held[0]) if held else "nothing"
        why = f"{plan.slot(slot)} holds {what} in the end, not {plan.chunk(block)}"
        writer = values.writer.get((gpu, kept))
        if writer is not None:
            raise plan.refute(plan.nodes[writer].place, "wrong result", why)
        raise RefutedError(plan, f"{plan.path}: gpu {gpu}", "wrong result", why)
