# SPDX-License-Identifier: BSD-3-Clause
"""Shipped rules for a rank on each node: none loses much where the switches are not known."""

from pathlib import Path

import pytest
import stretto
from stretto import _core
from stretto.machine import machine_named
from stretto.topology.predict import placement_of
from stretto.tune.own.points import Point, Predictor, chosen, in_parts, parsed, serves_any
from stretto.tune.own.predicted import SIZES

RULES = Path(__file__).parents[2] / "rules"
# What MPIs choose from, each by its size and number of ranks.
USUAL = {
    "bcast": ("linear", "binomial", "binary_tree", "chain", "scatter_doubling", "scatter_ring"),
    "gather": ("linear", "binomial"),
    "scatter": ("linear", "binomial"),
    "allgather": ("linear", "bruck", "recursive_doubling", "ring", "neighbour_exchange"),
    "alltoall": ("linear", "bruck", "pairwise"),
    "reduce": ("linear", "binomial", "chain", "binary_tree", "halving_gather"),
    "allreduce": ("reduce_bcast", "recursive_doubling", "ring", "halving_doubling"),
    "reduce_scatter": ("linear", "recursive_doubling", "halving", "butterfly", "pairwise"),
    "scan": ("linear", "chain", "recursive_doubling"),
    "exscan": ("linear", "chain", "recursive_doubling"),
}
MBIT = {"gigabit-ethernet": 1000, "cluster": 92000}
# MPICH's nonblocking forms of these end some calls with an error that Stretto's do not have.
SERVED = ("reduce", "reduce_scatter", "reduce_scatter_block")
# No algorithm that knows of no switch is best on both placements: the ring of ranks that alternate
# loses 2.8, Bruck's of ranks switch by switch 2.7, and the best of all 1.6.
FAR = 2.1


def two_switches(order: list[int], mbit: int) -> _core.Topology:
    """The ranks on hosts in this order; the first half of the hosts is on one switch."""
    hosts = [f'"h{i}"' for i in range(len(order))]
    half = len(hosts) // 2
    return stretto.parse_topology(f"""stretto-topology = 1
ranks = [{", ".join(hosts[i] for i in order)}]
[link]
bandwidth = {mbit * 125_000}
[switch.s0]
machines = [{", ".join(hosts[:half])}]
switches = ["s1"]
[switch.s1]
machines = [{", ".join(hosts[half:])}]
""")


def placements(ranks: int) -> list[list[int]]:
    half = ranks // 2
    return [list(range(ranks)), [i // 2 + half * (i % 2) for i in range(ranks)]]


def losses(rules: _core.Rules, machine: str, name: str, ranks: int) -> dict[tuple[int, int], float]:
    """Times over those of the best usual algorithm, by size and placement."""
    function = Point(name, ranks, 8).function
    usual = USUAL[_core.facts(_core.facts(function).collective).name]
    found = {}
    for number, order in enumerate(placements(ranks)):
        topology = two_switches(order, MBIT[machine])
        predictor = Predictor(machine_named(machine), placement_of(topology), topology)
        for size in SIZES:
            point = Point(name, ranks, max(size // ranks, 8) if in_parts(function) else size)
            choice = chosen(rules, point, 1)
            if choice.algorithm is None:
                continue  # the native function loses nothing
            words = _core.written(choice.algorithm, choice.params).replace(" ", ",")
            best = min(
                predictor.seconds(point, one)
                for one in (parsed(point, words) for words in usual)
                if ranks & (ranks - 1) == 0 or serves_any(one.algorithm, function, False)
            )
            found[size, number] = predictor.seconds(point, parsed(point, words)) / best
    return found


@pytest.mark.parametrize("name", [*USUAL, "allgatherv", "reduce_scatter_block"])
def test_no_default_is_far_behind_on_two_switches(name):
    for machine in MBIT:
        for ranks in (4, 6, 8):
            for where, loss in losses(stretto.shipped_rules(), machine, name, ranks).items():
                assert loss <= FAR, (machine, ranks, where)


def test_bruck_alone_would_be():
    rules = _core.parse_rules("stretto-rules 2\nallgather -> bruck\n", "made")
    assert max(losses(rules, "gigabit-ethernet", "allgather", 8).values()) > FAR


@pytest.mark.parametrize("function", _core.all_functions())
def test_short_messages_of_few_nodes_go_the_native_way(function):
    facts = _core.facts(function)
    if _core.facts(facts.collective).neighbourhood or facts.name in SERVED:
        return
    rules = stretto.shipped_rules()
    for ranks in (2, 8, 32):
        assert chosen(rules, Point(facts.name, ranks, 8), 1).algorithm is None
        assert chosen(rules, Point(facts.name, ranks, 8), ranks).algorithm, "on one node"


@pytest.mark.parametrize("part", ["node", "neighbours", "careful"])
def test_all_parts_stand_in_the_shipped_rules(part):
    text = (RULES / f"{part}.rules").read_text(encoding="utf-8")
    assert text in (RULES / "default.rules").read_text(encoding="utf-8"), "run rules/make"
