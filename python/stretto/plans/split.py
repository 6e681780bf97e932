# SPDX-License-Identifier: BSD-3-Clause
"""Steps that combine several chunks, as steps of one chunk each."""

from dataclasses import replace

from .nodes import Kind, Plan


def split(plan: Plan, numbers: list[int]) -> None:
    """Does so to these nodes, and to the sends of what they receive. Whoever waited for one of them
    then waits for all its parts."""
    parts: dict[int, list[int]] = {}
    for number in numbers:
        node = plan.nodes[number]
        parts[number] = _cut(plan, number)
        if node.kind == Kind.RECEIVE_REDUCE:
            sender = node.partner
            parts[sender] = _cut(plan, sender)
            for one, other in zip(parts[number], parts[sender], strict=True):
                plan.nodes[one].partner, plan.nodes[other].partner = other, one
    for node in plan.nodes:
        node.before = [part for one in node.before for part in parts.get(one, [one])]


def _cut(plan: Plan, number: int) -> list[int]:
    """The numbers of the parts; the first has the node's own."""
    node = plan.nodes[number]
    count = max(len(node.source), len(node.target))
    cut = [
        replace(node, before=list(node.before), source=node.source[i : i + 1],
                operand=node.operand[i : i + 1], target=node.target[i : i + 1])
        for i in range(count)
    ]  # fmt: skip
    plan.nodes[number] = cut[0]
    plan.nodes += cut[1:]
    return [number, *range(len(plan.nodes) - count + 1, len(plan.nodes))]
