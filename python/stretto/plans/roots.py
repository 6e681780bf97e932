# SPDX-License-Identifier: BSD-3-Clause
"""The root of a plan: no form names it, but the steps are right for one root only."""

from .nodes import Kind, Plan, Slot
from .values import Layout, aliases

FROM_ROOT, TO_ROOT = ("bcast", "scatter"), ("reduce", "gather")


def find_root(plan: Plan, order: list[int]) -> None:
    """Sets the root. Where data come from it, it is the GPU that reads first: nobody else has
    anything. Where data go to it, it is the GPU in whose output the most contributions end. In a
    wrong plan that is a guess, and the plan is refuted for the root that comes nearest."""
    if plan.collective in FROM_ROOT:
        reads = (plan.nodes[number] for number in order if plan.nodes[number].reads)
        plan.root = next((node.gpu for node in reads), 0)
    elif plan.collective in TO_ROOT:
        counts = _contributions(plan, order)
        plan.root = counts.index(max(counts))


def _contributions(plan: Plan, order: list[int]) -> list[int]:
    """How many contributions each GPU's output holds in the end, over all its chunks."""
    layout, same = Layout(plan), aliases(plan, not plan.out_of_place)
    held: list[dict[Slot, frozenset[int]]] = [
        {same[gpu].get(slot, slot): frozenset([gpu]) for slot in layout.given(gpu)}
        for gpu in range(plan.ranks)
    ]
    nothing: frozenset[int] = frozenset()
    sent: dict[int, list[frozenset[int]]] = {}
    for number in order:
        node = plan.nodes[number]
        own, alias = held[node.gpu], same[node.gpu]
        values = [own.get(alias.get(slot, slot), nothing) for slot in node.source]
        if node.kind == Kind.SEND:
            sent[number] = values
        elif node.receives:
            values = sent[node.partner]
        if node.operand:
            operands = [own.get(alias.get(slot, slot), nothing) for slot in node.operand]
            values = [one | other for one, other in zip(values, operands, strict=False)]
        own.update((alias.get(s, s), one) for s, one in zip(node.target, values, strict=False))
    return [
        sum(len(held[gpu].get(same[gpu].get(slot, slot), nothing)) for slot in layout.outputs)
        for gpu in range(plan.ranks)
    ]
