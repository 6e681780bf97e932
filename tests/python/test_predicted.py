# SPDX-License-Identifier: BSD-3-Clause
"""Rules by the model alone: from made-up times to rules; what the shipped ones lose; no cliffs."""

import math
from statistics import mean

import pytest
import stretto
from commands import refuse, succeed
from stretto import _core
from stretto.algorithms import function_named
from stretto.machine import machine_named
from stretto.tune.own.choice import SHIPPED, Times, words_of
from stretto.tune.own.points import Point, Predictor, chosen, parsed
from stretto.tune.own.predicted import (
    ALONE,
    FULL,
    NODE,
    SIZES,
    UNEVEN,
    Level,
    levels_of,
    predicted_times,
)
from stretto.tune.own.rules import lines_in_turn


def times(**us: float) -> Times:
    return Times(us, SHIPPED)


def lines(name: str, conditions: list[str], found: dict[int, list[str]]) -> list[str]:
    """Without the columns."""
    own = lines_in_turn(function_named(name), conditions, found, SIZES)
    return [" ".join(line.split()) for line in own]


def test_neighbours_share_what_loses_little():
    few = [times(linear=1.0, ring=2.0)] * len(SIZES)
    more = [times(linear=1.02, ring=1.0)] * len(SIZES)
    many = [times(linear=2.0, ring=1.0)] * len(SIZES)
    assert lines("allgather", [], words_of({2: few, 4: more, 16: many})) == [
        "allgather ranks<=8 -> linear", "allgather -> ring",
    ]  # fmt: skip
    fewer = words_of({2: few, 4: many[:1]})
    assert fewer[4] == ["ring"], "fewer sizes, where vectors would be too large"


def test_rules_of_sizes_and_ranks():
    small, large = times(bruck=1.0, ring=3.0), times(bruck=3.0, ring=1.0)
    known = [small if size < 64 << 10 else large for size in SIZES]
    found = lines("allgather", ["nodes>1", "ranks=2^k"], words_of({8: known}))
    assert found == [
        "allgather nodes>1 ranks=2^k part<32K -> bruck", "allgather nodes>1 ranks=2^k -> ring",
    ]  # fmt: skip
    rules = _core.parse_rules("\n".join(["stretto-rules 2", *found]), "made")
    for size, name in ((8, "bruck"), (16 << 10, "bruck"), (64 << 10, "ring")):
        assert chosen(rules, Point("allgather", 8, size), 1).algorithm.name == name
    assert chosen(rules, Point("allgather", 9, 8), 1).algorithm is None, "not 2^k"


def seconds_by_shipped(machine: _core.Machine, point: Point, placements: list[int]) -> float:
    """The mean of the placements, which the rules treat alike."""
    choice = chosen(stretto.shipped_rules(), point, placements[0])
    words = _core.written(choice.algorithm, choice.params).replace(" ", ",")
    return math.exp(
        mean(
            math.log(Predictor(machine, _core.Placement(k)).seconds(point, parsed(point, words)))
            for k in placements
        )
    )


def losses(machine: _core.Machine, level: Level, name: str, ranks: int) -> list[float]:
    """Of the shipped rules on several nodes, by the same mean of placements as they were made."""
    found = []
    for size, known in zip(SIZES, predicted_times(machine, level, name, ranks), strict=True):
        point, placements = Point(name, ranks, size), level.placements(ranks)
        if chosen(stretto.shipped_rules(), point, placements[0]).algorithm is None:
            continue  # the native function
        seconds = seconds_by_shipped(machine, point, placements)
        found.append(seconds * 1e6 / known.best - 1)
    return found


@pytest.mark.parametrize("name", ["allreduce", "bcast", "reduce_scatter_block", "alltoall"])
@pytest.mark.parametrize(
    ("level", "ranks"),
    [*((ALONE, p) for p in (4, 7, 20)), *((FULL, p) for p in (8, 20, 24)), (UNEVEN, 18)],
)
def test_shipped_rules_are_near_the_models_best(level, ranks, name):
    lost = losses(machine_named("cluster"), level, name, ranks)
    assert mean(lost) <= 0.2, "`rules/make` writes them anew"
    assert max(lost) <= 0.7


def by_byte(name: str, ranks: int, per_node: int) -> float:
    """Predicted seconds of a long vector for each of its bytes."""
    size = (16 << 20) // ranks if name == "allgather" else 16 << 20
    point = Point(name, ranks, size)
    return seconds_by_shipped(machine_named("cluster"), point, [per_node]) / point.bytes


# Five ranks need one round more than four: in an allreduce they are 1.10 behind, in an allgather
# 1.16.
@pytest.mark.parametrize(
    ("name", "powers"),
    [
        ("allreduce", (4, 8, 16, 32, 64, 128)),
        ("bcast", (4, 8, 16, 32, 64, 128)),
        ("reduce_scatter_block", (4, 8, 16, 32, 64, 128)),
        ("allgather", (8, 16, 32, 64, 128)),
    ],
)
def test_no_cliff_behind_a_power_of_two(name, powers):
    for power in powers:
        assert by_byte(name, power + 1, 1) <= 1.11 * by_byte(name, power, 1), power


# Full nodes: the rules are made for those of 16 as well, and ask for neither number.
@pytest.mark.parametrize("name", ["allreduce", "bcast", "reduce_scatter_block", "allgather"])
def test_one_node_more_costs_little(name):
    for nodes in (8, 16, 32):
        assert by_byte(name, 4 * nodes + 4, 4) <= 1.3 * by_byte(name, 4 * nodes, 4), nodes


def test_levels_are_those_of_the_file():
    link = _core.Link(alpha=1e-6, beta=1e-10)
    assert levels_of(_core.Machine(network=link)) == [ALONE, FULL, UNEVEN]
    assert levels_of(machine_named("cluster")) == [NODE, ALONE, FULL, UNEVEN]


def test_command(tmp_path):
    path = tmp_path / "predicted.rules"
    asked = ("tune", "--predict", "cluster", "--collectives", "barrier", "--output", path)
    assert succeed(*asked) == f"wrote {path}\n"
    rules = stretto.read_rules(str(path))
    for per_node in (24, 1):
        algorithm = chosen(rules, Point("barrier", 24, 0), per_node).algorithm
        assert algorithm.collective == stretto.Collective.barrier
    assert "nothing is measured" in refuse(*asked, "--ranks", 4)
    assert "cluster" in refuse("tune", "--predict", "clustr", "--output", path)
