# SPDX-License-Identifier: BSD-3-Clause
"""The steps of a plan as rounds: a global count of them, so that both ends of a message are in one.

Round by round all GPUs keep step, hence nothing hangs where a send waits for its receive. A message
that its GPU receives in a later round than it was sent in waits in scratch of its own meanwhile.
"""

from dataclasses import dataclass

from .nodes import Kind, Node, Plan
from .order import Conflicts


@dataclass
class Rounds:
    """For every node the round that it is in, from 0. An early message arrives in the round of its
    send."""

    of: list[int]
    early: set[int]  # receives whose message arrives before


def _gap_in_order(earlier: Node, later: Node, apart: bool) -> int:
    """Rounds that lie between two steps of which one waits for the other."""
    if earlier.gpu != later.gpu:
        return 0
    if later.kind == Kind.SEND:
        return int(earlier.receives or (apart and earlier.kind == Kind.SEND))
    return int(apart and later.receives and earlier.receives)


def _gap_in_conflict(earlier: Node, later: Node) -> int:
    """A round's sends read what stood before it; a message may land at any moment of it."""
    if later.kind == Kind.SEND:
        return int(earlier.kind != Kind.SEND)
    return int(later.kind == Kind.RECEIVE)


def _edges(plan: Plan, conflicts: list[Conflicts], apart: bool) -> list[list[tuple[int, int]]]:
    """For every node those before it, and how many rounds lie between them."""
    edges: list[list[tuple[int, int]]] = []
    for node in plan.nodes:
        own = [(one, _gap_in_order(plan.nodes[one], node, apart)) for one in node.before]
        if node.receives:
            own.append((node.partner, 0))
        edges.append(own)
    for found in conflicts:
        for earlier, later, _ in found.pairs:
            gap = _gap_in_conflict(plan.nodes[earlier], plan.nodes[later])
            edges[later].append((earlier, gap))
    return edges


def in_rounds(plan: Plan, order: list[int], conflicts: list[Conflicts], apart: bool) -> Rounds:
    """As early as may be; sends then as late as their receives, where nothing waits for them.

    `apart`: what a thread block sends, or receives, one behind the other is in rounds of its own,
    as in a pipeline; else in one.
    """
    edges = _edges(plan, conflicts, apart)
    of = [0] * len(plan.nodes)
    for number in order:
        for earlier, gap in edges[number]:
            of[number] = max(of[number], of[earlier] + gap)
    latest = list(of)
    after: list[list[tuple[int, int]]] = [[] for _ in plan.nodes]
    for number, own in enumerate(edges):
        for earlier, gap in own:
            after[earlier].append((number, gap))
    for number in reversed(order):
        node = plan.nodes[number]
        if node.kind == Kind.SEND:
            room = min((latest[later] - gap for later, gap in after[number]), default=of[number])
            if room >= of[node.partner]:
                latest[number] = of[node.partner]
    receives = [(number, node.partner) for number, node in enumerate(plan.nodes) if node.receives]
    return Rounds(latest, {one for one, partner in receives if latest[one] != latest[partner]})
