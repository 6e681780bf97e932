# SPDX-License-Identifier: BSD-3-Clause
"""The clusters of Patarasuk and Yuan, simulated by SimGrid (lab/simgrid)."""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import tree as trees
from smpi import SETTINGS, Network, smpirun
from stretto import _core
from stretto.errors import Error

SIZES = tuple(1 << e for e in range(12, 21))  # 4 KiB to 1 MiB


def _plain(latency: float, bandwidth: float) -> tuple[str, ...]:
    """SimGrid without what it knows of TCP; what messages within a host take."""
    return (
        "smpi/bw-factor:0:1",
        "smpi/lat-factor:0:1",
        "network/crosstraffic:0",
        f"network/loopback-lat:{latency:g}",
        f"network/loopback-bw:{bandwidth:g}",
    )


@dataclass(frozen=True)
class Cluster:
    """A network, and SimGrid's settings."""

    tree: trees.Tree
    settings: tuple[str, ...] = ()


def _smp(nodes: int, cores: int, bandwidth: float, latency: float, loopback: float) -> Cluster:
    """Nodes on one switch; `latency` is that of two links."""
    tree = trees.Tree((nodes,), bandwidth=bandwidth, latency=latency / 2, cores=cores)
    return Cluster(tree, _plain(loopback, 1.5e9))


CLUSTERS = {
    "teragrid-64": _smp(32, 2, 245e6, 7e-6, 1e-6),
    "teragrid-128": _smp(64, 2, 245e6, 7e-6, 1e-6),
    "lonestar-64": _smp(16, 4, 900e6, 4e-6, 7e-7),
    "lonestar-128": _smp(32, 4, 900e6, 4e-6, 7e-7),
    "ethernet-1": Cluster(trees.Tree((8, 8, 8, 8), (0, 0, 0))),
    "ethernet-2": Cluster(trees.Tree((8, 8, 8, 8))),
    "gigabit-96": Cluster(
        trees.Tree((24,), cores=4), ("network/loopback-lat:1e-6", "network/loopback-bw:2.8e9")
    ),
}
ALLGATHERV = Path(__file__).with_name("allgatherv.c")


@dataclass
class Smpi:
    """Runs allreduces, each only once."""

    _known: dict[tuple, dict[int, float]] = field(default_factory=dict)

    def us(self, cluster: str, words: str, seed: int | None = None) -> dict[int, float]:
        """Of an algorithm of Stretto, or of SMPI's "smpi/NAME", at all SIZES; with a seed the ranks
        are placed at random, and "the ring" goes by the tree."""
        key = (cluster, words, seed)
        if key not in self._known:
            own = CLUSTERS[cluster]
            hosts = trees.placed(own.tree, seed)
            selector = ""
            if words.startswith("smpi/"):
                selector, words = f"allreduce:{words.removeprefix('smpi/')}", "native"
            elif words == "the ring":
                words = "ring" if seed is None else f"logical_ring,order={_order(hosts)}"
            plan = [(f"allreduce:{size}", [words]) for size in SIZES]
            times = list(Network(own.tree, settings=own.settings).run(hosts, plan, selector))
            wrong = [one for one in times if not one.correct]
            if wrong:
                raise Error(
                    f"{cluster}: {wrong[0].words} gave no right result", "a bug, or too slow"
                )
            self._known[key] = {one.asked: one.us for one in times}
        return self._known[key]

    def first(self, cluster: str, others: Sequence[str], seed: int | None = None) -> int:
        """The size from which on the ring is the fastest; 0: none."""
        ring = self.us(cluster, "the ring", seed)
        best = {size: min(self.us(cluster, one, seed)[size] for one in others) for size in SIZES}
        found = 0
        for size in reversed(SIZES):
            if ring[size] > best[size]:
                break
            found = size
        return found

    def allgatherv(self, distribution: str, base: int) -> float:
        """SMPI's plain ring over the routine that `stretto generate` writes, on gigabit-96."""
        plain, pipelined = _allgathervs()[f"{distribution}:{base}"]
        return plain / pipelined


BASES = {"spike": (4 << 10, 64 << 10, 1 << 20, 8 << 20), "regular": (64, 1 << 10, 16 << 10)}


@cache
def _allgathervs() -> dict[str, tuple[float, float]]:
    """µs of both, by distribution and base size."""
    cluster = CLUSTERS["gigabit-96"]
    wanted = [f"{name}:{base}" for name, bases in BASES.items() for base in bases]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hosts = trees.placed(cluster.tree)
        platform, hostfile = trees.write(cluster.tree, folder, "network", hosts)
        routine, program = folder / "routine.c", folder / "allgatherv"
        nodes = f"{cluster.tree.hosts[0]}x{cluster.tree.cores}"
        generate = [sys.executable, "-m", "stretto", "generate", "allgatherv"]
        settings = (*cluster.settings, "smpi/allgatherv:ring")
        commands = (
            [*generate, "--topology", nodes, "-o", routine],
            ["smpicc", "-O1", "-DTREE_WITHOUT_MAIN", routine, ALLGATHERV, "-o", program],
            [
                smpirun(), "-no-privatize", "-np", len(hosts), "-platform", platform,
                "-hostfile", hostfile, *SETTINGS, *(f"--cfg={one}" for one in settings),
                program, *wanted,
            ],
        )  # fmt: skip
        for command in commands:
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
            if done.returncode:
                said = (done.stdout + done.stderr).strip()[-1500:]
                raise Error(f"{command[0]} failed:\n{said}", "apt-get install libsimgrid-dev gcc")
    lines = [line.split() for line in done.stdout.splitlines()]
    return {words[0]: (float(words[1]), float(words[2])) for words in lines}


def _order(hosts: list[str]) -> str:
    """Ranks as their hosts stand on the switches, which is a depth-first order of our trees."""
    ranks = sorted(range(len(hosts)), key=lambda rank: int(hosts[rank].removeprefix("n")))
    return ":".join(map(str, ranks))


def two_levels(nodes: int, cores: int) -> _core.Topology:
    """The same without SimGrid: which messages share the links of nodes."""
    return _core.two_levels([node for node in range(nodes) for _ in range(cores)], 245e6, 3.5e-6)
