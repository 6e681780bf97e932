# SPDX-License-Identifier: BSD-3-Clause
"""Networks, points and times of the benchmark `learned`."""

import json
import math
import tempfile
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain, zip_longest
from pathlib import Path

import tree as trees
from fit import near, spread
from smpi import Network
from stretto import _core
from stretto.errors import Error
from stretto.portfolio import sample_shape
from stretto.topology import read_topology
from stretto.tune.own.points import Candidate, Point
from stretto.tune.own.topology_aware import Found, OnTopology, best_few, predicted_rules

RANKS = (32, 64, 128)
FAST = {"bandwidth": 12.5e9, "latency": 1e-6}
NETWORKS = {
    "one switch": (trees.Tree((128,), **FAST), "in order"),
    "two levels": (trees.Tree((0, *(16,) * 8), (0,) * 8), "evenly"),
    "uneven switches": (trees.Tree((0, 5, 11, 16, 3, 29, 24, 40), (0,) * 7, **FAST), "in order"),
    "thin link": (trees.Tree((8, 64, 56), uplinks=(125e6, 31.25e6)), "by turns"),
}
# Bytes of the vector, or of each rank's part; and on how many ranks at most they are simulated.
VECTORS = {8: 128, 1000: 128, 20_000: 64, 256 << 10: 64, 1_500_000: 32, 4 << 20: 32}
PARTS = {8: 128, 520: 128, 4 << 10: 64, 20_000: 32, 128 << 10: 32}
SIZES = {
    "bcast": VECTORS, "reduce": VECTORS, "allreduce": VECTORS, "reduce_scatter_block": VECTORS,
    "allgather": PARTS, "gather": PARTS, "scatter": PARTS, "alltoall": PARTS,
}  # fmt: skip
PATIENCE = 300.0  # seconds of real time for a call: linear on 128 ranks takes minutes
AT_ONCE = 12  # cells of a run of the simulator
MOST_WORK = 20_000_000  # of a call in segments: its messages times those in flight
FAR = 6.0  # times the best prediction: not looked at
BEST, CORRECTED = 4, 4  # candidates beside the best of each algorithm: by the model, and corrected


def points_of(ranks: int) -> list[Point]:
    return [
        Point(name, ranks, size)
        for name, sizes in SIZES.items()
        for size, most in sizes.items()
        if ranks <= most
    ]


@dataclass(frozen=True)
class Place:
    """Ranks on a network, each on a host of its own."""

    network: str
    ranks: int

    @property
    def tree(self) -> trees.Tree:
        return NETWORKS[self.network][0]

    @property
    def switches(self) -> int:
        """With hosts."""
        return len(set(self.tree.switches))

    @property
    def hosts(self) -> list[str]:
        tree, how = NETWORKS[self.network]
        if how == "evenly":
            return spread(Network(tree), self.ranks, self.switches)
        names = trees.placed(tree)
        if how == "by turns":
            own: dict[int, list[str]] = {}
            for name, switch in zip(names, tree.switches, strict=True):
                own.setdefault(switch, []).append(name)
            names = [name for name in chain(*zip_longest(*own.values())) if name]
        return names[: self.ranks]

    @property
    def topology(self) -> _core.Topology:
        with tempfile.TemporaryDirectory() as folder:
            files = trees.write(self.tree, Path(folder), "network", self.hosts)
            return read_topology(str(files[0]), None, str(files[1]))


@cache
def machine_of(bandwidth: float, latency: float) -> _core.Machine:
    """What messages cost between hosts of one switch."""
    return near(Network(trees.Tree((16,), bandwidth=bandwidth, latency=latency)))


@dataclass
class Times:
    """Of calls at one place, in µs. Those of earlier runs are in the folder, and count."""

    place: Place
    folder: Path
    patience: float = PATIENCE
    _known: dict[tuple[str, str, str], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self._file.exists():
            for line in self._file.read_text(encoding="utf-8").splitlines():
                *key, us = json.loads(line)
                self._known[tuple(key)] = math.inf if us is None else us

    @property
    def _file(self) -> Path:
        name = f"{self.place.network.replace(' ', '-')}-{self.place.ranks}.jsonl"
        return self.folder / name

    def us(self, point: Point, words: str, selector: str = "") -> float:
        return self._known[selector, _cell(point), words]

    def of(
        self, plan: list[tuple[Point, list[str]]], selector: str = ""
    ) -> dict[Point, dict[str, float]]:
        """What is not known is measured."""
        todo = []
        for point, words in plan:
            unknown = [w for w in words if (selector, _cell(point), w) not in self._known]
            if unknown:
                todo.append((_cell(point), unknown))
        for i in range(0, len(todo), AT_ONCE):
            self._measure(todo[i : i + AT_ONCE], selector)
        return {
            point: {one: self.us(point, one, selector) for one in words} for point, words in plan
        }

    def _measure(self, todo: list[tuple[str, list[str]]], selector: str) -> None:
        nodes = range(self.place.ranks)
        network = Network(self.place.tree)
        for one in network.run(self.place.hosts, todo, selector, self.patience, nodes):
            cell = f"{one.cell}:{one.asked}"
            if math.isfinite(one.us) and not one.correct:
                raise Error(f"{cell}: {one.words} gave a wrong result", "a bug of Stretto or SMPI")
            self._known[selector, cell, one.words] = one.us
            us = one.us if math.isfinite(one.us) else None
            with self._file.open("a", encoding="utf-8") as file:
                print(json.dumps([selector, cell, one.words, us]), file=file)

    @cached_property
    def _on_topology(self) -> OnTopology:
        tree = self.place.tree
        return OnTopology(machine_of(tree.bandwidth, tree.latency), self.place.topology)

    def rules(self, functions: list[str]) -> Path:
        """As `stretto tune --predict` writes them for the topology, but for other ranks."""
        path = self._file.with_suffix(".rules")
        if not path.exists():
            lines = predicted_rules(self._on_topology, functions)
            path.write_text("\n".join(["stretto-rules 2", *lines, ""]), encoding="utf-8")
        return path

    def predicted(self, point: Point) -> Found:
        """What the model says, which knows the tree."""
        found = self._on_topology.candidates(point)
        return [(seconds, one) for seconds, one in found if simulated_soon(point, one)]


@cache
def _messages(
    algorithm: _core.Algorithm, ranks: int, value: int, order: tuple[int, ...]
) -> tuple[int, int]:
    """Of one segment: all, and the most of a step."""
    params = _core.Params(value=value, list=list(order))
    messages = _core.Messages(algorithm, sample_shape(algorithm, ranks), params)
    steps = []
    while step := messages.of_step(len(steps) + 1):
        steps.append(len(step))
    return sum(steps), max(steps, default=0)


def simulated_soon(point: Point, one: Candidate) -> bool:
    """Not of so many segments that this would take a minute or more."""
    own = one.params
    segments = -(-point.bytes // own.segment) if own.segment else 1
    if segments == 1 or not one.algorithm:
        return True
    every, at_once = _messages(one.algorithm, point.ranks, own.value, tuple(own.list))
    return every * segments * at_once * min(own.depth, segments) <= MOST_WORK


def _cell(point: Point) -> str:
    return f"{point.name}:{point.asked}"


def portfolio_of(times: Times, points: list[Point]) -> dict[Point, dict[str, float]]:
    """Times of what the model, which knows the tree, finds best of all algorithms, with their
    parameters, lists and segments; and of what is best if predictions are corrected by that."""
    found = {point: times.predicted(point) for point in points}
    first = {point: best_few(own, len(own), BEST, FAR) for point, own in found.items()}
    times.of([(point, [one.words for one in own]) for point, own in first.items()])
    more = {point: _corrected(times, point, found[point], first[point]) for point in points}
    both = {point: [one.words for one in (*first[point], *more[point])] for point in points}
    return times.of(list(both.items()))


def _corrected(times: Times, point: Point, found: Found, known: list[Candidate]) -> list[Candidate]:
    """The best few by the model, times what it is off by for those of the algorithm."""
    predicted = {one.words: seconds for seconds, one in found}
    off: dict[tuple[str, bool], float] = {}
    for one in known:
        factor = times.us(point, one.words) / predicted[one.words]
        key = (one.id, bool(one.params.list))
        off[key] = min(off.get(key, math.inf), factor)
    rest = [
        (seconds * off[one.id, bool(one.params.list)], one)
        for seconds, one in found
        if one not in known and (one.id, bool(one.params.list)) in off
    ]
    return [one for _, one in sorted(rest, key=lambda pair: pair[0])[:CORRECTED]]
