# SPDX-License-Identifier: BSD-3-Clause
"""A tree as a file describes it, bit by bit; what is wrong is refused with file and line."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import repeat

from .. import _core
from ..algorithms import near
from ..errors import Error

PAGE = "docs/topology.md describes topologies"
MOST_LEVELS = 100


@dataclass(frozen=True)
class Link:
    """Bytes per second and seconds; None where the file says nothing."""

    bandwidth: float | None = None
    latency: float | None = None

    def or_else(self, other: "Link") -> "Link":
        return Link(
            other.bandwidth if self.bandwidth is None else self.bandwidth,
            other.latency if self.latency is None else self.latency,
        )


@dataclass(frozen=True)
class Place:
    """The machine of a rank, and where that is said."""

    machine: str
    file: str
    line: int


@dataclass
class Tree:
    """Switches, machines, and the links between them."""

    file: str
    lines: dict[str, int] = field(default_factory=dict)  # where each is described
    machines: dict[str, None] = field(default_factory=dict)  # in the file's order
    links: dict[str, dict[str, Link]] = field(default_factory=dict)  # by both ends
    places: list[Place] = field(default_factory=list)  # of the ranks, if the file says them
    rendezvous: int = 0  # bytes from which on messages wait for an answer, if the file says it
    group: dict[str, str] = field(default_factory=dict)  # for each, another it hangs together with

    def error(self, line: int, what: str, hint: str = PAGE) -> Error:
        return Error(f"{self.file}:{line}: {what}", hint)

    def add(self, name: str, line: int, machine: bool = False) -> None:
        if not name:
            raise self.error(line, "a switch or machine without a name")
        if name in self.lines:
            raise self.error(line, f"{name} is there twice", f"line {self.lines[name]} has it, too")
        self.lines[name] = line
        self.links[name] = {}
        self.group[name] = name
        if machine:
            self.machines[name] = None

    def _root(self, name: str) -> str:
        while self.group[name] != name:
            self.group[name] = name = self.group[self.group[name]]
        return name

    def hang(self, below: dict[str, list[tuple[str, int]]], link_of: Callable[[str], Link]) -> str:
        """Connects switches with what is below them, by line; what is on top of all."""
        for switch, names in below.items():
            for other, line in names:
                self.connect(switch, other, line, link_of(other))
        inner = {other for names in below.values() for other, _ in names}
        return next(switch for switch in below if switch not in inner)

    def connect(self, switch: str, other: str, line: int, link: Link) -> None:
        for name in (switch, other):
            if name not in self.lines:
                known = sorted(self.lines)
                raise self.error(line, f"nothing is called '{name}'", near(name, known))
        for name in (switch, other):
            if name in self.machines and self.links[name]:
                first = next(iter(self.links[name]))
                hint = f"machines are leaves of the tree; its first link goes to {first}"
                raise self.error(line, f"machine {name} has a second link", hint)
        one, two = self._root(switch), self._root(other)
        if one == two:
            raise self.error(
                line, f"a cycle: {switch} and {other} are connected already",
                "switches and links must form a tree",
            )  # fmt: skip
        self.group[one] = two
        self.links[switch][other] = self.links[other][switch] = link

    def topology(
        self, top: str, ranks: int | None, places: list[Place], otherwise: Link
    ) -> _core.Topology:
        """With the ranks at `places`, else where the file has them, else one on each machine in
        its order, or as many more as it takes; links say `otherwise` what they leave open."""
        order = self._from(top)
        for name, line in self.lines.items():
            if name not in order:
                raise self.error(
                    line, f"{name} does not hang together with {top}", "all hangs on one switch"
                )
        at = {name: number for number, name in enumerate(order)}
        vertices = []
        for name, above in order.items():
            link = self.links[name][above].or_else(otherwise) if above else Link()
            place, kind = at[above] if above else -1, name in self.machines
            measures = link.bandwidth or 0.0, link.latency or 0.0
            vertices.append(_core.Vertex(name, place, kind, *measures))
        machines = [at[name] for name in self._machines(ranks, places)]
        return _core.Topology(vertices, machines, self.rendezvous)

    def _from(self, top: str) -> dict[str, str]:
        """Every vertex that hangs together with `top`, and the one above it."""
        order = {top: ""}
        level = {top: 0}
        for here in (found := [top]):
            if level[here] > MOST_LEVELS:
                raise self.error(self.lines[here], f"{here} is {level[here]} links below {top}")
            for name in self.links[here]:
                if name != order[here]:
                    order[name] = here
                    level[name] = level[here] + 1
                    found.append(name)
        return order

    def _machines(self, ranks: int | None, places: list[Place]) -> list[str]:
        """Of every rank."""
        machines = list(self.machines)
        if not machines:
            raise self.error(1, "there is no machine", PAGE)
        places = places or self.places
        if not places:
            each = -(-(ranks or len(machines)) // len(machines))
            every = [name for name in machines for name in repeat(name, each)]
            return every[: ranks or len(machines)]
        for place in places:
            if place.machine not in self.machines:
                raise Error(
                    f"{place.file}:{place.line}: no machine is called '{place.machine}'",
                    near(place.machine, machines),
                )
        if ranks is not None and ranks > len(places):
            last = places[-1]
            raise Error(
                f"{last.file}:{last.line}: rank {len(places)} has no machine",
                f"{ranks} ranks are wanted, {len(places)} are placed",
            )
        return [place.machine for place in places[:ranks]]
