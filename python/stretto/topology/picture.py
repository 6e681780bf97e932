# SPDX-License-Identifier: BSD-3-Clause
"""A topology as text and as JSON."""

from .. import _core
from ..units import counted, intervals, time_in_words
from .words import bandwidth_in_words


def ranks_by_machine(topology: _core.Topology) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for rank in range(topology.ranks):
        found.setdefault(topology.machine_of(rank), []).append(rank)
    return found


def _link(vertex: _core.Vertex) -> str:
    words = [bandwidth_in_words(vertex.bandwidth)] if vertex.bandwidth else []
    words += [time_in_words(vertex.latency)] if vertex.latency else []
    return "  " + ", ".join(words) if words else ""


def title_of(topology: _core.Topology) -> str:
    machines = sum(v.machine for v in topology.vertices)
    switches = len(topology.vertices) - machines
    head = f"{switches} switch{'es' * (switches != 1)}"
    return f"{head}, {counted(machines, 'machine')}, {counted(topology.ranks, 'rank')}"


def lines_of(topology: _core.Topology) -> list[str]:
    """The tree, a line for each vertex."""
    ranks = ranks_by_machine(topology)
    lines: list[str] = []

    def walk(at: int, before: str, own: str) -> None:
        vertex = topology.vertices[at]
        mine = ranks.get(at, [])
        words = f"  rank{'s' * (len(mine) > 1)} {intervals(mine)}" if mine else ""
        lines.append(before + own + vertex.name + words + _link(vertex))
        inner = before + {"": "", "├ ": "│ ", "└ ": "  "}[own]
        children = topology.below[at]
        for number, child in enumerate(children):
            walk(child, inner, "└ " if number + 1 == len(children) else "├ ")

    walk(topology.top, "", "")
    return lines


def _in_rank_order(topology: _core.Topology) -> str:
    """What a ring in rank order would do, in words."""
    ranks = topology.ranks
    if topology.ring == list(range(ranks)):
        return "rank order is a depth-first order: ring and chain need no list"
    ring = _core.find_algorithm("allgather/ring")
    most = max(_core.traffic(topology, _core.Messages(ring, _core.Shape(ranks))).most)
    if most == 1:
        return "a ring in rank order is contention-free, too"
    return f"a ring in rank order puts up to {most} messages on one link"


def as_text(topology: _core.Topology) -> str:
    lines = [title_of(topology), "", *lines_of(topology), ""]
    if topology.ranks:
        order = ":".join(map(str, topology.ring))
        lines += [_in_rank_order(topology), f"contention-free ring: order={order}"]
    return "\n".join(lines) + "\n"


def as_json(topology: _core.Topology) -> dict:
    ranks = ranks_by_machine(topology)
    vertices = [
        {
            "name": v.name,
            "above": topology.vertices[v.above].name if v.above >= 0 else None,
            "machine": v.machine,
            "bandwidth": v.bandwidth or None,
            "latency": v.latency,
            "ranks": ranks.get(number, []),
        }
        for number, v in enumerate(topology.vertices)
    ]
    return {"ranks": topology.ranks, "vertices": vertices, "ring": topology.ring}
