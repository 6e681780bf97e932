# SPDX-License-Identifier: BSD-3-Clause
"""Topology files of Stretto's own, in TOML."""

from .. import _core
from ..algorithms import near
from ..toml_file import TomlFile
from .tree import PAGE, Link, Place, Tree
from .words import bandwidth_of, names_of, seconds_of

TABLES = ("link", "switch", "machine")
LINK = ("bandwidth", "latency", "confidence")
SWITCH = ("switches", "machines", *LINK)
MACHINE = (*LINK, "sockets", "caches")


def _table(file: TomlFile, name: str) -> dict:
    return file.table(name, f"or [{name}.NAME], and keys below")


def _known(file: TomlFile, where: str, table: object, keys: tuple[str, ...]) -> dict:
    if not isinstance(table, dict):
        head, _, name = where.partition(".")
        raise file.error(head, name, f"[{head}] takes no '{name}'", f"write [{head}.NAME]")
    return file.known(where, table, keys)


# Of a link: how they are read, what they are, and what is right.
MEASURES = {
    "bandwidth": (bandwidth_of, "bandwidth", 'write "1 Gbit/s", "125 MB/s", or bytes per second'),
    "latency": (seconds_of, "time", 'write "25 us", or seconds'),
}


def _words(value: object) -> str:
    try:
        return f"'{value}'"
    except ValueError:  # Python does not write out integers of thousands of digits
        return "this"


def _link(file: TomlFile, where: str, table: dict) -> Link:
    found = {}
    for key, (read, kind, hint) in MEASURES.items():
        if key in table:
            found[key] = read(table[key])
            if found[key] is None:
                raise file.error(where, key, f"{_words(table[key])} is no {kind}", hint)
    sure = table.get("confidence", 1)
    if not isinstance(sure, int | float) or not 0 <= sure <= 1:
        raise file.error(where, "confidence", f"{_words(sure)} is no confidence", "write 0 to 1")
    return Link(**found)


def _cores(file: TomlFile, where: str, table: dict) -> None:
    """What a machine is made of, for readers: nothing is made of it."""
    for key in ("sockets", "caches"):
        lists = table.get(key, [])
        if not isinstance(lists, list) or not all(isinstance(one, str) for one in lists):
            raise file.error(where, key, f"'{key}' is no list", f'write {key} = ["0-3", "4-7"]')


def _rendezvous(file: TomlFile) -> int:
    value = file.data.get("rendezvous", 0)
    found = _core.parse_size(value) if isinstance(value, str) else value
    if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found < 1 << 62:
        what = f"{_words(value)} is no number of bytes"
        raise file.error("", "rendezvous", what, 'write rendezvous = "64K"')
    return found


def _names(file: TomlFile, where: str, key: str, value: object) -> list[str]:
    patterns = [value] if isinstance(value, str) else value
    found = []
    for pattern in patterns if isinstance(patterns, list) else [None]:
        names = names_of(pattern) if isinstance(pattern, str) else None
        if names is None:
            raise file.error(
                where, key, f"'{key}' is no list of names", f'write {key} = ["n[0-3]", "head"]'
            )
        found += names
    return found


def _machines(file: TomlFile, tree: Tree, machines: dict[str, Link]) -> None:
    """The tables of machines that have links of their own."""
    for pattern, table in _table(file, "machine").items():
        where = f"machine.{pattern}"
        link = _link(file, where, _known(file, where, table, MACHINE))
        _cores(file, where, table)
        for name in _names(file, "machine", pattern, pattern):
            if name not in machines:
                raise file.error(
                    where, "", f"no switch has a machine '{name}'", near(name, list(machines))
                )
            machines[name] = link.or_else(machines[name])


def parse(text: str, name: str) -> tuple[Tree, str]:
    """The tree, and what is on top of it; raises Error."""
    file = TomlFile(text, name, PAGE, "topology", ("ranks", "rendezvous", *TABLES))
    tree = Tree(name, rendezvous=_rendezvous(file))
    everywhere = _link(file, "link", _known(file, "link", _table(file, "link"), LINK))
    switches = _table(file, "switch")
    if not switches:
        raise file.error("", "", "there is no switch", "write [switch.NAME] and its machines below")
    machines: dict[str, Link] = {}
    below: dict[str, list[tuple[str, int]]] = {}
    for switch, table in switches.items():
        where = f"switch.{switch}"
        _known(file, where, table, SWITCH)
        tree.add(switch, file.line(where))
        below[switch] = []
        for key in ("machines", "switches"):
            line = file.line(where, key)
            below[switch] += [(n, line) for n in _names(file, where, key, table.get(key, []))]
            if key == "machines":
                machines |= dict.fromkeys((n for n, _ in below[switch]), everywhere)
    _machines(file, tree, machines)
    for names in below.values():
        for other, line in names:
            if other in machines:
                tree.add(other, line, machine=True)

    def link_of(other: str) -> Link:
        if other in machines:
            return machines[other]
        if other not in switches:
            return Link()
        return _link(file, f"switch.{other}", switches[other]).or_else(everywhere)

    top = tree.hang(below, link_of)
    if "ranks" in file.data:
        line = file.line("", "ranks")
        names = _names(file, "", "ranks", file.data["ranks"])
        tree.places = [Place(machine, name, line) for machine in names]
    return tree, top
