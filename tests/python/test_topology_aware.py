# SPDX-License-Identifier: BSD-3-Clause
"""Choice with a topology: lists made of a tree, predictions where messages share links, rules."""

from pathlib import Path

import pytest
import stretto
from commands import json_of, refuse, succeed
from stretto import _core
from stretto.machine import machine_named
from stretto.topology import parse_topology
from stretto.topology.lists import list_for, nodes_of
from stretto.topology.predict import OnTree, placement_of
from stretto.tune.own.points import Point, chosen
from stretto.tune.own.topology_aware import OnTopology, best_few, predicted_rules

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "topologies" / "two-levels-of-switches.toml"
TREE = """\
stretto-topology = 1
ranks = {ranks}
[link]
bandwidth = "125 MB/s"
latency = "25 us"
[switch.top]
switches = ["a", "b"]
{top}
[switch.a]
switches = ["a0", "a1"]
[switch.b]
switches = ["b0"]
[switch.a0]
machines = "n[0-1]"
[switch.a1]
machines = "n[2-3]"
[switch.b0]
machines = "n[4-5]"
"""


def tree(ranks: str, top: str = "") -> _core.Topology:
    return parse_topology(TREE.format(ranks=ranks, top=top), "t.toml")


@pytest.mark.parametrize(
    ("ranks", "top", "nodes"),
    [
        # Switches of machines with a rank each; then groups of switches.
        ('["n5", "n0", "n2", "n1", "n4", "n3"]', "", [0, 1, 2, 1, 0, 2, 0, 1, 1, 1, 0, 1]),
        # Machines of several ranks; two levels of switches above.
        ('["n0", "n0", "n1", "n2"]', "", [0, 0, 1, 2, 0, 0, 0, 1]),
        # A machine on top: no levels.
        ('["n0", "n1", "n2", "n9"]', 'machines = ["n9"]', [0, 0, 1, 2]),
        ('["n0", "n1"]', "", []),
    ],
)
def test_nodes_and_groups(ranks, top, nodes):
    topology = tree(ranks, top)
    assert nodes_of(topology, topology.ranks) == nodes


def test_lists_go_by_their_name():
    topology = stretto.two_levels([0, 1, 0, 1])
    ring = stretto.algorithm_named("allreduce/logical_ring")
    assert list_for(ring, topology, 4) == list(topology.ring) == [0, 2, 1, 3]
    assert list_for(ring, topology, 2) == [0, 1]
    assert list_for(stretto.algorithm_named("allgather/circulant"), topology, 4) == [], "skips"


def test_ranks_of_a_machine_are_a_node_where_they_follow_each_other():
    assert placement_of(stretto.two_levels([0, 0, 1, 1])).ranks_per_node == 2
    assert placement_of(stretto.two_levels([0, 0, 1])).ranks_per_node == 2
    for nodes in ([0, 1, 0, 1], [0, 1, 1], [0, 0, 1, 1, 0, 0]):
        assert placement_of(stretto.two_levels(nodes)).ranks_per_node == 1


def seconds(on: OnTree, words: str, size: int) -> float:
    forced = _core.parse_algorithm_spec(stretto.Function.allreduce, words)
    return on.seconds(forced.algorithm, stretto.Shape(on.topology.ranks), forced.params, size)


def test_time_on_a_tree():
    """Four machines on a switch: links of 1 byte/s without latency, then of 1 s without limit."""
    on = OnTree(stretto.two_levels([0, 1, 2, 3], 1.0))
    assert seconds(on, "ring", 4) == pytest.approx(6), "2(p-1)/p of the vector"
    assert seconds(on, "ring,segment=1,depth=2", 4) == pytest.approx(6), "the link is full"
    slow = OnTree(stretto.two_levels([0, 1, 2, 3], 0.0, 1.0))
    assert seconds(slow, "ring", 4) == pytest.approx(12), "six steps over two links"
    assert seconds(slow, "ring,segment=1,depth=2", 4) == pytest.approx(12 + 3 * 6)
    assert seconds(slow, "ring,segment=1,depth=4", 4) == pytest.approx(12 + 3 * 3)


def test_messages_that_wait_for_an_answer():
    """Four machines on a switch, links of 1 byte/s; messages of 4 bytes and more wait."""
    vertices = [_core.Vertex("top"), *(_core.Vertex(f"n{i}", 0, True, 1.0, 0.5) for i in range(4))]
    plain = OnTree(_core.Topology(vertices, [1, 2, 3, 4]))
    waits = OnTree(_core.Topology(vertices, [1, 2, 3, 4], rendezvous=4))
    assert seconds(plain, "ring", 12) == seconds(waits, "ring", 12), "messages of 3 bytes"
    longer = 6 * (2 * 1 + 4)  # there and back, behind 4 bytes
    assert seconds(waits, "ring", 16) == pytest.approx(seconds(plain, "ring", 16) + longer)
    cut = "ring,segment=16,depth=2"
    assert seconds(waits, cut, 32) == pytest.approx(seconds(plain, cut, 32) + longer + 6)
    short = "ring,segment=8,depth=2"
    assert seconds(waits, short, 32) == seconds(plain, short, 32)


def test_only_messages_between_machines_wait_for_an_answer():
    vertices = [_core.Vertex("top"), *(_core.Vertex(f"n{i}", 0, True, 1.0, 0.5) for i in range(2))]
    placed = [1, 1, 2, 2]
    linear = stretto.algorithm_named("gather/linear")
    binomial = stretto.algorithm_named("gather/binomial")
    shape = stretto.Shape(4)

    def longer(algorithm: _core.Algorithm, rendezvous: int) -> float:
        trees = (_core.Topology(vertices, placed, one) for one in (rendezvous, 0))
        waits, plain = (OnTree(one).seconds(algorithm, shape, _core.Params(), 400) for one in trees)
        return waits - plain

    assert longer(linear, 101) == 0, "parts of 100 bytes"
    assert longer(binomial, 201) == 0
    assert longer(linear, 100) > 0 and longer(binomial, 200) > 0


def test_long_messages_follow_the_tree_in_segments_that_need_no_answer():
    """On eight machines, where a chain in rank order does the same as the tree's without a list."""
    rows = "".join(f'[switch.s{i}]\nmachines = "n[{4 * i}-{4 * i + 3}]"\n' for i in range(2))
    text = f"""stretto-topology = 1
ranks = {[f"n{(r % 2) * 4 + r // 2}" for r in range(8)]}
rendezvous = "64K"
[link]
bandwidth = "100 Mbit/s"
latency = "25 us"
[switch.top]
switches = ["s0", "s1"]
{rows}"""
    on = OnTopology(machine_named("gigabit-ethernet"), parse_topology(text))
    best = on.candidates(on.point("bcast", 4 << 20))[0][1]
    assert best.id == "bcast/logical_chain" and best.params.list == list(on.topology.ring)
    assert best.params.segment == 32 << 10, "the longest power of two that needs no answer"
    ring = on.candidates(on.point("allreduce", 4 << 20))[0][1]
    assert ring.id == "allreduce/logical_ring" and ring.params.segment <= 256 << 10


def test_nothing_is_below_the_bound():
    topology = tree('["n5", "n0", "n2", "n1", "n4", "n3"]')
    on = OnTopology(_core.Machine(), topology)
    for size in (8, 1 << 20):
        point = on.point("allreduce", size)
        bound = _core.lower_bound(topology, stretto.Collective.allreduce, 0, point.bytes).seconds
        found = on.candidates(point)
        assert {one.id for _, one in found} >= {"allreduce/slices", "allreduce/logical_ring"}
        assert found[0][0] >= bound * (1 - 1e-9)


def test_the_order_of_the_tree_wins_where_links_are_shared():
    words = ("allreduce", "-p", 12, "--bytes", "8M", "--topology", EXAMPLE)
    ring = list(stretto.read_topology(str(EXAMPLE)).ring)
    for command in ("explain", "simulate"):
        rows = json_of(command, *words, "--machine", "gigabit-ethernet")["rows"]
        assert (rows[0]["algorithm"], rows[0]["list"]) == ("allreduce/logical_ring", ring)
        assert ":".join(map(str, ring)) in rows[0]["parameters"]
        assert "order=…" in succeed(command, *words, "--machine", "gigabit-ethernet")
        here = {(row["algorithm"], row["parameters"]): row["seconds"] for row in rows}
        flat = json_of(command, *words[:5], "--machine", "gigabit-ethernet")["rows"]
        keys = [(row["algorithm"], row["parameters"]) for row in flat]
        alone = zip(keys, (row["seconds"] for row in flat), strict=True)
        pairs = [(seconds, here[key]) for key, seconds in alone if key in here]
        assert pairs and all(alone <= shared for alone, shared in pairs)
        plain = min(seconds for (name, _), seconds in here.items() if name == "allreduce/ring")
        assert plain > 3 * rows[0]["seconds"], "four messages on a link"


def test_placement_is_the_topologys():
    assert json_of("simulate", "bcast", "-p", 6, "--topology", "2x3")["ranks_per_node"] == 3
    assert json_of("explain", "bcast", "-p", 6, "--topology", "1x6")["one_node"]


def test_rules_for_a_topology(tmp_path):
    topology = stretto.read_topology(str(EXAMPLE))
    on = OnTopology(machine_named("gigabit-ethernet"), topology)
    path = tmp_path / "tree.rules"
    path.write_text("\n".join(["stretto-rules 2", *predicted_rules(on, ["allreduce"]), ""]))
    rules = stretto.read_rules(str(path))
    choice = chosen(rules, Point("allreduce", 12, 8 << 20), 1)
    assert (choice.algorithm.name, choice.params.list) == ("logical_ring", list(topology.ring))
    for other in (Point("allreduce", 13, 8 << 20), Point("allreduce-ordered", 12, 8 << 20)):
        assert chosen(rules, other, 1).algorithm is None


def test_the_command_adds_them(tmp_path):
    path = tmp_path / "tree.rules"
    words = ("--predict", "flat", "--topology", EXAMPLE, "-o", path, "--collectives", "barrier")
    assert succeed("tune", *words) == f"wrote {path}\n"
    text = path.read_text()
    assert f"--topology {EXAMPLE}" in text and text.count("ranks=12 ") == 1
    rules = stretto.read_rules(str(path))
    assert all(chosen(rules, Point("barrier", p, 0), 1).algorithm for p in (12, 13))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--topology", "2x2"), "--topology goes with --predict only"),
        (("--hosts", "h"), "--hosts goes with --predict only"),
        (("--predict", "flat", "--topology", "none.toml"), "none.toml"),
        (("--predict", "flat", "--topology", "1x1"), "a topology of one rank"),
        (("--target", "mpich", "--topology", "2x2"), "--topology does not go with --target mpich"),
    ],
)
def test_bad_wishes_are_refused(tmp_path, words, said):
    message = refuse("tune", *words, "--output", tmp_path / "x.rules")
    assert said in message and "hint: " in message


def test_curves_and_timelines_know_no_topology(tmp_path):
    words = ("simulate", "bcast", "-p", 4, "--topology", "2x2", "--plot", tmp_path / "x.svg")
    assert "--topology does not go with --plot" in refuse(*words)


def test_few_are_measured():
    on = OnTopology(machine_named("gigabit-ethernet"), tree('"n[0-5]"'))
    found = on.candidates(on.point("allreduce", 1 << 20))
    few = best_few(found, algorithms=3, more=2)
    assert len(few) == 5 and few[0] is found[0][1]
    assert len({(one.id, bool(one.params.list)) for one in few[:3]}) == 3
    near = best_few(found, 100, 100, far=1.5)
    predicted = {one.words: seconds for seconds, one in found}
    assert all(predicted[one.words] <= 1.5 * found[0][0] for one in near)


def test_every_function_has_rules_for_a_topology():
    on = OnTopology(machine_named("cluster"), stretto.two_levels([0, 1, 0, 1, 2]))
    functions = [stretto.facts(function) for function in stretto.all_functions()]
    names = [one.name for one in functions if not stretto.facts(one.collective).neighbourhood]
    lines = predicted_rules(on, names)
    rules = _core.parse_rules("\n".join(["stretto-rules 2", *lines, ""]), "made")
    for name in names:
        assert chosen(rules, Point(name, 5, 64), 1).algorithm, name
