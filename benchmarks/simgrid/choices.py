# SPDX-License-Identifier: BSD-3-Clause
"""Measures choices on simulated networks against portfolio and selectors; writes a page."""

import argparse
import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import tree as trees
from choose import Chooser
from fit import fitted
from smpi import SELECTORS, Network, built
from stretto import _core
from stretto.errors import Error, run_script
from stretto.tune.own.points import Point, chosen_words
from stretto.units import size_in_words

NETWORKS = {
    "gigabit, one switch": trees.Tree((256,)),
    "fast, one switch": trees.Tree((256,), bandwidth=12.5e9, latency=1e-6),
    "gigabit, two levels": trees.Tree((0, *(32,) * 8), (0,) * 8),
}
# On how many ranks at most what can be simulated in reasonable time.
CELLS = {
    256: "barrier:0 allreduce:8 bcast:8 reduce:1K gather:1K scatter:1K",
    128: "alltoall:8 allreduce:1K",
    64: "bcast:32K bcast:1M allgather:1K alltoall:1K reduce_scatter_block:32K",
    32: "reduce:1M allreduce:32K allreduce:1M bcast:8M allgather:32K reduce_scatter_block:1M",
}
RANKS = (32, 64, 128, 256)
PATIENCE = 120.0  # seconds of real time for a candidate
SAME = 1.0005  # times: no difference
WAYS = ("choice", "model", "rules")  # of a row
PAGE = Path(__file__).with_name("page.md")
PAPERS = Path(__file__).parents[2] / "rules" / "papers.rules"


@dataclass
class Row:
    """One point on one network, in µs."""

    network: str
    point: Point
    us: dict[str, float]  # by candidate
    model: str  # what the model alone chooses
    choice: str  # what is chosen
    rules: str
    selectors: dict[str, float]

    @property
    def best(self) -> str:
        return min(self.us, key=lambda words: self.us[words])

    @property
    def selector(self) -> str:
        return min(self.selectors, key=lambda name: self.selectors[name])

    def loss(self, words: str) -> float:
        return self.us[words] / self.us[self.best] - 1

    @property
    def beaten(self) -> bool:
        return self.selectors[self.selector] * SAME < self.us[self.choice]


def points_of(ranks: int) -> list[Point]:
    found = []
    for most, labels in CELLS.items():
        for label in labels.split() if ranks <= most else ():
            name, _, size = label.partition(":")
            found.append(Point(name, ranks, _core.parse_size(size) or 0))
    return found


def measured(name: str, chooser: Chooser, point: Point) -> Row:
    hosts = chooser.hosts(point.ranks)
    label = f"{point.name}:{point.asked}"
    candidates = chooser.considered(point)
    choice = candidates[0].one.words
    model = min(candidates, key=lambda own: own.model).one.words
    rules = chosen_words(_core.read_rules(str(PAPERS)), point, 1)
    words = list(dict.fromkeys([choice, model, rules, *(own.one.words for own in candidates)]))
    us = {}
    nodes = chooser.nodes(point.ranks)
    for one in chooser.network.run(hosts, [(label, words)], patience=PATIENCE, nodes=nodes):
        if math.isfinite(one.us) and not one.correct:
            raise Error(f"{point}: {one.words} gave a wrong result", "that is a bug of Stretto")
        us[one.words] = one.us
    selectors = {}
    for selector in SELECTORS:
        (one,) = chooser.network.run(hosts, [(label, ["native"])], selector, PATIENCE)
        selectors[selector] = one.us
    return Row(name, point, us, model, choice, rules, selectors)


def percent(share: float) -> str:
    return f"+{share:.1%}" if math.isfinite(share) else "given up"


def line(row: Row) -> str:
    us = row.us
    mark = " **faster**" if row.beaten else ""
    words = (
        row.network, row.point.name, row.point.ranks, size_in_words(row.point.asked),
        f"`{row.best}`", f"{us[row.best]:.1f}", f"`{row.choice}`", percent(row.loss(row.choice)),
        percent(row.loss(row.model)), percent(row.loss(row.rules)),
        f"{row.selector} {us_or_none(row.selectors[row.selector])}{mark}",
    )  # fmt: skip
    return f"| {' | '.join(map(str, words))} |"


def us_or_none(us: float) -> str:
    return f"{us:.1f}" if math.isfinite(us) else "given up"


def summary(rows: list[Row]) -> str:
    lines = []
    for name in (*dict.fromkeys(row.network for row in rows), "all"):
        own = [row for row in rows if name in (row.network, "all")]
        lost = {way: [row.loss(getattr(row, way)) for row in own] for way in WAYS}
        ways = [f"{mean(filter(math.isfinite, losses)):.1%}" for losses in lost.values()]
        ways.append(percent(max(lost["choice"])))
        beaten = sum(row.beaten for row in own)
        lines.append(f"| {name} | {len(own)} | {' | '.join(ways)} | {beaten} |")
    return "\n".join(lines)


def on_one(name: str, wish: str) -> tuple[list[Row], list[str]]:
    """All points of a network, and what is to be said of the fit."""
    network = Network(NETWORKS[name])
    fit = fitted(network)
    fits = [
        f"| {name} | {ranks} | {one.calls} | {one.median:.2f}x | {one.usual:.2f}x |"
        for ranks, one in fit.found.items()
    ]
    chooser, rows = Chooser(network, fit), []
    for point in (point for ranks in map(int, wish.split(",")) for point in points_of(ranks)):
        rows.append(measured(name, chooser, point))
        print(line(rows[-1]), file=sys.stderr, flush=True)
    return rows, fits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--ranks", default=",".join(map(str, RANKS)))
    options = parser.parse_args()
    built()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:  # simulated times do not mind
        found = list(pool.map(lambda name: on_one(name, options.ranks), NETWORKS))
    rows = [row for own, _ in found for row in own]
    fits = [one for _, own in found for one in own]
    text = PAGE.read_text(encoding="utf-8").format(
        arguments=" ".join(["", *sys.argv[2:]]), summary=summary(rows), fits="\n".join(fits),
        rows="\n".join(map(line, rows)), patience=PATIENCE,
    )  # fmt: skip
    options.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run_script(main)
