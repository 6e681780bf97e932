# SPDX-License-Identifier: BSD-3-Clause
"""What was discovered, and the file that says so."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ..words import bandwidth_in_words
from .contention import Contention, Mover
from .links import Measure, machine_links, switch_link
from .rendezvous import rendezvous
from .splits import LEAST, Finder, Link
from .tree import Switch, tree_of

ATTEMPTS = 3  # at links that do not refute each other
NAMED = 4  # transfers in a remark

Advance = Callable[..., None]


@dataclass
class Machine:
    """What its kernel says; lists of cores ("0-3") for each socket and each last-level cache."""

    name: str
    ranks: list[int] = field(default_factory=list)
    sockets: list[str] = field(default_factory=list)
    caches: list[str] = field(default_factory=list)


@dataclass
class Discovered:
    """`switch_links` and `machine_links` are those to what is above; None on top, and of a machine
    that has no other. Messages of `rendezvous` bytes and more wait for an answer; 0: none do."""

    machines: list[Machine]
    switches: list[Switch]
    switch_links: list[Measure | None]
    machine_links: list[Measure | None]
    remarks: list[str]
    asked: int
    rendezvous: int = 0

    def toml(self, head: Sequence[str] = ()) -> str:
        """The file that other commands read (docs/topology.md)."""
        by_rank = sorted((rank, one.name) for one in self.machines for rank in one.ranks)
        lines = [f"# {line}".rstrip() for line in (*head, *self.remarks)]
        lines += ["stretto-topology = 1", f"ranks = {_list(name for _, name in by_rank)}"]
        if self.rendezvous:
            lines.append(
                f"rendezvous = {self.rendezvous}  # bytes: messages this long wait for an answer"
            )
        for number, switch in enumerate(self.switches):
            lines += ["", f"[switch.s{number}]"]
            if switch.machines:
                names = _list(self.machines[machine].name for machine in switch.machines)
                lines.append(f"machines = {names}")
            if switch.below:
                lines.append(f"switches = {_list(f's{below}' for below in switch.below)}")
            lines += _measured(self.switch_links[number])
        for machine, link in zip(self.machines, self.machine_links, strict=True):
            lines += ["", f"[machine.{json.dumps(machine.name)}]", *_measured(link)]
            if machine.sockets:
                lines.append(f"sockets = {_list(machine.sockets)}  # cores of each")
            if machine.caches:
                lines.append(f"caches = {_list(machine.caches)}  # cores behind each last level")
        return "\n".join(lines) + "\n"


def _list(names: object) -> str:
    return json.dumps(list(names))  # type: ignore[call-overload]


def _measured(link: Measure | None) -> list[str]:
    if link is None:
        return []
    return [
        f'bandwidth = "{bandwidth_in_words(link.bandwidth)}"',
        f'latency = "{link.latency * 1e6:.3g} us"',
        f"confidence = {link.confidence:.2f}",
    ]


def discover(
    mover: Mover, machines: list[Machine], advance: Advance = lambda *_: None
) -> Discovered:
    """Of at least one machine; numbers of the mover's are places in the list."""
    count = len(machines)
    if count == 1:
        remark = "one machine: there is no network to look at"
        return Discovered(machines, tree_of([], 1), [None], [None], [remark], 0)
    contention = Contention(mover)
    advance(0, None, "transfers alone")
    contention.begin([(machine, (machine + 1) % count) for machine in range(count)])
    advance(0, None, "transfers that slow each other down")
    finder, links = _best(contention, count)
    tree = tree_of(links, count)
    advance(0, None, "bandwidths")
    hosts = machine_links(finder, tree, links)
    trunks = [
        None if switch.above is None else switch_link(finder, tree, number, hosts)
        for number, switch in enumerate(tree)
    ]
    remarks = [*_remarks(machines, finder)]
    advance(0, None, "rendezvous")
    waits = rendezvous(mover, (0, 1))
    return Discovered(machines, tree, trunks, list(hosts), remarks, contention.asked, waits)


def _best(contention: Contention, count: int) -> tuple[Finder, list[Link]]:
    """Again where links were seen that others then refuted, so that some may be missing."""
    attempts = []
    for seed in range(ATTEMPTS):
        finder = Finder(contention, count, seed)
        attempts.append((finder, finder.find()))
        if not finder.refuted:
            break
    return min(attempts, key=lambda one: (one[0].refuted, -len(one[1])))


def _remarks(machines: list[Machine], finder: Finder) -> Iterator[str]:
    """What cannot be told apart."""
    if len(machines) < LEAST:
        yield (
            f"{len(machines)} machines: switches between them cannot be told apart with fewer than "
            f"{LEAST}; drawn as one"
        )
    for pairs in finder.unexplained:
        named = ", ".join(f"{machines[a].name} to {machines[b].name}" for a, b in pairs[:NAMED])
        more = f" and {len(pairs) - NAMED} more" if len(pairs) > NAMED else ""
        yield (
            f"not told apart: together these were slow, and no two of them by themselves: {named}"
            f"{more} (a link of more than a machine's bandwidth, or something else was running)"
        )
    if finder.refuted:
        yield (
            f"not told apart: {finder.refuted} links were seen and then refuted: the machines or "
            "the network are busy; discover again when they are not"
        )
