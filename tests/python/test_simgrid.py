# SPDX-License-Identifier: BSD-3-Clause
"""lab/simgrid: platforms, runs in SimGrid's simulated time, fit and choice."""

import json
import math
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import stretto
from stretto import _core
from stretto.simulation import suitable, takes_segments
from stretto.topology import read_topology
from stretto.tune.own.points import Point, candidate, chosen_words, parsed
from stretto.tune.own.topology_aware import OnTopology

ROOT = Path(__file__).parents[2]
LAB = ROOT / "lab" / "simgrid"
sys.path.append(str(LAB))

import choose  # noqa: E402
import fit  # noqa: E402
import learner  # noqa: E402
import smpi  # noqa: E402
import tree as trees  # noqa: E402

FUNCTIONS = (
    "barrier", "bcast", "gather", "scatter", "allgather", "alltoall", "reduce", "allreduce",
    "reduce_scatter_block", "scan",
)  # fmt: skip
FAKE = """\
#!{python}
import json, sys, time
cell, *words = open(sys.argv[-1]).readline().split()
for word in words:
    time.sleep(60 if word == "slow" else 0)
    print(json.dumps(dict(cell="bcast", ranks=2, asked=8, words=word, algorithm=word, us=1.0)))
    sys.stdout.flush()
"""


def lab(command: str, *arguments: object, **variables: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHON": sys.executable, **variables}
    return subprocess.run(
        [LAB / command, *map(str, arguments)],
        capture_output=True, text=True, timeout=120, env=environment,
    )  # fmt: skip


@pytest.fixture(scope="module")
def driver(tmp_path_factory) -> Path:
    if not shutil.which("smpirun"):
        pytest.skip("SimGrid is not installed: apt-get install libsimgrid-dev")
    build = os.environ.get("STRETTO_TEST_BUILD")
    if not build:
        pytest.skip("STRETTO_TEST_BUILD is not set: tests/run sets it")
    return smpi.built(tmp_path_factory.mktemp("smpi"), Path(build) / "libstretto_core.a")


def test_platform_is_a_tree(tmp_path):
    done = lab("platform", tmp_path / "net", "2,0,3", "--parents=-,0,0", "--mbytes", 1250)
    assert done.returncode == 0, done.stderr
    zone = ET.parse(tmp_path / "net.xml").getroot().find("zone")
    routes = [(one.get("src"), one.get("dst")) for one in zone.findall("route")]
    hosts = [("n0", "s0"), ("n1", "s0"), ("n2", "s2"), ("n3", "s2"), ("n4", "s2")]
    assert routes == [*hosts, ("s1", "s0"), ("s2", "s0")]
    assert {one.get("bandwidth") for one in zone.findall("link")} == {"1.25e+09Bps"}
    assert (tmp_path / "net.hosts").read_text().split() == ["n0", "n1", "n2", "n3", "n4"]


def test_links_between_switches_have_their_own_bandwidth(tmp_path):
    trees.write(trees.Tree((1, 1, 1), uplinks=(1e9, 2e6)), tmp_path, "net", [])
    zone = ET.parse(tmp_path / "net.xml").getroot().find("zone")
    found = {one.get("id"): float(one.get("bandwidth")[:-3]) for one in zone.findall("link")}
    assert found == {"l-n0": 125e6, "l-n1": 125e6, "l-n2": 125e6, "l-s1": 1e9, "l-s2": 2e6}
    with pytest.raises(stretto.Error, match="1 bandwidths for 2 links"):
        trees.Tree((1, 1, 1), uplinks=(1e9,))


def test_placements_are_shuffled_by_a_seed():
    tree = trees.Tree((8, 8))
    assert sorted(trees.placed(tree, 3)) == sorted(trees.placed(tree))
    assert trees.placed(tree, 3) == trees.placed(tree, 3) != trees.placed(tree, 4)


def test_ranks_share_a_host_of_several_cores(tmp_path):
    tree = trees.Tree((2, 1), cores=2)
    assert trees.placed(tree) == ["n0", "n0", "n1", "n1", "n2", "n2"]
    platform, hosts = trees.write(tree, tmp_path, "net", trees.placed(tree)[:3])
    zone = ET.parse(platform).getroot().find("zone")
    assert {one.get("core") for one in zone.findall("host")} == {"2"}
    assert hosts.read_text().split() == ["n0", "n0", "n1"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["8,x"], "'8,x' are no numbers"),
        (["0,0"], "a platform needs hosts"),
        (["4,4", "--parents=-,1"], "the parent of switch 1 is 1"),
        (["4,4", "--parents=-"], "0 parents for 2 switches"),
        (["4,4", "--parents=0,0"], "the first switch has the parent '0'"),
        (["4", "--mbytes", "0"], "bandwidth above 0"),
    ],
)
def test_bad_platforms_are_refused(tmp_path, words, said):
    done = lab("platform", tmp_path / "net", *words)
    assert done.returncode == 2
    assert said in done.stderr and "hint: " in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["4", "bcast"], "'bcast' has no size"),
        (["4", "bcst:8"], "'bcst'"),
        (["4", "bcast:8", "--ranks", "9"], "9 ranks on 4 hosts"),
    ],
)
def test_bad_cells_are_refused(words, said):
    done = lab("run", *words)
    assert done.returncode == 2
    assert said in done.stderr and "hint: " in done.stderr


def test_without_simgrid_there_is_a_hint(tmp_path):
    for name in ("bash", "dirname", "env"):
        (tmp_path / name).symlink_to(shutil.which(name))
    done = lab("run", "4", "bcast:8", PATH=str(tmp_path), STRETTO_SMPI_DRIVER="")
    assert done.returncode == 2
    assert "SimGrid is not installed" in done.stderr and "libsimgrid-dev" in done.stderr


def test_what_takes_too_long_is_given_up(tmp_path, monkeypatch):
    fake = tmp_path / "smpirun"
    fake.write_text(FAKE.format(python=sys.executable))
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    network = smpi.Network(trees.Tree((2,)), tmp_path)
    found = list(network.run(["n0", "n1"], [("bcast:8", ["a", "slow", "b"])], patience=2))
    assert [one.words for one in found] == ["a", "slow", "b"]
    assert [math.isfinite(one.us) for one in found] == [True, False, True]


@pytest.mark.parametrize(("ranks", "sizes"), [(1, (1000,)), (5, (8, 1000, 70000)), (8, (1000,))])
def test_every_algorithm_is_right(driver, ranks, sizes):
    plan = []
    for name in FUNCTIONS:
        call = Point(name, ranks, 1000).call(_core.Placement(1))
        words = [
            candidate(one, params).words
            for one in suitable(call, _core.all_algorithms())
            for params in (_core.Params(), _core.Params(segment=512, depth=3))
            if not params.segment or takes_segments(call, one)
        ]
        plan += [(f"{name}:{size}", ["native", *words]) for size in sizes]
    network = smpi.Network(trees.Tree((4, 4)), driver)
    found = list(network.run(trees.placed(network.tree, 1)[:ranks], plan))
    assert len(found) == sum(len(words) for _, words in plan)
    assert {one.algorithm for one in found} > {"native", "allreduce/ring"}
    assert [one for one in found if not (one.correct and one.checked)] == []


@pytest.mark.parametrize(
    "graph", ["", "random=2", "random=5", "stencil=4x2", "grid=4x2", "torus=4x2"]
)
def test_neighbourhoods_are_right(driver, graph):
    names = ("neighbor_alltoall", "neighbor_allgather")
    words = ["native", "direct", "grid", "two_step", "three_step"]
    plan = [(f"{name}:{size}", words) for name in names for size in (8, 1000)]
    network = smpi.Network(trees.Tree((2,), cores=4), driver)
    hosts, nodes = trees.placed(network.tree), [r // 4 for r in range(8)]
    found = list(network.run(hosts, plan, nodes=nodes, graph=graph))
    assert len(found) == len(plan) * len(words)
    assert [one for one in found if not (one.correct and one.checked)] == []
    direct = {(one.cell, one.asked, one.words): one.us for one in found}
    for name in names:  # it is what the native functions do
        assert direct[name, 8, "direct"] == pytest.approx(direct[name, 8, "native"], rel=1e-3)


def test_a_tree_takes_as_long_by_smpi_as_by_stretto(driver):
    network = smpi.Network(trees.Tree((8,)), driver)
    plan = [("reduce:8", ["native", "binomial"]), ("barrier:0", ["native", "dissemination"])]
    hosts = trees.placed(network.tree)
    a, b, c, d = (one.us for one in network.run(hosts, plan, "mpich"))
    assert a == pytest.approx(b, rel=1e-6)
    assert c == pytest.approx(d, rel=1e-6)
    assert [one.us for one in network.run(hosts, plan, "mpich")] == [a, b, c, d]


def test_settings_of_simgrid_count(driver):
    """Without the latencies of TCP; two ranks are on each host."""
    tree = trees.Tree((4,), cores=2)
    hosts, plan = trees.placed(tree), [("allreduce:64K", ["ring"])]
    (usual,) = smpi.Network(tree, driver).run(hosts, plan)
    plain = smpi.Network(tree, driver, ("smpi/lat-factor:0:1",))
    (less,) = plain.run(hosts, plan)
    (lr,) = plain.run(hosts, [("allreduce:64K", ["native"])], "allreduce:lr")
    assert less.us < 0.9 * usual.us
    assert lr.us == pytest.approx(less.us, rel=1e-3)  # the ring of Patarasuk and Yuan


def test_the_command_prints_all(driver):
    variables = {"STRETTO_SMPI_DRIVER": str(driver)}
    words = ["2,2", "allreduce:1K", "--algorithms", "ring linear", "--selectors", "ompi"]
    found = json.loads(lab("run", *words, "--json", **variables).stdout)
    assert [(one["selector"], one["words"]) for one in found] == [
        ("", "ring"), ("", "linear"), ("ompi", "native"),
    ]  # fmt: skip
    done = lab("run", *words, **variables)
    assert "# allreduce 1K, 4 ranks" in done.stdout and "SMPI, ompi" in done.stdout
    done = lab("run", "2,2", "bcast:8", "--algorithms", "nix", **variables)
    assert done.returncode == 2
    assert "unknown algorithm 'nix'" in done.stderr


def test_the_choice_for_more_ranks_than_were_measured(driver):
    """The shipped rules take more than twice as long for these."""
    network = smpi.Network(trees.Tree((32,)), driver)
    fitted = fit.fitted(network)
    assert set(fitted.found) == {"2 ranks", "4 ranks", "8 ranks", "16 ranks"}
    assert all(one.median < 1.1 for one in fitted.found.values())
    chooser = choose.Chooser(network, fitted)
    for name, size in (("allreduce", 1024), ("gather", 1024), ("bcast", 8)):
        point = Point(name, 32, size)
        words = [own.one.words for own in chooser.considered(point)]
        plan, nodes = [(f"{name}:{size}", words)], chooser.nodes(32)
        times = network.run(chooser.hosts(32), plan, nodes=nodes)
        us = {one.words: one.us for one in times}
        assert us[words[0]] <= 1.05 * min(us.values())


def test_the_learner_compares_what_the_library_would(driver, tmp_path):
    own = learner.Learner.beside(driver)
    point = Point("allreduce", 32, 1 << 20)
    (found,) = own.candidates([point])
    assert (found.words[0], found.first) == ("native", 0)
    assert chosen_words(_core.shipped_rules(), point, 1) in found.words
    assert 4 <= len(found.words) <= 8
    rules = tmp_path / "net.rules"
    rules.write_text("stretto-rules 2\nallreduce ranks=32 -> logical_ring segment=64K depth=8\n")
    (found,) = own.candidates([point], rules)
    assert found.words[found.first] == "logical_ring,segment=64K,depth=8"


def test_the_learner_ends_with_the_fastest(driver):
    own = learner.Learner.beside(driver)
    seconds = {
        "native": 1e-3, "linear": 3e-3, "bruck": 0.99e-3, "recursive_doubling": 0.5e-3,
        "ring": 0.7e-3,
    }  # fmt: skip
    point = Point("allgather", 16, 8)

    def play(words: list[str], first: int = 0) -> learner.Outcome:
        compared = {point: learner.Compared(words, first)}
        return own.plays(compared, {point: seconds}, 1e-5)[point]

    found = play(list(seconds))
    assert found.settled and found.choice == "recursive_doubling"
    assert found.compared == list(seconds) and found.unknown == []
    assert 1 < found.worst <= 1.05
    stays = play(["native", "linear", "bruck"])
    assert stays.settled and stays.choice == "native"  # for one part in a hundred nothing changes
    rules = play(list(seconds), 1)
    assert rules.choice == "recursive_doubling"
    assert rules.worst == pytest.approx(3, rel=0.01)
    seconds["ring"] = 0
    with pytest.raises(stretto.Error, match="takes no time"):
        play(list(seconds))


def test_the_learner_refines_what_it_ends_with(driver):
    own = learner.Learner.beside(driver)
    point = Point("allreduce", 16, 1 << 20)
    compared = {point: learner.Compared(["native", "ring"], 0)}
    seconds = {"native": 1e-3, "ring": 0.8e-3}
    asked = []
    while True:
        outcome = own.plays(compared, {point: seconds}, 1e-5)[point]
        if not outcome.unknown:
            break
        asked += outcome.unknown
        for words in outcome.unknown:  # the more segments, the faster
            params = parsed(point, words).params
            seconds[words] = 0.7e-3 - 4e-6 * (params.segment and (1 << 20) // params.segment)
    assert "ring,segment=256K,depth=2" in asked and "ring,segment=64K,depth=8" in asked
    assert outcome.choice == "ring,segment=16K,depth=8"
    assert outcome.settled and set(asked) | set(seconds) == set(outcome.compared)


def test_the_prediction_on_a_tree_finds_what_is_fastest(driver, tmp_path):
    """Ranks at random on three switches: the model alone, against every algorithm."""
    tree, size = trees.Tree((4, 4, 4)), 1 << 20
    hosts = trees.placed(tree, 3)
    network = smpi.Network(tree, driver)
    files = map(str, trees.write(tree, tmp_path, "net", hosts))
    topology = read_topology(next(files), None, next(files))
    on = OnTopology(fit.near(network), topology)
    found = on.candidates(on.point("allreduce", size))
    order = ":".join(map(str, topology.ring))
    assert f"order={order}" in found[0][1].words
    plain = {one.id: one.words for _, one in reversed(found) if not one.params.list}
    plan = [(f"allreduce:{size}", [found[0][1].words, *plain.values(), "native"])]
    best, *others = (one.us for one in network.run(hosts, plan, "allreduce:lr"))
    assert len(others) > 8 and all(best < 0.6 * us for us in others)


def test_switches_of_different_sizes_are_no_levels(tmp_path):
    with pytest.raises(stretto.Error, match="do not fit"):
        fit.spread(smpi.Network(trees.Tree((4, 2)), tmp_path), 8, 2)
