# SPDX-License-Identifier: BSD-3-Clause
"""What `stretto simulate` and `stretto explain` read alike: calls, and where their ranks are."""

import re

from .. import (
    Algorithm,
    Function,
    Machine,
    Placement,
    Topology,
    all_algorithms,
    all_functions,
    facts,
)
from .._core import parse_size
from ..algorithms import algorithm_named, function_named, plain
from ..errors import Error
from ..topology import Link, read_topology
from ..topology.predict import placement_of as placement_on

SAMPLE = 1 << 20  # bytes of a message whose time says the bandwidth of a machine's network
MOST_NUMBERS = 8  # of a list in a line


def size_of(text: str) -> int:
    found = parse_size(text)
    if found is None:
        raise Error(f"--bytes: '{text}' is no size", "write 8, 64K, 2M or 1G")
    return found


def placement_of(
    ranks: int, nodes: str | None, per_node: int | None, topology: Topology | None = None
) -> Placement:
    """The topology's, if nothing else is said."""
    if topology and nodes is None and per_node is None:
        return placement_on(topology)
    if nodes is None:
        return Placement(min(per_node or 1, ranks))
    found = re.fullmatch(r"(\d{1,9})x(\d{1,9})", nodes)
    if per_node is not None:
        raise Error("both --nodes and --ranks-per-node", "leave one out")
    if not found or int(found[1]) * int(found[2]) != ranks:
        raise Error(
            f"--nodes: '{nodes}' are not {ranks} ranks",
            "write NODESxRANKS, whose product is the number of ranks: 4x8 for 32",
        )
    return Placement(int(found[2]))


def _algorithms(collective: str, names: str) -> list[Algorithm]:
    words = [word.strip() for word in names.split(",") if word.strip()]
    if not words:
        raise Error("--algorithms: no algorithm", "write ring,circulant or allreduce/ring")
    found = [algorithm_named(w if "/" in w else f"{collective}/{w}") for w in words]
    for algorithm in found:
        if not algorithm.id.startswith(f"{collective}/"):
            raise Error(f"{algorithm.id} is no {collective}", f"see `stretto list {collective}`")
    return found


def function_or_collective(name: str) -> Function:
    """The function of this name, or the first one of this collective; raises Error."""
    of_collective = {facts(facts(f).collective).name: f for f in reversed(all_functions())}
    return of_collective.get(plain(name)) or function_named(name)


def check_function(_context: object, _parameter: object, name: str | None) -> str | None:
    """Refuses a name before click says which other options are missing."""
    if name is not None:
        function_or_collective(name)
    return name


def function_of(
    name: str, names: str | None, ranks: int, root: int
) -> tuple[Function, list[Algorithm]]:
    """The function, by its name or its collective's, and the algorithms that are wanted."""
    function = function_or_collective(name)
    collective = facts(facts(function).collective)
    if root >= ranks or (root and not collective.rooted):
        raise Error(f"{facts(function).name} on {ranks} ranks has no root {root}", "leave it out")
    if names is None:
        return function, all_algorithms()
    return function, _algorithms(collective.name, names)


def shortened(parameters: str) -> str:
    """Long lists are for rules files and `--json`, not for tables."""
    return re.sub(rf"=\d+(:\d+){{{MOST_NUMBERS},}}", "=…", parameters)


def topology_of(
    requested: str | None, hosts: str | None, ranks: int | None, machine: Machine
) -> Topology | None:
    """None if neither is given. Links of which the topology says nothing are the machine's network,
    which a message passes by two links."""
    if requested is None and hosts is None:
        return None
    seconds = machine.network.transfer(SAMPLE)
    link = Link(SAMPLE / seconds if seconds > 0 else 0.0, machine.network.latency() / 2)
    return read_topology(requested, ranks, hosts, link)
