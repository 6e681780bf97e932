# SPDX-License-Identifier: BSD-3-Clause
"""SimGrid platforms whose hosts and routers form a tree (version 4 of the format, also of 3.x).

A route of one or more links connects its two ends: as fast as the slowest, as late as all of them.
"""

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from .tree import Link, Tree
from .words import bandwidth_of, names_of, seconds_of

ROUTINGS = ("full", "floyd", "dijkstra", "dijkstracache", "none", "")
HINT = "hosts, routers, links, clusters, and routes from neighbour to neighbour can be read"
CLOSED = ("bypassRoute", "bypassZoneRoute", "cabinet", "peer", "trace", "trace_connect")


@dataclass
class _Route:
    line: int
    ends: tuple[str, str]
    links: list[str] = field(default_factory=list)


class _Platform:
    """What the parser tells, element by element."""

    def __init__(self, name: str) -> None:
        self.tree = Tree(name)
        self.links: dict[str, Link] = {}
        self.routes: list[_Route] = []
        self.ready: list[tuple[str, str, int, Link]] = []  # of clusters
        self.top = ""
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start

    def _error(self, what: str, hint: str = HINT):
        return self.tree.error(self.parser.CurrentLineNumber, what, hint)

    def _start(self, tag: str, at: dict[str, str]) -> None:
        known = {
            "host": self._host, "router": self._router, "link": self._link, "route": self._route,
            "zoneRoute": self._zone_route, "ASroute": self._zone_route, "link_ctn": self._link_ctn,
            "zone": self._zone, "AS": self._zone, "cluster": self._cluster,
        }  # fmt: skip
        if tag in CLOSED:
            raise self._error(f"<{tag}> cannot be read")
        if tag in known:
            try:
                known[tag](at)
            except KeyError as missing:
                raise self._error(f"<{tag}> without {missing}") from None

    def _zone(self, at: dict[str, str]) -> None:
        if at.get("routing", "").lower() not in ROUTINGS:
            raise self._error(f"routing '{at['routing']}' cannot be read")

    def _host(self, at: dict[str, str]) -> None:
        self.tree.add(at["id"], self.parser.CurrentLineNumber, machine=True)

    def _router(self, at: dict[str, str]) -> None:
        self.top = self.top or at["id"]
        self.tree.add(at["id"], self.parser.CurrentLineNumber)

    def _measures(self, bandwidth: str, latency: str) -> Link:
        found = Link(bandwidth_of(bandwidth), seconds_of(latency))
        if found.bandwidth is None or found.latency is None:
            wrong = bandwidth if found.bandwidth is None else latency
            raise self._error(f"cannot read '{wrong}'", 'write bandwidth="125MBps" latency="25us"')
        return found

    def _link(self, at: dict[str, str]) -> None:
        link = self._measures(at["bandwidth"], at.get("latency", "0"))
        shared = at.get("sharing_policy", "SHARED").upper()
        self.links[at["id"]] = Link(0.0, link.latency) if shared == "FATPIPE" else link

    def _route(self, at: dict[str, str]) -> None:
        self.routes.append(_Route(self.parser.CurrentLineNumber, (at["src"], at["dst"])))

    def _zone_route(self, at: dict[str, str]) -> None:
        self.routes.append(_Route(self.parser.CurrentLineNumber, (at["gw_src"], at["gw_dst"])))

    def _link_ctn(self, at: dict[str, str]) -> None:
        name = at["id"] if at["id"] in self.links else re.sub(r"_(UP|DOWN)$", "", at["id"])
        if name not in self.links:
            raise self._error(f"no link is called '{at['id']}'", "links stand before their routes")
        if self.routes:
            self.routes[-1].links.append(name)

    def _cluster(self, at: dict[str, str]) -> None:
        if "bb_bw" in at or at.get("topology", "FLAT").upper() != "FLAT":
            raise self._error("this cluster is no star of hosts", "leave out bb_bw and topology")
        line = self.parser.CurrentLineNumber
        link = self._measures(at["bw"], at["lat"])
        router = at.get("router_id") or f"{at['prefix']}{at['id']}_router{at['suffix']}"
        self.top = self.top or router
        self.tree.add(router, line)
        numbers = names_of(f"[{at['radical']}]")
        if numbers is None:
            raise self._error(f"'{at['radical']}' is no list of numbers", 'write radical="0-7"')
        for number in numbers:
            host = f"{at['prefix']}{number}{at['suffix']}"
            self.tree.add(host, line, machine=True)
            self.ready.append((router, host, line, link))

    def connect(self) -> None:
        for router, host, line, link in self.ready:
            self.tree.connect(router, host, line, link)
        seen = set()
        for route in self.routes:
            if route.ends[::-1] in seen:  # the way back
                continue
            seen.add(route.ends)
            parts = [self.links[name] for name in route.links]
            if not parts:
                raise self.tree.error(route.line, "a route without links", HINT)
            speeds = [part.bandwidth for part in parts if part.bandwidth]
            link = Link(min(speeds, default=0.0), sum(part.latency for part in parts))
            self.tree.connect(*route.ends, route.line, link)


def parse(text: str, name: str) -> tuple[Tree, str]:
    """The tree, and what is on top of it: the first router; raises Error."""
    platform = _Platform(name)
    try:
        platform.parser.Parse(text, True)
    except expat.ExpatError as error:
        what = expat.errors.messages[error.code]
        raise platform.tree.error(error.lineno, f"this is no XML: {what}", HINT) from None
    if not platform.top:
        raise platform.tree.error(1, "there is no router", HINT)
    platform.connect()
    return platform.tree, platform.top
