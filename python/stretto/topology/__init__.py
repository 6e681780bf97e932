# SPDX-License-Identifier: BSD-3-Clause
"""Networks that are trees of switches: read from files, studied, drawn (docs/topology.md)."""

import re
from pathlib import Path

from .. import _core
from ..errors import Error
from ..files import read_text
from . import file, simgrid, slurm
from .tree import PAGE, Link, Place, Tree

UNKNOWN = Link()
MOST_RANKS = 1 << 16
COUNT = r"\d{1,9}"  # Python takes long to read thousands of digits, or refuses

__all__ = ["Link", "parse_topology", "read_hosts", "read_topology"]


def _format(text: str, name: str):
    """Its module, by the name's ending, else by what the text looks like."""
    if name.endswith((".xml", ".toml", ".conf")):
        return {"xml": simgrid, "toml": file, "conf": slurm}[name.rpartition(".")[2]]
    if text.lstrip().startswith("<"):
        return simgrid
    return slurm if re.search(r"^\s*SwitchName\s*=", text, re.MULTILINE | re.I) else file


def parse_topology(
    text: str,
    name: str = "<text>",
    ranks: int | None = None,
    places: list[Place] | None = None,
    otherwise: Link = UNKNOWN,
) -> _core.Topology:
    """The tree that a file's text describes: Stretto's own, Slurm's topology.conf or a platform of
    SimGrid. Links are like `otherwise` where it says nothing. Raises Error with file and line."""
    tree, top = _format(text, name).parse(text, name)
    return tree.topology(top, ranks, places or [], otherwise)


def _of_nodes(
    nodes: list[Place], places: list[Place], ranks: int | None, otherwise: Link
) -> _core.Topology:
    """Two levels, of these nodes; `places` says where the ranks are."""
    tree = Tree(nodes[0].file)
    tree.add("network", 1)
    for place in nodes:
        if place.machine not in tree.machines:
            tree.add(place.machine, place.line, machine=True)
            tree.connect("network", place.machine, place.line, Link())
    return tree.topology("network", ranks, places, otherwise)


def read_hosts(path: str) -> list[Place]:
    """The machine of each rank, from a file with a line for each, in order: a name, or "n0:4" or
    "n0 slots=4" for four ranks."""
    places = []
    for number, text in enumerate(read_text(path, PAGE).split("\n"), 1):
        words = text.partition("#")[0].strip()
        if not words:
            continue
        found = re.fullmatch(rf"([^\s:=]+)(?:\s*:\s*({COUNT})|\s+slots\s*=\s*({COUNT}))?", words)
        if not found:
            raise Error(f"{path}:{number}: '{words}' is no machine", "write n0, n0:4 or n0 slots=4")
        count = int(found[2] or found[3] or 1)
        if len(places) + count > MOST_RANKS:
            raise Error(f"{path}:{number}: more than {MOST_RANKS} ranks", "take fewer")
        places += [Place(found[1], path, number)] * count
    if not places:
        raise Error(f"{path}:1: there is no machine", "write the machine of every rank on a line")
    return places


def read_topology(
    wish: str | None, ranks: int | None = None, hosts: str | None = None, otherwise: Link = UNKNOWN
) -> _core.Topology:
    """Of a file; of "4x8" for four nodes of eight ranks on one switch; of the nodes in `hosts`."""
    places = read_hosts(hosts) if hosts else []
    if wish is None:
        if not places:
            raise Error("neither a topology nor hosts", "give --topology FILE or --hosts FILE")
        return _of_nodes(places[:ranks], places[:ranks], ranks, otherwise)
    nodes = re.fullmatch(rf"({COUNT})x({COUNT})", wish)
    if nodes and not Path(wish).exists():
        count, each = int(nodes[1]), int(nodes[2])
        if not (ranks or 1) <= count * each <= MOST_RANKS:
            few = count * each < (ranks or 1)
            what = f"no place for {ranks or 1} ranks" if few else f"more than {MOST_RANKS} ranks"
            raise Error(f"{wish} has {what}", "write NODESxRANKS: 4x8")
        made = [Place(f"node{n}", wish, 1) for n in range(count) for _ in range(each)]
        return _of_nodes(made if places else made[:ranks], places or made[:ranks], ranks, otherwise)
    return parse_topology(read_text(wish, PAGE), wish, ranks, places, otherwise)
