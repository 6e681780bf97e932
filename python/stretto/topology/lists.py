# SPDX-License-Identifier: BSD-3-Clause
"""The lists of algorithms that go by where the ranks are, made of a tree."""

from collections.abc import Callable

from .. import _core


def ring_of(topology: _core.Topology, ranks: int) -> list[int]:
    """The order of the first `ranks` ranks that is free of contention."""
    return [rank for rank in topology.ring if rank < ranks]


def nodes_of(topology: _core.Topology, ranks: int) -> list[int]:
    """The node of each rank and, level by level, the group of that node: a number for each rank.

    A node is a machine of several ranks, or the switch of machines that have one each. There are
    further levels where all nodes are equally deep in the tree. Empty: all are on one node.
    """
    vertices = topology.vertices
    places = [topology.machine_of(rank) for rank in range(ranks)]
    if len(set(places)) == ranks:
        places = [vertices[place].above for place in places]
    even = len({len(_way(vertices, place)) for place in places}) == 1
    found: list[int] = []
    while len(set(places)) > 1:
        numbers = {place: number for number, place in enumerate(dict.fromkeys(places))}
        found += [numbers[place] for place in places]
        above = [vertices[place].above for place in places]
        while even and len(set(above)) == len(numbers):  # a level that joins nothing
            above = [vertices[place].above for place in above]
        if not even:
            break
        places = above
    return found


def _way(vertices: list[_core.Vertex], place: int) -> list[int]:
    """From there to the top."""
    way = [place]
    while (place := vertices[place].above) >= 0:
        way.append(place)
    return way


def levels_of(topology: _core.Topology, ranks: int) -> list[int]:
    """The whole tree, level by level from the deepest machines: a number for each rank. Ranks that
    hang higher are alone on the levels below. Where all hang at one
    switch, each has a number of its own."""
    ways = [_way(topology.vertices, topology.machine_of(rank))[::-1] for rank in range(ranks)]
    found: list[int] = []
    before = list(range(ranks))
    for level in range(max(map(len, ways)) - 1, -1, -1):
        groups = [way[level] if level < len(way) else -1 - r for r, way in enumerate(ways)]
        numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
        now = [numbers[group] for group in groups]
        if now != before and len(numbers) > 1:
            found += now
        before = now
    return found or list(range(ranks))


MADE: dict[str, Callable[[_core.Topology, int], list[int]]] = {"order": ring_of, "nodes": nodes_of}
OF_ALGORITHMS = {"alltoall/contention_free": levels_of}


def list_for(algorithm: _core.Algorithm, topology: _core.Topology, ranks: int) -> list[int]:
    """Empty where the algorithm takes none that a tree can give, or the tree gives none."""
    make = OF_ALGORITHMS.get(algorithm.id) or MADE.get(algorithm.list or "")
    return make(topology, ranks) if make else []
