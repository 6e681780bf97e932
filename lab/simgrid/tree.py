# SPDX-License-Identifier: BSD-3-Clause
"""SimGrid platforms that are trees of switches with hosts on them."""

import random
from dataclasses import dataclass
from pathlib import Path

from stretto.errors import Error

SPEED = "10Gf"  # of a host; nothing is computed in simulated time


@dataclass(frozen=True)
class Tree:
    """Hosts on each switch, and the parent of each but the first."""

    hosts: tuple[int, ...]
    parents: tuple[int, ...] | None = None  # of switches 1, 2, …; None: a line
    bandwidth: float = 125e6  # bytes a second, of every link and in each direction
    latency: float = 25e-6  # seconds, of every link
    cores: int = 1  # of a host
    uplinks: tuple[float, ...] | None = None
    """Bytes a second of the link from each switch but the first to its parent; None: as others."""

    def __post_init__(self) -> None:
        if not self.hosts or min(self.hosts) < 0 or not sum(self.hosts):
            raise Error("a platform needs hosts", "write the hosts on each switch: 8,8,8,8")
        if len(self.upward) != len(self.hosts) - 1:
            raise Error(
                f"{len(self.upward)} parents for {len(self.hosts)} switches",
                "name the parent of every switch but the first, '-': -,0,0,1",
            )
        for switch, parent in enumerate(self.upward, 1):
            if not 0 <= parent < switch:
                raise Error(
                    f"the parent of switch {switch} is {parent}",
                    f"a switch stands behind its parent: name one of 0 to {switch - 1}",
                )
        if self.uplinks is not None and len(self.uplinks) != len(self.upward):
            raise Error(
                f"{len(self.uplinks)} bandwidths for {len(self.upward)} links between switches",
                "give one for every switch but the first",
            )
        if min((self.bandwidth, *(self.uplinks or ()))) <= 0 or self.latency < 0:
            raise Error("a link needs a bandwidth above 0", "and a latency of 0 or more")

    @property
    def upward(self) -> tuple[int, ...]:
        return tuple(range(len(self.hosts) - 1)) if self.parents is None else self.parents

    @property
    def switches(self) -> list[int]:
        """Of each host."""
        return [switch for switch, count in enumerate(self.hosts) for _ in range(count)]


def parsed(
    hosts: str, parents: str | None = None, mbytes: float = 125.0, latency_us: float = 25.0
) -> Tree:
    """From words of a command line: 8,8,8 and -,0,0."""

    def numbers(words: list[str], what: str) -> tuple[int, ...]:
        if not all(word.strip().isdigit() for word in words):
            raise Error(f"{what}: '{','.join(words)}' are no numbers", "write 8,8,8,8")
        return tuple(map(int, words))

    upward: tuple[int, ...] | None = None
    if parents is not None:
        first, *rest = parents.split(",")
        if first.strip() != "-":
            raise Error(f"the first switch has the parent '{first}'", "it has none, '-': -,0,0")
        upward = numbers(rest, "--parents")
    return Tree(numbers(hosts.split(","), "hosts"), upward, mbytes * 1e6, latency_us * 1e-6)


def xml(tree: Tree) -> str:
    """The platform's file. Links have two directions that do not disturb each other."""

    def link(bandwidth: float) -> str:
        return (
            f'bandwidth="{bandwidth:g}Bps" latency="{tree.latency:g}s" sharing_policy="SPLITDUPLEX"'
        )

    lines = [
        '<?xml version="1.0"?>', '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
        '<platform version="4.1">', '<zone id="tree" routing="Floyd">',
    ]  # fmt: skip
    ends = [(f"n{i}", f"s{switch}") for i, switch in enumerate(tree.switches)]
    uplinks = [(f"s{i}", f"s{parent}") for i, parent in enumerate(tree.upward, 1)]
    lines += [f'<router id="s{i}"/>' for i in range(len(tree.hosts))]
    lines += [f'<host id="{host}" speed="{SPEED}" core="{tree.cores}"/>' for host, _ in ends]
    both = [*ends, *uplinks]
    speeds = [tree.bandwidth] * len(ends)
    speeds += tree.uplinks or [tree.bandwidth] * len(uplinks)
    lines += [
        f'<link id="l-{down}" {link(speed)}/>'
        for (down, _), speed in zip(both, speeds, strict=True)
    ]
    lines += [
        f'<route src="{down}" dst="{up}"><link_ctn id="l-{down}" direction="UP"/></route>'
        for down, up in both
    ]
    return "\n".join([*lines, "</zone>", "</platform>"]) + "\n"


def placed(tree: Tree, shuffle: int | None = None) -> list[str]:
    """Hosts in the order of ranks, one on each core; with a seed, any order."""
    names = [f"n{i}" for i in range(sum(tree.hosts)) for _ in range(tree.cores)]
    if shuffle is not None:
        random.Random(shuffle).shuffle(names)
    return names


def write(tree: Tree, folder: Path, name: str, hosts: list[str]) -> tuple[Path, Path]:
    """The platform and the host file."""
    platform, hostfile = folder / f"{name}.xml", folder / f"{name}.hosts"
    platform.write_text(xml(tree), encoding="utf-8")
    hostfile.write_text("\n".join(hosts) + "\n", encoding="utf-8")
    return platform, hostfile
