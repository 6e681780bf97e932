# SPDX-License-Identifier: BSD-3-Clause
"""Tunes an allreduce for simulated trees and compares it with all that SMPI has; writes a page."""

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
from smpi import ALLREDUCES, SELECTORS, Network, built
from stretto import _core
from stretto.cli.calls import shortened
from stretto.errors import Error, run_script
from stretto.topology import read_topology
from stretto.tune.own.points import Point, chosen_words
from stretto.tune.own.topology_aware import OnTopology, best_few, rules_for
from stretto.units import size_in_words

RANKS = 32
NETWORKS = {
    "four switches in a line": trees.Tree((8, 8, 8, 8)),
    "two switches": trees.Tree((16, 16)),
    "one switch": trees.Tree((32,)),
}
SEED = 7
FUNCTION = "allreduce"
LEAST, MOST = 8, 8 << 20
EVERY = 4  # each size is so many times the one before
ALGORITHMS, MORE, FAR = 6, 4, 2.5  # of the predicted ones, those that are measured
PATIENCE = 900.0  # seconds of real time for a call: what is chosen must not go by them
SAME = 1.0005  # times: no difference
PAGE = Path(__file__).with_name("trees.md")


@dataclass(frozen=True)
class Place:
    """A network with a placement of the ranks."""

    name: str
    shuffled: bool

    @property
    def hosts(self) -> list[str]:
        return trees.placed(NETWORKS[self.name], SEED if self.shuffled else None)

    def topology(self) -> _core.Topology:
        with tempfile.TemporaryDirectory() as folder:
            files = trees.write(NETWORKS[self.name], Path(folder), "network", self.hosts)
            return read_topology(str(files[0]), None, str(files[1]))


@dataclass(frozen=True)
class Row:
    place: Place
    point: Point
    choice: str
    us: float
    native: str
    native_us: float
    bound_us: float

    @property
    def ratio(self) -> float:
        return self.us / self.native_us


def label(point: Point) -> str:
    return f"{point.name}:{point.asked}"


def tuned(network: Network, place: Place, topology: _core.Topology, points: list[Point]) -> dict:
    """The time of what the rules choose, which are made of what was measured: by point, in words
    and µs."""
    on = OnTopology(near(network), topology)
    plan = [
        (label(point), [one.words for one in best_few(on.candidates(point), ALGORITHMS, MORE, FAR)])
        for point in points
    ]
    us: dict[Point, dict[str, float]] = {point: {} for point in points}
    for one in network.run(place.hosts, plan, patience=PATIENCE):
        if math.isfinite(one.us) and not one.correct:
            raise Error(f"{one.asked}: {one.words} gave a wrong result", "a bug of Stretto")
        us[Point(one.cell, one.ranks, one.asked)][one.words] = one.us
    best: list[str] = []
    for point in points:
        least = min(us[point].values())
        before = us[point].get(best[-1], math.inf) if best else math.inf
        plain = before <= least * SAME  # what served the size before
        best.append(best[-1] if plain else min(us[point], key=lambda words: us[point][words]))
    lines = rules_for(FUNCTION, RANKS, tuple(point.asked for point in points), best)
    rules = _core.parse_rules("\n".join(["stretto-rules 2", *lines, ""]), str(place))
    words = {point: chosen_words(rules, point, 1) for point in points}
    return {point: (own, us[point][own]) for point, own in words.items()}


def natives(network: Network, place: Place, points: list[Point]) -> tuple[dict, set[str]]:
    """By point and name, in µs, what gave the right result; and the names of what did not."""
    us: dict[Point, dict[str, float]] = {point: {} for point in points}
    wrong = set()
    plan = [(label(point), ["native"]) for point in points]
    for name in (*SELECTORS, *(f"{FUNCTION}:{own}" for own in ALLREDUCES)):
        for one in network.run(place.hosts, plan, name, PATIENCE):
            if one.correct:
                us[Point(one.cell, one.ranks, one.asked)][name] = one.us
            elif math.isfinite(one.us):
                wrong.add(name)
    return us, wrong


def on_one(place: Place, points: list[Point]) -> tuple[list[Row], set[str]]:
    network, topology = Network(NETWORKS[place.name]), place.topology()
    own = tuned(network, place, topology, points)
    us, wrong = natives(network, place, points)
    rows = []
    for point in points:
        native = min(us[point], key=lambda name: us[point][name])
        bound = _core.lower_bound(topology, _core.facts(point.function).collective, 0, point.bytes)
        words, time = own[point]
        row = Row(place, point, words, time, native, us[point][native], bound.seconds * 1e6)
        rows.append(row)
        print(line(row), file=sys.stderr, flush=True)
    return rows, wrong


def line(row: Row) -> str:
    mark = " **slower**" if row.ratio > SAME else ""
    words = (
        row.place.name, "at random" if row.place.shuffled else "in order",
        size_in_words(row.point.asked), f"`{shortened(row.choice)}`", f"{row.us:.1f}",
        f"{row.native.removeprefix(FUNCTION + ':')} {row.native_us:.1f}",
        f"{row.ratio:.2f}{mark}", f"{row.bound_us:.1f}",
    )  # fmt: skip
    return f"| {' | '.join(words)} |"


def summary(rows: list[Row]) -> str:
    lines = []
    for place in dict.fromkeys(row.place for row in rows):
        own = [row for row in rows if row.place == place]
        ratios = [row.ratio for row in own]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        where = f"{place.name} | {'at random' if place.shuffled else 'in order'}"
        slower = sum(ratio > SAME for ratio in ratios)
        extremes = f"{min(ratios):.2f} | {max(ratios):.2f}"
        lines.append(f"| {where} | {len(own)} | {mean:.2f} | {extremes} | {slower} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--every", type=int, default=EVERY, help="from each size to the next: 2")
    options = parser.parse_args()
    if options.every < 2:
        raise Error("--every: a factor from each size to the next", "give 2 or more")
    built()
    sizes = [LEAST]
    while sizes[-1] * options.every < MOST:
        sizes.append(sizes[-1] * options.every)
    points = [Point(FUNCTION, RANKS, size) for size in (*sizes, MOST)]
    places = [Place(name, shuffled) for name in NETWORKS for shuffled in (False, True)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:  # simulated times do not mind
        found = list(pool.map(lambda place: on_one(place, points), places))
    rows = [row for own, _ in found for row in own]
    wrong = sorted(set().union(*(names for _, names in found)))
    text = PAGE.read_text(encoding="utf-8").format(
        arguments=" ".join(sys.argv[2:]), summary=summary(rows), rows="\n".join(map(line, rows)),
        points=len(rows), slower=sum(row.ratio > SAME for row in rows),
        wrong=", ".join(f"`{name.removeprefix(FUNCTION + ':')}`" for name in wrong) or "none",
    )  # fmt: skip
    options.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run_script(main)
