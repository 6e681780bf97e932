# SPDX-License-Identifier: BSD-3-Clause
"""The tree that has these links between switches."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from .splits import Link


@dataclass
class Switch:
    """`above` and `link` are None on top."""

    above: int | None
    link: Link | None
    machines: list[int] = field(default_factory=list)
    below: list[int] = field(default_factory=list)


def tree_of(links: Sequence[Link], machines: int) -> list[Switch]:
    """The switches, those above first; on top the one from which the deepest machine is nearest,
    and of several the one with the lowest machine. Below a switch, lower machines come first."""
    ordered = sorted(links, key=lambda link: -len(link.side))
    joined: list[list[tuple[int, Link]]] = [[] for _ in range(len(links) + 1)]
    hosts: list[list[int]] = [[] for _ in joined]

    def innermost(inside: frozenset[int], among: int) -> int:
        """The switch, 0 for that of machine 0, behind the smallest side that holds all these."""
        holding = [n for n in range(among) if inside <= ordered[n].side]
        return holding[-1] + 1 if holding else 0

    for number, link in enumerate(ordered):
        upper = innermost(link.side, number)
        joined[upper].append((number + 1, link))
        joined[number + 1].append((upper, link))
    for machine in range(machines):
        hosts[innermost(frozenset([machine]), len(ordered))].append(machine)
    heights = [_height(joined, hosts, at, None) for at in range(len(joined))]
    lowest = [min(own, default=machines) for own in hosts]
    top = min(range(len(joined)), key=lambda at: (heights[at], lowest[at]))
    found: list[Switch] = []
    _hang(found, joined, hosts, top, None, None, None)
    return found


def _height(joined: list, hosts: list, at: int, before: int | None) -> int:
    """Of the deepest machine below."""
    return max(
        (1 + _height(joined, hosts, other, at) for other, _ in joined[at] if other != before),
        default=0,
    )


def _first(joined: list, hosts: list, at: int, before: int) -> int:
    """The lowest machine below."""
    deeper = [_first(joined, hosts, other, at) for other, _ in joined[at] if other != before]
    return min([*hosts[at], *deeper])


def _hang(
    found: list[Switch], joined: list, hosts: list, at: int, before: int | None,
    above: int | None, link: Link | None,
) -> None:  # fmt: skip
    number = len(found)
    found.append(Switch(above, link, hosts[at]))
    if above is not None:
        found[above].below.append(number)
    under = [(_first(joined, hosts, other, at), other, one) for other, one in joined[at]]
    for _, other, one in sorted(under, key=lambda entry: entry[0]):
        if other != before:
            _hang(found, joined, hosts, other, at, number, one)
