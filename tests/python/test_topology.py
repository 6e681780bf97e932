# SPDX-License-Identifier: BSD-3-Clause
"""Trees of switches: files of several kinds, what messages share, bounds."""

import re
from pathlib import Path

import pytest
import stretto
from commands import json_of, refuse, succeed
from figures import assert_current, figures_of, words_of
from stretto.topology.words import bandwidth_of, names_of, seconds_of

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "topologies" / "two-levels-of-switches.toml"

TOML = """\
stretto-topology = 1
ranks = ["n[0-3]", "n[0-3]"]

[link]
bandwidth = "1 Gbit/s"
latency = "25 us"

[switch.s0]
machines = ["n0", "n1"]
switches = ["s1"]

[switch.s1]
machines = "n[2-3]"
bandwidth = "10 Gbit/s"

[machine.n3]
bandwidth = "100 Mbit/s"
"""
SLURM = """\
# two leaves
SwitchName=s1 Nodes=n[00-01]
switchname=s2 \\
  nodes=n[02,04] LinkSpeed=10
SwitchName=s0 Switches=s[1-2]
"""
SIMGRID = """\
<?xml version="1.0"?>
<platform version="4.1">
<zone id="tree" routing="Floyd">
<router id="s0"/> <router id="s1"/>
<host id="n0" speed="1Gf"/> <host id="n1" speed="1Gf"/>
<link id="l0" bandwidth="125MBps" latency="25us" sharing_policy="SPLITDUPLEX"/>
<link id="slow" bandwidth="10Mbps" latency="1ms"/>
<route src="n0" dst="s0"><link_ctn id="l0" direction="UP"/></route>
<route src="n1" dst="s1"><link_ctn id="l0"/><link_ctn id="slow"/></route>
<route src="s1" dst="s0"><link_ctn id="l0_UP"/></route>
<route src="s0" dst="s1" symmetrical="NO"><link_ctn id="l0_DOWN"/></route>
</zone>
</platform>
"""


@pytest.fixture
def file(tmp_path):
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def edges_of(tree: stretto.Topology) -> dict[str, str | None]:
    return {v.name: tree.vertices[v.above].name if v.above >= 0 else None for v in tree.vertices}


def link_of(tree: stretto.Topology, name: str) -> tuple[float, float]:
    vertex = next(v for v in tree.vertices if v.name == name)
    return vertex.bandwidth, vertex.latency


def machines_of(tree: stretto.Topology) -> list[str]:
    return [tree.vertices[tree.machine_of(rank)].name for rank in range(tree.ranks)]


def test_own_format():
    tree = stretto.parse_topology(TOML)
    assert edges_of(tree) == {
        "s0": None, "s1": "s0", "n0": "s0", "n1": "s0", "n2": "s1", "n3": "s1"
    }  # fmt: skip
    assert link_of(tree, "n0") == (1.25e8, 2.5e-5)
    assert link_of(tree, "s1") == (1.25e9, 2.5e-5)
    assert link_of(tree, "n3") == (1.25e7, 2.5e-5)
    assert machines_of(tree) == ["n0", "n1", "n2", "n3"] * 2
    assert tree.ring == [0, 4, 1, 5, 2, 6, 3, 7]
    without = stretto.parse_topology(TOML.replace("ranks =", "# ranks ="), ranks=7)
    assert machines_of(without) == ["n0", "n0", "n1", "n1", "n2", "n2", "n3"]


def test_slurm_format():
    tree = stretto.parse_topology(SLURM, "topology.conf")
    assert edges_of(tree) == {
        "s0": None, "s1": "s0", "s2": "s0", "n00": "s1", "n01": "s1", "n02": "s2", "n04": "s2"
    }  # fmt: skip
    assert machines_of(tree) == ["n00", "n01", "n02", "n04"]
    assert link_of(tree, "n00") == (0, 0)
    assert edges_of(stretto.parse_topology(SLURM)) == edges_of(tree)  # by what it looks like


def test_simgrid_format():
    tree = stretto.parse_topology(SIMGRID, "platform.xml")
    assert edges_of(tree) == {"s0": None, "s1": "s0", "n0": "s0", "n1": "s1"}
    assert link_of(tree, "n0") == (1.25e8, 2.5e-5)
    assert link_of(tree, "n1") == pytest.approx((1.25e6, 1.025e-3))
    assert machines_of(tree) == ["n0", "n1"]
    cluster = (
        '<platform version="4.1"><zone id="all" routing="Floyd"><cluster id="c" prefix="h-" '
        'suffix=".org" radical="0-2,7" speed="1Gf" bw="1Gbps" lat="5us"/></zone></platform>'
    )
    star = stretto.parse_topology(cluster)
    assert machines_of(star) == ["h-0.org", "h-1.org", "h-2.org", "h-7.org"]
    assert link_of(star, "h-7.org") == (1.25e8, 5e-6)


def test_hosts_of_any_topology(file):
    hosts = file("hosts", "n04\nn00:2  # both cores\n\nn02 slots=1\n")
    tree = stretto.read_topology(str(file("topology.conf", SLURM)), hosts=str(hosts))
    assert machines_of(tree) == ["n04", "n00", "n00", "n02"]
    assert tree.ring == [0, 3, 1, 2]
    flat = stretto.read_topology(None, hosts=str(hosts))
    assert edges_of(flat) == {"network": None, "n04": "network", "n00": "network", "n02": "network"}
    assert machines_of(flat) == ["n04", "n00", "n00", "n02"]
    assert machines_of(stretto.read_topology(None, 2, str(hosts))) == ["n04", "n00"]


def test_files_may_begin_with_a_byte_order_mark(file):
    for name, text in (("t.toml", TOML), ("topology.conf", SLURM), ("platform.xml", SIMGRID)):
        marked = stretto.read_topology(str(file(name, "\ufeff" + text)))
        assert edges_of(marked) == edges_of(stretto.parse_topology(text, name))
    hosts = file("hosts", "\ufeffn0:2\n")
    assert machines_of(stretto.read_topology(None, hosts=str(hosts))) == ["n0", "n0"]


def test_two_levels():
    assert stretto.two_levels([0, 1, 0, 1]).ring == [0, 2, 1, 3]
    shown = succeed("show", "--topology", "2x3")
    assert "node1  ranks 3-5" in shown
    assert "rank order is a depth-first order" in shown


# What is written, the text that is replaced, and what is said of it, with its line.
WRONG = [
    (TOML, ("[switch.s1]\n", '[switch.s1]\nswitches = "s0"\n'), ":13: a cycle: s1 and s0"),
    (TOML, ('machines = "n[2-3]"', 'machines = "n[1-3]"'), ":13: n1 is there twice"),
    (TOML, ("[machine.n3]", "[machine.n9]"), ":16: no switch has a machine 'n9'"),
    (TOML, ('"n[0-3]"]', '"n[0-4]"]'), ":2: no machine is called 'n4'"),
    (TOML, ('switches = ["s1"]', 'switches = ["s2"]'), ":10: nothing is called 's2'"),
    (TOML, ('switches = ["s1"]', ""), ":12: s1 does not hang together with s0"),
    (TOML, ("10 Gbit/s", "10 Gbits"), ":14: '10 Gbits' is no bandwidth"),
    (TOML, ("25 us", "25 days"), ":6: '25 days' is no time"),
    (TOML, ('"1 Gbit/s"', "inf"), ":5: 'inf' is no bandwidth"),
    (TOML, ('"1 Gbit/s"', "9" * 400), f":5: '{'9' * 400}' is no bandwidth"),
    (TOML, ('"1 Gbit/s"', "0x" + "9" * 5000), ":5: this is no bandwidth"),
    (TOML, ('"1 Gbit/s"', "9" * 5000), ":5: a number of too many digits"),
    (TOML, ('"25 us"', '"1e400 s"'), ":6: '1e400 s' is no time"),
    (TOML, ('"25 us"', "[" * 5000), ":6: it is nested too deeply"),
    (TOML, ('1\n', '1  # \x85 \u2028\nx = 3\n'), ":2: unknown 'x'"),
    (TOML, ('"n[2-3]"', '"n[0-999][0-999][0-999]"'), ":13: 'machines' is no list of names"),
    (TOML, ("latency", "latancy"), ":6: [link] has no 'latancy'"),
    (TOML, ("[link]", "[links]"), ":4: unknown 'links'"),
    (TOML, ("[switch.s1]\n", "[switch.s1]\nup = 1\n"), ":13: [switch.s1] has no 'up'"),
    (TOML, ('"n[2-3]"', '"n[2-"'), ":13: 'machines' is no list of names"),
    (TOML, ('"n[2-3]"', "3"), ":13: 'machines' is no list of names"),
    (TOML, ("topology = 1", "topology = 2"), ":1: not a topology file of version 1"),
    (TOML, ("[link]", "[link"), ":4: "),
    (TOML, ("[link]", "link = 3\n[machine]"), ":4: 'link' is no table"),
    (TOML, ("[switch.s1]", '[switch.""]'), ":12: a switch or machine without a name"),
    (TOML, ("[switch.s0]", "[machine.s0]"), ":9: [machine.s0] has no 'machines'"),
    (SLURM, ("Switches=s[1-2]", "Switches=s[1-3]"), ":5: nothing is called 's3'"),
    (SLURM, ("nodes=n[02,04]", "nodes=n[01,04]"), ":3: n01 is there twice"),
    (SLURM, ("Nodes=n[00-01]", "Switches=s0"), ":5: a cycle: s0 and s1"),
    (SLURM, ("SwitchName=s0 Switches=s[1-2]", ""), ":3: s2 does not hang together with s1"),
    (SLURM, ("SwitchName=s0", "BlockName=s0"), ":5: 'BlockName' belongs to topology/block"),
    (SLURM, ("leaves", "\x0c \x85\nSpeed=1"), ":2: cannot read 'Speed=1'"),
    (SLURM, ("LinkSpeed", "Speed"), ":3: cannot read 'Speed=10'"),
    (SLURM, ("SwitchName=s0 ", ""), ":5: a line without SwitchName"),
    (SIMGRID, ('src="s1" dst="s0"', 'src="n1" dst="s0"'), ":10: machine n1 has a second link"),
    (SIMGRID, ("</zone>", '<route src="s0" dst="s0"><link_ctn id="l0"/></route></zone>'),
     ":12: a cycle: s0 and s0"),
    (SIMGRID, ('dst="s1"><', 'dst="s7"><'), ":9: nothing is called 's7'"),
    (SIMGRID, ('id="slow" b', 'id="fast" b'), ":9: no link is called 'slow'"),
    (SIMGRID, ("10Mbps", "10Mps"), ":7: cannot read '10Mps'"),
    (SIMGRID, ('routing="Floyd"', 'routing="Star"'), ":3: routing 'Star' cannot be read"),
    (SIMGRID, ("</zone>", ""), ":13: this is no XML"),
    (SIMGRID, ("<zone", "<peer/><zone"), ":3: <peer> cannot be read"),
    (SIMGRID, ('<host id="n0"', "<host"), ":5: <host> without 'id'"),
    (SIMGRID, ("router", "host"), ":1: there is no router"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "change", "said"), WRONG, ids=lambda w: str(w)[:30])
def test_what_is_wrong_is_named_with_its_line(text, change, said):
    assert change[0] in text
    with pytest.raises(stretto.Error, match=re.escape(f"tree{said}")) as caught:
        stretto.parse_topology(text.replace(*change), "tree")
    assert caught.value.hint


def test_a_tree_may_not_be_too_deep():
    line = "".join(f"SwitchName=s{n} Switches=s{n + 1}\n" for n in range(150))
    with pytest.raises(stretto.Error, match=r"topology\.conf:102: s101 is 101 links below s0"):
        stretto.parse_topology(f"{line}SwitchName=s150 Nodes=n0\n", "topology.conf")


def test_hosts_say_where_ranks_are_on_two_levels(file):
    order = file("order", "node1:4\nnode0:4\n")
    shown = succeed("show", "--topology", "2x4", "--hosts", order)
    assert shown.index("node1") < shown.index("node0")
    other = file("other", "node0\nelsewhere\n")
    message = refuse("show", "--topology", "2x4", "--hosts", other)
    assert f"{other}:2: no machine is called 'elsewhere'" in message


def test_refusals_of_the_command(file, tmp_path):
    tree = file("t.toml", TOML)
    message = refuse("show", "--topology", tree, "--ranks", 9)
    assert f"{tree}:2: rank 8 has no machine" in message
    hosts = file("hosts", "n0\nn7\n")
    assert f"{hosts}:2: no machine is called 'n7'" in refuse(
        "show", "--topology", tree, "--hosts", hosts
    )
    few = file("few", "n0\nn1\n")
    message = refuse("explain", "bcast", "-p", 4, "--topology", tree, "--hosts", few)
    assert f"{few}:2: rank 2 has no machine" in message
    assert "is no machine" in refuse("show", "--hosts", file("odd", "n0 n1\n"))
    assert f"{few}:2: rank 2 has no machine" in refuse("show", "--hosts", few, "-p", 4)
    marked = file("marked", f"# \x0c \x85 \u2028\nn0:{'9' * 5000}\n")
    assert f"{marked}:2: 'n0:999" in refuse("show", "--hosts", marked)
    assert "there is no machine" in refuse("show", "--hosts", file("empty", "# none\n"))
    assert "no such file" in refuse("show", "--topology", tmp_path / "none.toml")
    assert "no place for 9 ranks" in refuse("show", "--topology", "2x4", "--ranks", 9)
    assert "more than 65536 ranks" in refuse("show", "--topology", "99999x99999")
    large = file("large", "n0\nn1:9999999\n")
    assert f"{large}:2: more than 65536 ranks" in refuse("show", "--hosts", large)
    assert "leave one out" in refuse("show", "allreduce/ring", "--topology", tree, "--text")
    assert "--json needs --topology" in refuse("show", "allreduce/ring", "--json")
    assert ".svg, .png or .pdf" in refuse("show", "--topology", tree, "--plot", "x.gif")
    large = refuse("show", "--topology", "300x1", "--plot", tmp_path / "x.svg")
    assert "300 machines are too many to look at" in large
    many = refuse("show", "alltoall/linear", "--topology", "3000x1")
    assert "too many messages" in many


def test_text_and_json_of_a_tree(file):
    tree = file("t.toml", TOML)
    shown = succeed("show", "--topology", tree)
    assert shown.startswith(
        f"{tree}: 2 switches, 4 machines, 8 ranks\n\ns0\n├ n0  ranks 0,4  1 Gbit/s"
    )
    assert "│ └ n3" not in shown  # the last child of all stands under none
    assert "  └ n3  ranks 3,7  100 Mbit/s, 25 µs" in shown
    assert "contention-free ring: order=0:4:1:5:2:6:3:7" in shown
    document = json_of("show", "--topology", tree)
    assert document["ring"] == [0, 4, 1, 5, 2, 6, 3, 7]
    assert {v["name"]: v["ranks"] for v in document["vertices"] if v["machine"]} == {
        "n0": [0, 4], "n1": [1, 5], "n2": [2, 6], "n3": [3, 7]
    }  # fmt: skip


def test_contention_by_round():
    shown = succeed("show", "allreduce/ring", "--topology", EXAMPLE)
    assert shown.splitlines()[1:] == [
        "steps 1-22  6 links shared, the most by 4 messages, s1 to core: 0→1 3→4 6→7 9→10"
    ]
    order = "order=0:3:6:9:1:4:7:10:2:5:8:11"
    for name in ("allreduce/logical_ring", "reduce_scatter/logical_ring", "allgather/logical_ring"):
        assert "contention-free" in succeed("show", f"{name},{order}", "--topology", EXAMPLE)
    for name in ("bcast/logical_chain", "reduce/logical_chain"):
        words = ("show", f"{name},{order}", "--root", 5, "--topology", EXAMPLE)
        assert "contention-free" in succeed(*words)
    counts = ("--counts", "5,0,3,1,0,0,2,9,1,1,1,4")
    uneven = json_of(
        "show", f"allgather/pipelined_ring,block=1,{order}", *counts, "--topology", EXAMPLE
    )
    assert uneven["contention_free"] is True
    document = json_of("show", "bcast/binomial", "--topology", EXAMPLE)
    shared = [step for step in document["steps"] if step["shared_links"]]
    assert shared
    assert all(len(step["sharing"]) == step["most"] > 1 for step in shared)


def test_distance_from_the_bound():
    words = ("explain", "allreduce", "-p", 12, "--bytes", "8M", "--topology", EXAMPLE)
    found = json_of(*words)["topology"]
    bound = found["bound"]["seconds"]
    assert bound == pytest.approx(2 * 11 / 12 * 8 * 2**20 / 1.25e8)
    best = found["rows"][0]
    assert best["algorithm"] == "allreduce/logical_ring"
    assert best["order"]
    assert best["contention_free"]
    assert 1 <= best["times_bound"] < 1.05
    assert best["list"] == [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]
    assert all(row["seconds"] >= bound for row in found["rows"])
    plain = next(r for r in found["rows"] if r["algorithm"] == "allreduce/ring")
    assert plain["times_bound"] > 3
    text = succeed(*words)
    assert "at least    123 ms: 2(g-1) vectors through the links of g = 12 parts" in text
    assert sum(row["chosen"] for row in found["rows"]) == 1


def test_bound_of_links_that_say_nothing_is_the_machines(file):
    words = ("explain", "bcast", "-p", 4, "--bytes", "1M", "--topology", file("t.conf", SLURM))
    bound = json_of(*words, "--machine", "flat")["topology"]["bound"]["seconds"]
    network = stretto.machine_named("flat").network
    assert bound == pytest.approx(network.transfer(1 << 20))


@pytest.mark.parametrize("function", ["barrier", "alltoall", "allgatherv", "scan", "gather"])
def test_every_function_has_a_bound(function):
    words = ("explain", function, "-p", 12, "--bytes", "64K", "--topology", EXAMPLE)
    found = json_of(*words)["topology"]
    assert found["rows"]
    assert all(row["times_bound"] >= 1 - 1e-9 for row in found["rows"])


def test_names_and_measures():
    assert names_of("n[0-2,5],head") == ["n0", "n1", "n2", "n5", "head"]
    assert names_of("r[1-2]n[08-10]") == [f"r{r}n{n}" for r in (1, 2) for n in ("08", "09", "10")]
    assert [names_of(text) for text in ("", "n[", "n[2-1]", "a b", "n[x]")] == [None] * 5
    many = ("a[0-999][0-999][0-999]", "a[0-65535],b", "a[0-65535,7]", f"a[{'9' * 5000}]")
    assert [names_of(text) for text in many] == [None] * 4
    assert bandwidth_of("1 Gbit/s") == bandwidth_of("1Gbps") == bandwidth_of("125MBps") == 1.25e8
    assert bandwidth_of("1MiB/s") == 2**20
    assert bandwidth_of(5) == 5
    assert [bandwidth_of(text) for text in ("fast", 0, "-1", True, "1 Gb/h")] == [None] * 5
    large = (float("inf"), float("nan"), 10**400, "1e400")
    assert [bandwidth_of(one) for one in large] == [seconds_of(one) for one in large] == [None] * 4
    assert seconds_of("25us") == seconds_of("25 µs") == seconds_of("2.5e-5") == 2.5e-5
    assert [seconds_of(text) for text in ("soon", -1, "5 min")] == [None] * 3


@pytest.mark.parametrize(
    ("arguments", "name"), figures_of("topology.md"), ids=lambda word: word.split()[-1]
)
def test_figures_are_current(tmp_path, arguments, name, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert_current(tmp_path, arguments, name)


def test_the_picture_names_machines_and_ranks(tmp_path):
    file = tmp_path / "tree.svg"
    succeed("show", "--topology", "3x2", "-o", file)
    assert {"network", "node0", "node1", "node2", "0-1", "2-3", "4-5"} <= set(words_of(file))
