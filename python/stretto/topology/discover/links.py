# SPDX-License-Identifier: BSD-3-Clause
"""How fast the links of a tree are, and how sure it is where each machine hangs."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .contention import SOME, Contention, Pair
from .splits import Finder, Link
from .tree import Switch

LARGER = 4  # times the size of other transfers: what a link lets pass at once is little of it
PINGS = 30
CHECKS = 3  # of a machine's place


@dataclass
class Measure:
    """Of a link: bytes per second, seconds, and how sure it is."""

    bandwidth: float
    latency: float
    confidence: float


def _together(contention: Contention, pairs: Sequence[Pair]) -> float:
    """Bytes per second of these transfers in sum: the most that was seen."""
    size = LARGER * contention.size
    return len(pairs) * size / min(contention.times(dict.fromkeys(pairs, size), SOME))


def neighbours(tree: Sequence[Switch]) -> Iterator[Pair]:
    """Each machine with another: on its own switch where one is there."""
    order = [machine for switch in tree for machine in switch.machines]
    for switch in tree:
        own = switch.machines if len(switch.machines) > 1 else order
        for machine in switch.machines:
            yield machine, own[(own.index(machine) + 1) % len(own)]


def machine_links(finder: Finder, tree: Sequence[Switch], links: list[Link]) -> list[Measure]:
    """Of each machine. A link is as fast as the faster of the transfers from and to it."""
    contention = finder.contention
    fastest = [0.0] * finder.machines
    delay = [float("inf")] * finder.machines
    for pair in neighbours(tree):
        speed, one_way = _together(contention, [pair]), contention.mover.ping(pair, PINGS)
        for machine in pair:
            fastest[machine] = max(fastest[machine], speed)
            delay[machine] = min(delay[machine], one_way / 2)
    sure = [_confidence(finder, links, machine) for machine in range(finder.machines)]
    return [Measure(*one) for one in zip(fastest, delay, sure, strict=True)]


def _confidence(finder: Finder, links: list[Link], machine: int) -> float:
    """By transfers that share a link if the machine is on the side of it where it seems to be."""
    agreed, asked = finder.apart.get(machine, 0), finder.apart.get(machine, 0)
    draw = random.Random(machine)
    everyone = set(range(finder.machines))
    for number in range(CHECKS if links else 0):
        side = set(draw.choice(links).side)
        own, other = (side, everyone - side) if machine in side else (everyone - side, side)
        ends = [machine, draw.choice(sorted(own - {machine}))], draw.sample(sorted(other), 2)
        pairs = list(zip(*ends[:: 1 if number % 2 else -1], strict=True))
        asked += 1
        agreed += finder.contention.shared(pairs)
    return (agreed + 1) / (asked + 2)


def switch_link(
    finder: Finder, tree: Sequence[Switch], number: int, hosts: list[Measure]
) -> Measure:
    """Of a switch to the one above it: as fast as the slower direction."""
    link, above = tree[number].link, tree[number].above
    assert link and above is not None
    inside = sorted(link.side, key=lambda machine: -hosts[machine].bandwidth)
    outside = sorted(set(range(finder.machines)) - link.side, key=lambda m: -hosts[m].bandwidth)
    there = list(zip(inside[:2], outside[:2], strict=True))  # the fastest, which fill it
    back = [(b, a) for a, b in there]
    speed = min(_together(finder.contention, pairs) for pairs in (there, back))
    low, steps_down = _nearest(tree, number, above)
    high, steps_up = _nearest(tree, above, number)
    one_way = finder.contention.mover.ping((low, high), PINGS)
    rest = max(0.0, one_way - hosts[low].latency - hosts[high].latency)
    return Measure(speed, rest / (1 + steps_down + steps_up), link.confidence)


def _nearest(tree: Sequence[Switch], start: int, before: int) -> tuple[int, int]:
    """A machine at the switch or behind it, not through `before`, and how many links that is."""
    level, seen, steps = [start], {start, before}, 0
    while True:
        for at in level:
            if tree[at].machines:
                return tree[at].machines[0], steps
        level = [n for at in level for n in (*tree[at].below, tree[at].above) if n is not None]
        level = [n for n in dict.fromkeys(level) if n not in seen]
        seen |= set(level)
        steps += 1
