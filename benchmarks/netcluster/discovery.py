# SPDX-License-Identifier: BSD-3-Clause
"""Discovers the switches of clusters of namespaces: is what is found what is there?"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import cluster as clusters
from paired import as_program
from stretto import _core, parse_topology, read_topology
from stretto.errors import Error
from stretto.launch import Mpi, choose_mpi
from tree import Tree

NAME = "discovery"  # of the cluster, beside that of a developer
PATIENCE = 900  # seconds for a run


@dataclass(frozen=True)
class Case:
    title: str
    hosts: tuple[int, ...]  # on each switch, of a line
    slow: dict[str, float]  # Mbit/s of some links, as in lab/netcluster up --slow


CASES = {
    "4+4": Case("4 + 4 hosts by turns", (4, 4), {}),
    "3+5": Case("3 + 5 hosts by turns", (3, 5), {}),
    "line": Case("three switches in a line, 3 + 2 + 3 hosts by turns", (3, 2, 3), {}),
    "slow": Case("4 + 4 hosts by turns, 50 Mbit/s between the switches", (4, 4), {"s1": 50.0}),
}


@dataclass(frozen=True)
class Run:
    right: bool
    seconds: float
    measurements: int
    worst: float  # of the bandwidths of links, how far from the real one, as a share


def sides(topology: _core.Topology) -> dict[frozenset[str], float]:
    """Bytes a second of each link, by the machines behind it: on the side without h0."""
    machines = {v.name: at for at, v in enumerate(topology.vertices) if v.machine}
    found = {}
    for at, vertex in enumerate(topology.vertices):
        if vertex.above < 0:
            continue
        behind = set()
        for name, below in machines.items():
            while below >= 0 and below != at:
                below = topology.vertices[below].above
            if below == at:
                behind.add(name)
        side = frozenset(set(machines) - behind if "h0" in behind else behind)
        found[side] = min(vertex.bandwidth, found.get(side, vertex.bandwidth))
    return found


def discover(cluster: str, mpi: Mpi, file: Path) -> None:
    """Has `stretto topology discover` write the file; ranks go to the switches by turns."""
    launcher = ["lab/netcluster", "run", "--plain", "--mpi", str(mpi.mpiexec)]
    command = [
        sys.executable, "-m", "stretto", "topology", "discover", "-o", str(file),
        "--mpi", str(mpi.mpiexec), "--", *launcher, "--place", "alternating", "--",
    ]  # fmt: skip
    environment = {**os.environ, "NETCLUSTER": cluster, "PYTHON": sys.executable}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, env=environment, check=False
    )
    if done.returncode:
        raise Error(f"stretto topology discover failed: {done.stderr.strip()[-800:]}", "")


def discovered(case: Case, mbit: float, mpi: Mpi) -> Run:
    """One run, on a cluster of its own."""
    bandwidth = mbit / 8 * 1e6
    slow = {link: rate / 8 * 1e6 for link, rate in case.slow.items()}
    cluster = clusters.up(NAME, Tree(case.hosts, None, bandwidth, 0.0), slow)
    try:
        real = sides(parse_topology(cluster.topology(cluster.placed("alternating"))))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "found.toml"
            begun = time.monotonic()
            discover(NAME, mpi, file)
            seconds = time.monotonic() - begun
            found = sides(read_topology(str(file)))
            words = file.read_text(encoding="utf-8").partition(" measurements")[0].split()
    finally:
        clusters.down(NAME)
    shared = set(real) & set(found)
    worst = max(abs(found[side] / real[side] - 1) for side in shared)
    return Run(set(real) == set(found), seconds, int(words[-1]), worst)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/netcluster/discovery", description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES), help=f"of {', '.join(CASES)}")
    parser.add_argument("--runs", type=int, default=10, help="of each")
    parser.add_argument("--mpi", default="openmpi", help="or the path of an Open MPI's mpiexec")
    parser.add_argument("--mbit", type=float, default=100.0, help="of every other link")
    wish = parser.parse_args()
    unknown = [name for name in wish.cases if name not in CASES]
    if unknown:
        raise Error(f"there is no case '{unknown[0]}'", f"they are {', '.join(CASES)}")
    mpi = choose_mpi(wish.mpi)
    lines = [
        "| cluster | right | measurements | seconds | bandwidths off by |",
        "|---|---|---|---|---|",
    ]
    for name in wish.cases:
        runs = []
        for at in range(wish.runs):
            runs.append(one := discovered(CASES[name], wish.mbit, mpi))
            what = "right" if one.right else "WRONG"
            print(
                f"{name}, run {at + 1}: {what}, {one.measurements} measurements, "
                f"{one.seconds:.0f} s, bandwidths off by {100 * one.worst:.0f} %",
                file=sys.stderr, flush=True,
            )  # fmt: skip
        right = sum(one.right for one in runs)
        lines.append(
            f"| {CASES[name].title} | {right} of {len(runs)} "
            f"| {median(one.measurements for one in runs):.0f} "
            f"| {median(one.seconds for one in runs):.0f} "
            f"| {100 * max(one.worst for one in runs):.0f} % |"
        )
    print("\n".join(lines))


if __name__ == "__main__":
    as_program(main)
