# SPDX-License-Identifier: BSD-3-Clause
"""Paired benchmarks of candidates on a cluster of namespaces, by the driver of `stretto bench`."""

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import cluster as clusters
from openmpi import on_cluster
from stretto import _core, parse_topology
from stretto.errors import Error, run_script
from stretto.launch import Mpi
from stretto.measure.driver import Results, SilenceError, drive
from stretto.measure.points import BACK_TO_BACK
from stretto.tune.own.journal import Measured, read_measured
from stretto.tune.own.points import Point
from tree import Tree

NAME = "benchmark"  # of the cluster, beside that of a developer
PATIENCE = 150.0  # seconds without a word
RULES = "rules"  # the candidate that the rules choose

Plan = dict[Point, list[str]]  # candidates, as in STRETTO_ALLREDUCE; with +: timed to the end


@dataclass
class Lab:
    """A cluster that is up, and where the ranks are."""

    mpi: Mpi
    cluster: clusters.Cluster
    placement: list[str]
    others: list[float] = field(default_factory=list)  # cores that others used before each run

    @property
    def ranks(self) -> int:
        return len(self.placement)

    @property
    def topology(self) -> _core.Topology:
        return parse_topology(self.cluster.topology(self.placement))

    @property
    def order(self) -> str:
        """What algorithms for trees take."""
        return f"order={':'.join(map(str, self.topology.ring))}"

    @property
    def nodes(self) -> list[int]:
        """Of each rank, numbered as they come."""
        hosts = list(dict.fromkeys(self.placement))
        return [hosts.index(host) for host in self.placement]

    def bound(self, point: Point) -> float:
        """Seconds."""
        collective = _core.facts(point.function).collective
        return _core.lower_bound(self.topology, collective, 0, point.bytes).seconds

    def run(
        self, plan: Plan, seconds: float, rules: str = "shipped", mode: str = BACK_TO_BACK
    ) -> dict[Point, Measured]:
        """A launch of its own. `seconds` are those of a point; `rules` as in STRETTO_RULES; calls
        follow one another at once, or each after a barrier (`mode`)."""
        race = Results()
        self.others.append(_cores_in_use())
        with tempfile.NamedTemporaryFile("w", suffix=".plan") as file:
            for point, words in plan.items():
                file.write(f"{point.name}:{point.asked}:{mode} {' '.join(words)}\n")
            file.flush()
            mpi = on_cluster(self.mpi, self.cluster, self.placement)
            words, variables = ["--plan", file.name], {"STRETTO_RULES": rules}
            try:
                drive(mpi, self.ranks, words, seconds, PATIENCE, race, _progress, variables)
            except SilenceError as error:
                point = list(plan)[len(race.cells)]
                raise Error(f"{error}: {point}, {race.stage}", error.hint) from error
        for wrong in race.wrong:
            raise Error(f"a wrong result: {wrong}", "that is a bug of Stretto")
        nodes = race.machine["nodes"]
        if nodes != len(set(self.placement)):
            raise Error(f"the MPI sees {nodes} nodes", "each host needs a name of its own")
        found = [read_measured("netcluster", said) for said in race.cells]
        return dict(zip(plan, found, strict=True))


def _progress(done: int, of: int) -> None:
    print(f"{done} of {of} cells", file=sys.stderr)


def _cores_in_use() -> float:
    """By all processes of the machine, for a second."""

    def busy() -> float:
        user, nice, system, *_ = Path("/proc/stat").read_text(encoding="ascii").split()[1:]
        return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")

    before, begun = busy(), time.monotonic()
    time.sleep(1)
    return (busy() - before) / (time.monotonic() - begun)


@contextmanager
def lab(mpi: Mpi, tree: Tree, place: str, per_host: int = 1) -> Iterator[Lab]:
    """Makes the cluster, and removes it whatever happens."""
    cluster = clusters.up(NAME, tree)
    try:
        yield Lab(mpi, cluster, cluster.placed(place, per_host))
    finally:
        clusters.down(NAME)


def size(words: str) -> int:
    """Of an option; raises Error."""
    found = _core.parse_size(words)
    if not found:
        raise Error(f"--bytes: '{words}' is no size", "write 4M")
    return found


def options(name: str, about: str | None, of_bytes: str) -> argparse.ArgumentParser:
    """Those that all benchmarks of long calls have."""
    parser = argparse.ArgumentParser(prog=f"benchmarks/netcluster/{name}", description=about)
    parser.add_argument("--mpi", default="openmpi", help="or the path of an Open MPI's mpiexec")
    parser.add_argument("--mbit", type=float, default=100.0, help="of every link")
    parser.add_argument("--bytes", type=size, default="4M", help=of_bytes)
    return parser


def as_program(main: Callable[[], None]) -> None:
    """Runs it; errors are told in two lines, and the cluster goes whatever ends it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    run_script(main)
