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
    found: list[Switch] = []

    def innermost(inside: frozenset[int], among: int) -> int:
        """The switch, 0 for that of machine 0, behind the smallest side that holds all these."""
        holding = [n for n in range(among) if inside <= ordered[n].side]
        return holding[-1] + 1 if holding else 0

    def height(at: int, before: int | None = None) -> int:
        """Of the deepest machine below."""
        return max((1 + height(one, at) for one, _ in joined[at] if one != before), default=0)

    def lowest(at: int, before: int) -> int:
        """The lowest machine below."""
        return min([*hosts[at], *(lowest(one, at) for one, _ in joined[at] if one != before)])

    def hang(at: int, before: int | None, above: int | None, link: Link | None) -> None:
        number = len(found)
        found.append(Switch(above, link, hosts[at]))
        if above is not None:
            found[above].below.append(number)
        under = [(lowest(other, at), other, one) for other, one in joined[at] if other != before]
        for _, other, one in sorted(under, key=lambda entry: entry[0]):
            hang(other, at, number, one)

    for number, link in enumerate(ordered):
        upper = innermost(link.side, number)
        joined[upper].append((number + 1, link))
        joined[number + 1].append((upper, link))
    for machine in range(machines):
        hosts[innermost(frozenset([machine]), len(ordered))].append(machine)
    top = min(range(len(joined)), key=lambda at: (height(at), min(hosts[at], default=machines)))
    hang(top, None, None, None)
    return found
