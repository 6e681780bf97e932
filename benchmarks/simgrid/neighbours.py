# SPDX-License-Identifier: BSD-3-Clause
"""Neighbourhood collectives on skewed graphs, on a simulated cluster; writes a page."""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean

import tree as trees
from smpi import Network, Time, built
from stretto import _core
from stretto.algorithms import function_named
from stretto.errors import Error, run_script
from stretto.explain import Question
from stretto.simulation import Call
from stretto.tune.own.points import candidate
from stretto.units import size_in_words

NODES, PER_NODE = 16, 16
NETWORKS = {
    "fast": trees.Tree((NODES,), bandwidth=12.5e9, latency=1e-6, cores=PER_NODE),
    "gigabit": trees.Tree((NODES,), cores=PER_NODE),
}
# Memory of a node; and what a message takes from the core of its sender and of its receiver.
SETTINGS = (
    "network/loopback-lat:4e-7", "network/loopback-bw:1e10",
    "smpi/os:0:3e-7:0", "smpi/or:0:3e-7:0",
)  # fmt: skip
FUNCTIONS = ("neighbor_alltoall", "neighbor_allgather")
GRAPHS = ("random=5", "random=20")
SIZES = (64, 1 << 10, 8 << 10, 64 << 10)  # of a part
OWN = ("direct", "two_step", "three_step")
PAGE = Path(__file__).with_name("neighbours.md")


@dataclass(frozen=True)
class Row:
    network: str
    graph: str
    name: str
    size: int
    us: dict[str, float]  # of "native", and of Stretto's algorithms
    chosen: str

    @property
    def best(self) -> str:
        return min(OWN, key=lambda words: self.us[words])

    def gain(self, words: str) -> float:
        return self.us["native"] / self.us[words]


def chosen(name: str, graph: str, size: int) -> str:
    """By the shipped rules, which go by what a rank sends on average."""
    ranks = NODES * PER_NODE
    shape = _core.Shape(ranks, graph=graph)
    degree = sum(len(_core.destinations(shape, r)) for r in range(ranks)) / ranks
    function = function_named(name)
    assert function is not None
    call = Call(
        function, ranks, int(size * degree), placement=_core.Placement(PER_NODE), graph=graph
    )
    choice = _core.choose(_core.shipped_rules(), Question(call, True, PER_NODE).asked())
    return candidate(choice.algorithm, choice.params).words


def row(network: str, graph: str, times: list[Time]) -> Row:
    for one in times:
        if one.checked and not one.correct:
            raise Error(f"{one.cell}: {one.words} gave a wrong result", "that is a bug of Stretto")
    first = times[0]
    us = {one.words: one.us for one in times}
    return Row(network, graph, first.cell, first.asked, us, chosen(first.cell, graph, first.asked))


def measured(network: str, graph: str) -> list[Row]:
    tree = NETWORKS[network]
    hosts = trees.placed(tree)
    nodes = [r // PER_NODE for r in range(len(hosts))]
    plan = [(f"{name}:{size}", ["native", *OWN]) for name in FUNCTIONS for size in SIZES]
    found = list(Network(tree, built(), SETTINGS).run(hosts, plan, nodes=nodes, graph=graph))
    each = 1 + len(OWN)
    return [row(network, graph, found[i : i + each]) for i in range(0, len(found), each)]


def line(r: Row) -> str:
    times = " | ".join(f"{r.us[words]:.0f}" for words in ("native", *OWN))
    cells = [r.name, f"`{r.graph}`", r.network, size_in_words(r.size), times]
    return f"| {' | '.join(cells)} | {r.chosen} | {r.gain(r.chosen):.2f} | {r.gain(r.best):.2f} |"


def finding(rows: list[Row]) -> str:
    said = []
    for name in FUNCTIONS:
        gains = [r.gain(r.chosen) for r in rows if r.name == name]
        best = [r.gain(r.best) for r in rows if r.name == name]
        said.append(
            f"the choice for `{name}` is {geometric_mean(gains):.2f} times as fast as sending each "
            f"part by itself on average,\n{min(gains):.2f} to {max(gains):.2f}; with the best "
            f"algorithm it would be {geometric_mean(best):.2f} times as fast"
        )
    return ";\n".join(said) + "."


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/simgrid/neighbours", description=__doc__)
    parser.add_argument("page", type=Path)
    page = parser.parse_args().page
    rows: list[Row] = []
    for network in NETWORKS:
        for graph in GRAPHS:
            print(f"{network}, {graph} …", file=sys.stderr, flush=True)
            rows += measured(network, graph)
    rows.sort(key=lambda r: (FUNCTIONS.index(r.name), GRAPHS.index(r.graph)))
    text = PAGE.read_text(encoding="utf-8").format(
        finding=finding(rows), rows="\n".join(map(line, rows)), nodes=NODES, per_node=PER_NODE,
        ranks=NODES * PER_NODE,
    )  # fmt: skip
    page.write_text(text, encoding="utf-8")
    print(f"wrote {page}", file=sys.stderr)


if __name__ == "__main__":
    run_script(main)
