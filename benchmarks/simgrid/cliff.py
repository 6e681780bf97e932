# SPDX-License-Identifier: BSD-3-Clause
"""Time per byte of one rank more than a power of two, on a simulated network; writes a page."""

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import tree as trees
from choose import Chooser
from fit import fitted
from smpi import Network, Time
from stretto.errors import Error, run_script
from stretto.tune.own.points import Point, in_parts

NETWORKS = {
    "gigabit": trees.Tree((64,)),
    "fast": trees.Tree((64,), bandwidth=12.5e9, latency=1e-6),
}
NAMES = ("allreduce", "bcast", "reduce_scatter_block", "allgather")
POWERS = (8, 16, 32)
BYTES = 4 << 20  # of the vector, all parts together
PATIENCE = 300.0  # seconds of real time
PAGE = """\
# One rank more than a power of two

Does a collective take much longer on one rank more than a power of two? It takes twice as long with
an algorithm in which the ranks beyond the power of two first send their vectors to other ranks.
Stretto's choices take at most {worst:.2f} times as long.

`benchmarks/simgrid/cliff` repeats this; all times are simulated by SimGrid, so they are the same on
every machine. The hosts are on one switch, with one rank each. Their links have 125 MB/s and 25 µs
(gigabit) or 12.5 GB/s and 1 µs (fast). The vector has 4 MiB, all parts together. The first table
has the time per byte on 2^k + 1 ranks over the time per byte on 2^k ranks. Stretto chooses by a
model that was fitted to calls on at most 16 ranks ([how](simgrid.md)).

| network | function | {heads} |
|---|---|{bars}|
{rows}

The choices:

| network | function | ranks | choice | ms |
|---|---|---|---|---|
{choices}
"""


@dataclass(frozen=True)
class Measured:
    point: Point
    time: Time

    @property
    def per_byte(self) -> float:
        return self.time.us / self.point.bytes


def measured(chooser: Chooser, name: str, ranks: int) -> Measured:
    probe = Point(name, ranks, BYTES)
    point = Point(name, ranks, BYTES // ranks) if in_parts(probe.function) else probe
    words = chooser.considered(point)[0].one.words
    plan = [(f"{name}:{point.asked}", [words])]
    hosts, nodes = chooser.hosts(ranks), chooser.nodes(ranks)
    (time,) = chooser.network.run(hosts, plan, patience=PATIENCE, nodes=nodes)
    if math.isinf(time.us):
        raise Error(f"{point}: {words} was given up", "on a busy machine simulations take long")
    if time.checked and not time.correct:
        raise Error(f"{point}: {words} gave a wrong result", "that is a bug of Stretto")
    print(f"{point}: {words}, {time.us:.0f} µs", file=sys.stderr, flush=True)
    return Measured(point, time)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    page = parser.parse_args().page
    rows, choices, ratios = [], [], []
    for network, tree in NETWORKS.items():
        own = Network(tree)
        chooser = Chooser(own, fitted(own))
        for name in NAMES:
            found = {p: measured(chooser, name, p) for k in POWERS for p in (k, k + 1)}
            row = [found[k + 1].per_byte / found[k].per_byte for k in POWERS]
            ratios += row
            rows.append(f"| {network} | {name} | {' | '.join(f'{one:.2f}' for one in row)} |")
            choices += [
                f"| {network} | {name} | {p} | `{one.time.words}` | {one.time.us / 1e3:.2f} |"
                for p, one in found.items()
            ]
    text = PAGE.format(
        worst=max(ratios), heads=" | ".join(f"{k + 1} to {k}" for k in POWERS),
        bars="|".join(["---"] * len(POWERS)), rows="\n".join(rows), choices="\n".join(choices),
    )  # fmt: skip
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run_script(main)
