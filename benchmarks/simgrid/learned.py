# SPDX-License-Identifier: BSD-3-Clause
"""What programs that learn choose on simulated trees, against all else; writes a page."""

import argparse
import math
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import tree as trees
from fit import near
from smpi import Network, built
from stretto import _core
from stretto.cli.calls import shortened
from stretto.errors import Error
from stretto.topology import read_topology
from stretto.tune.own.points import NATIVE, Point, candidate
from stretto.tune.own.topology_aware import OnTopology, best_few, rules_for
from stretto.units import size_in_words

RANKS = (32, 64, 128)
FUNCTIONS = ("allreduce", "bcast", "allgather", "alltoall")
SIZES = (64, 4 << 10, 256 << 10, 4 << 20)  # of the whole vector, or of all parts of a rank
SELECTOR = "mpich"  # what stands for the native library
SEED = 7
MORE, FAR = 6, 4.0  # beside the best of each algorithm; none that is predicted so many times slower
PATIENCE = 600.0  # seconds of real time for a call
GAIN = 0.985  # learn/comparison: less is no reason to change
PAGE = Path(__file__).with_name("learned.md")


def networks(ranks: int) -> dict[str, tuple[trees.Tree, int | None]]:
    """Trees with so many hosts, and the seed of the ranks' order; None: in order."""
    return {
        "one switch": (trees.Tree((ranks,)), None),
        "two switches": (trees.Tree((ranks // 2, ranks // 2)), None),
        "three uneven switches in a line": (
            trees.Tree((ranks // 2, ranks // 8, 3 * ranks // 8)), SEED
        ),
        "three uneven switches below one": (
            trees.Tree((0, 5 * ranks // 8, ranks // 4, ranks // 8), (0, 0, 0)), SEED
        ),
    }  # fmt: skip


@dataclass(frozen=True)
class Row:
    network: str
    point: Point
    learned: str
    us: float
    best: str
    best_us: float
    native_us: float

    @property
    def behind(self) -> float:
        """The best of the portfolio and the native function: a share of its time."""
        return self.us / self.best_us - 1

    @property
    def over_native(self) -> float:
        return self.us / self.native_us - 1


def points(ranks: int) -> list[Point]:
    found = []
    for name in FUNCTIONS:
        for size in SIZES:
            parts = name in ("allgather", "alltoall")
            found.append(Point(name, ranks, max(size // ranks, 8) if parts else size))
    return list(dict.fromkeys(found))


def rules_of(predicted: dict[Point, list], ranks: int) -> _core.Rules:
    """As `stretto tune --predict --topology` makes them, at these sizes."""
    lines = []
    for name in FUNCTIONS:
        own = [point for point in predicted if point.name == name]
        words = [predicted[point][0][1].words for point in own]
        lines += rules_for(name, ranks, tuple(point.asked for point in own), words)
    return _core.parse_rules("\n".join(["stretto-rules 2", *lines, ""]), "predicted")


def learned_among(rules: _core.Rules, point: Point) -> list[str]:
    """The candidates, the one that serves at first in front."""
    call = _core.Call(point.function, _core.Shape(point.ranks), point.bytes)
    all_of_them = [candidate(one.algorithm, one.params) for one in _core.learned_among(rules, call)]
    words = [one.words for one in all_of_them]
    choice = _core.choose(rules, call)
    first = candidate(choice.algorithm, choice.params).words
    return [first, *(one for one in words if one != first)]


def settled(words: list[str], us: dict[str, float]) -> str:
    """What learn/comparison settles on where times do not scatter."""
    current = words[0]
    for one in words[1:]:
        if us[one] < GAIN * us[current]:
            current = one
    return current


def on_one(ranks: int, name: str) -> list[Row]:
    tree, seed = networks(ranks)[name]
    network, hosts = Network(tree), trees.placed(tree, seed)
    with tempfile.TemporaryDirectory() as folder:
        files = trees.write(tree, Path(folder), "network", hosts)
        topology = read_topology(str(files[0]), None, str(files[1]))
    on = OnTopology(near(network), topology)
    predicted = {point: on.candidates(point) for point in points(ranks)}
    rules = rules_of(predicted, ranks)
    tried = {point: learned_among(rules, point) for point in predicted}
    plan, us = [], {}
    for point, found in predicted.items():
        words = [one.words for one in best_few(found, len(found), MORE, FAR)]
        every = list(dict.fromkeys([NATIVE, *tried[point], *words]))
        plan.append((f"{point.name}:{point.asked}", every))
        us[point] = {}
    for one in network.run(hosts, plan, SELECTOR, PATIENCE):
        if math.isfinite(one.us) and not one.correct:
            raise Error(f"{one.asked}: {one.words} gave a wrong result", "a bug of Stretto")
        us[Point(one.cell, one.ranks, one.asked)][one.words] = one.us
    rows = []
    for point, times in us.items():
        learned = settled(tried[point], times)
        best = min(times, key=lambda words: times[words])
        rows.append(Row(name, point, learned, times[learned], best, times[best], times[NATIVE]))
        print(line(rows[-1]), file=sys.stderr, flush=True)
    return rows


def line(row: Row) -> str:
    words = (
        row.network, str(row.point.ranks), f"{row.point.name} {size_in_words(row.point.bytes)}",
        f"`{shortened(row.learned)}`", f"{row.us:.1f}",
        f"`{shortened(row.best)}` {row.best_us:.1f}",
        f"{100 * row.behind:.1f} %", f"{row.native_us:.1f}", f"{100 * row.over_native:+.0f} %",
    )  # fmt: skip
    return f"| {' | '.join(words)} |"


def summary(rows: list[Row]) -> str:
    lines = []
    for name in dict.fromkeys(row.network for row in rows):
        own = sorted(row.behind for row in rows if row.network == name)
        worst = max(row.over_native for row in rows if row.network == name)
        lines.append(f"| {name} | {figures(own)} | {100 * worst:+.1f} % |")
    worst = max(row.over_native for row in rows)
    lines.append(f"| all | {figures(sorted(row.behind for row in rows))} | {100 * worst:+.1f} % |")
    return "\n".join(lines)


def figures(behind: list[float]) -> str:
    mean = sum(behind) / len(behind)
    late = behind[min(math.ceil(0.95 * len(behind)), len(behind)) - 1]
    return f"{len(behind)} | {100 * mean:.1f} % | {100 * late:.1f} % | {100 * behind[-1]:.1f} %"


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/simgrid/learned", description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--ranks", type=int, nargs="*", default=list(RANKS))
    options = parser.parse_args()
    built()
    cells = [(ranks, name) for ranks in options.ranks for name in networks(ranks)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:  # simulated times do not mind
        rows = [row for own in pool.map(lambda cell: on_one(*cell), cells) for row in own]
    text = PAGE.read_text(encoding="utf-8").format(
        arguments="".join(f" {word}" for word in sys.argv[2:]), summary=summary(rows),
        rows="\n".join(map(line, rows)), ranks=", ".join(map(str, options.ranks)),
        selector=SELECTOR, far=FAR,
    )  # fmt: skip
    options.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except Error as error:
        sys.exit(f"error: {error}\nhint: {error.hint}")
