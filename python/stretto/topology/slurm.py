# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's topology.conf, of the plugin topology/tree (its manual: `man topology.conf`)."""

import re
from collections.abc import Iterator

from ..algorithms import near
from .tree import Link, Tree
from .words import names_of

KEYS = ("switchname", "switches", "nodes", "linkspeed")


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Without comments; lines that end in a backslash go on."""
    plain = re.sub(r"[^\S\n]*(#.*)?$", "", text, flags=re.MULTILINE)
    for found in re.finditer(r"(?:.*\\\n)*.+", plain):
        if words := found[0].replace("\\\n", " ").removesuffix("\\").strip():
            yield plain.count("\n", 0, found.start()) + 1, words


def _words(tree: Tree, line: int, text: str) -> dict[str, str]:
    found = {}
    for word in text.split():
        key, equals, value = word.partition("=")
        if key.lower().startswith("block"):
            raise tree.error(
                line, f"'{key}' belongs to topology/block, which is no tree",
                "only files of topology/tree can be read",
            )  # fmt: skip
        if key.lower() not in KEYS or not equals or not value:
            raise tree.error(line, f"cannot read '{word}'", near(key.lower(), list(KEYS)))
        found[key.lower()] = value
    if "switchname" not in found:
        raise tree.error(line, "a line without SwitchName", "write SwitchName=s0 Nodes=n[0-3]")
    return found


def parse(text: str, name: str) -> tuple[Tree, str]:
    """The tree, and what is on top of it; raises Error."""
    tree = Tree(name)
    below: dict[str, list[tuple[str, int]]] = {}
    for line, words in _logical_lines(text):
        found = _words(tree, line, words)
        names = {}
        for key in ("switchname", "nodes", "switches"):
            names[key] = names_of(found[key]) if key in found else []
            if names[key] is None:
                raise tree.error(line, f"'{found[key]}' is no list of names", "write n[0-3,7]")
        for switch in names["switchname"]:
            tree.add(switch, line)
            below[switch] = [(other, line) for other in names["nodes"] + names["switches"]]
        for machine in names["nodes"]:
            tree.add(machine, line, machine=True)
    if not below:
        raise tree.error(1, "there is no switch", "lines say SwitchName=s0 Nodes=n[0-3]")
    return tree, tree.hang(below, lambda _: Link())
