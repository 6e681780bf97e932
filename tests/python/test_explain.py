# SPDX-License-Identifier: BSD-3-Clause
"""`stretto explain`: who decides, the ranking, what changes the choice, the map."""

import os
import re
import time
from pathlib import Path

import pytest
import stretto
from commands import json_of, on_terminal, refuse, succeed
from figures import DOCS, assert_current, figures_of
from stretto.explain import (
    Question,
    changes,
    decide,
    deciders,
    lines_of,
    map_of,
    name_of,
    ranks_for,
)
from stretto.launch.cores import cores
from stretto.simulation import Call

RULES = """\
stretto-rules 2
allreduce  bytes<=4K             -> recursive_doubling   # short
allreduce  ranks=2^k bytes>=1M   -> halving_doubling
allreduce  bytes<64K             -> ring segment=64K depth=4
"""


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in [name for name in os.environ if name.startswith("STRETTO_") and "TEST" not in name]:
        monkeypatch.delenv(name)


@pytest.fixture
def rules(tmp_path) -> Path:
    path = tmp_path / "my.rules"
    path.write_text(RULES, encoding="utf-8")
    return path


def question(name: str, ranks: int, size: int, **words: object) -> Question:
    return Question(Call(stretto.function_named(name), ranks, size, **words))


def test_choice_is_that_of_the_library():
    found = json_of("explain", "allreduce", "-p", 13, "--bytes", "1M")
    call = stretto.Call(stretto.function_named("allreduce"), stretto.Shape(13), 1 << 20)
    choice = stretto.choose(stretto.shipped_rules(), call)
    assert found["choice"] == choice.algorithm.name
    decider = found["decided_by"]
    assert decider["reason"] == choice.reason == f"shipped rules:{choice.line}"
    line = (DOCS.parent / decider["file"]).read_text("utf-8").splitlines()[decider["line"] - 1]
    assert decider["rule"] == " ".join(line.split())


def test_ranking_has_all_algorithms_and_the_choice():
    found = json_of("explain", "allreduce", "-p", 13, "--bytes", "1M", "--operator", "user")
    rows = found["rows"]
    everything = {a.id for a in stretto.all_algorithms() if a.id.startswith("allreduce/")}
    assert {row["algorithm"] for row in rows} | set(found["unsuitable"]) == everything
    assert found["unsuitable"]["allreduce/swing"] == "13 ranks are not an even number"
    assert [row["seconds"] for row in rows] == sorted(row["seconds"] for row in rows)
    (chosen,) = [row for row in rows if row["chosen"]]
    assert (chosen["algorithm"], chosen["parameters"]) == ("allreduce/circulant", "segment=256K")
    assert found["behind"] == chosen["behind"] == chosen["seconds"] / rows[0]["seconds"] - 1


def test_variables_and_files_decide_as_in_the_library(rules):
    words = ("explain", "allreduce", "-p", 6, "--bytes", "32K")
    found = json_of(*words, STRETTO_RULES=str(rules))
    assert (found["choice"], found["decided_by"]["line"]) == ("ring", 4)
    assert found["decided_by"]["file"] == str(rules)
    assert "allreduce bytes<64K -> ring segment=64K depth=4" in found["why"]
    forced = json_of(*words, STRETTO_RULES=str(rules), STRETTO_ALLREDUCE="circulant,skips=3:2:1")
    assert forced["decided_by"]["reason"] == "STRETTO_ALLREDUCE=circulant,skips=3:2:1"
    (row,) = [row for row in forced["rows"] if row["chosen"]]
    assert row["parameters"] == "skips=3:2:1"
    passed = json_of(*words, "--operator", "noncommutative", STRETTO_ALLREDUCE="ring")
    assert passed["choice"] == "slices"
    assert "not STRETTO_ALLREDUCE=ring: the operator" in passed["decided_by"]["reason"]
    none = json_of(*words, "--bytes", "1G", STRETTO_RULES=str(rules))
    assert (none["choice"], none["behind"]) == ("native", None)
    assert "no rule fits" in none["why"]


def test_sources_that_cannot_be_used_are_named(tmp_path):
    words = ("explain", "bcast", "-p", 4)
    found = json_of(*words, STRETTO_BCAST="chainn", STRETTO_RULES=str(tmp_path / "none"))
    first, second = (complaint["message"] for complaint in found["complaints"])
    assert "STRETTO_BCAST: unknown algorithm 'chainn'" in first
    assert "cannot read a rules file" in second
    assert second.endswith("the shipped rules decide")
    assert "STRETTO_DISABLE=1" in succeed(*words, STRETTO_DISABLE="1")


def test_tuned_rules_and_machine_of_this_machine(tmp_path, fake_mpi):
    mpi = fake_mpi("mpich")
    folder = tmp_path / "stretto"
    folder.mkdir()
    head = f"stretto-rules 2\nmachine {stretto.this_machine('MPICH 9.8.7')}\n"
    (folder / "tuned.rules").write_text(head + "reduce -> chain\n", encoding="utf-8")
    (folder / "machine.toml").write_text(
        'stretto-machine = 1\n[machine]\nname = "mine"\n[network]\nalpha = 1e-6\n', "utf-8"
    )
    words = ("explain", "reduce", "-p", 5, "--mpi", mpi)
    found = json_of(*words, XDG_CONFIG_HOME=str(tmp_path))
    assert (found["choice"], found["machine"]) == ("chain", "mine")
    assert found["decided_by"]["file"] == str(folder / "tuned.rules")
    # A home may be shared with machines of another kind.
    (folder / "tuned").mkdir()
    (folder / "tuned" / "another-cpu-96-cores-mpich-9.8.7.toml").write_text(
        'stretto-machine = 1\n[machine]\nname = "another"\n[network]\nalpha = 1e-3\n', "utf-8"
    )
    assert json_of(*words, XDG_CONFIG_HOME=str(tmp_path))["machine"] == "mine"
    other = fake_mpi("openmpi")
    found = json_of("explain", "reduce", "-p", 5, "--mpi", other, XDG_CONFIG_HOME=str(tmp_path))
    assert "it is for" in found["complaints"][0]["message"]
    assert found["choice"] != "chain"


@pytest.mark.parametrize("name", ["allreduce", "alltoall", "bcast", "reduce_scatter"])
@pytest.mark.parametrize("ranks", [5, 13, 40])
def test_changes_are_the_nearest(name, ranks):
    who = deciders(stretto.function_named(name), lambda: "no MPI")
    for size in (0, 512, 40_000, 1 << 20):
        here = question(name, ranks, size)
        own = name_of(decide(who, here))
        found = changes(who, here)
        down, up = found["bytes"]["down"], found["bytes"]["up"]
        for change, inward in ((down, 1), (up, -1)):
            if change:
                there = name_of(decide(who, here.with_bytes(change["at"])))
                assert there == change["choice"] != own
                assert name_of(decide(who, here.with_bytes(change["at"] + inward))) == own
        low = down["at"] + 1 if down else 0
        high = up["at"] if up else 1 << 30
        between = [low + (high - 1 - low) * i // 99 for i in range(100)]
        assert {name_of(decide(who, here.with_bytes(b))) for b in between} == {own}
        more = found["ranks"]["up"]
        for p in range(ranks, min(more["at"] if more else 200, 200)):
            assert name_of(decide(who, here.with_ranks(p))) == own
        if more:
            assert name_of(decide(who, here.with_ranks(more["at"]))) == more["choice"] != own


def test_nodes_and_unknown_sizes():
    apart = json_of("explain", "allreduce", "-p", 8, "--bytes", "64K")
    together = json_of("explain", "allreduce", "-p", 8, "--bytes", "64K", "--one-node")
    assert (apart["one_node"], together["one_node"]) == (False, True)
    assert "nodes=1" in together["decided_by"]["rule"]
    without = json_of("explain", "allreduce", "-p", 8, "--one-node", STRETTO_SHM="0")
    assert not without["one_node"]
    assert json_of("explain", "bcast", "-p", 8, "--nodes", "2x4", "--root", 3)["root"] == 3
    text = succeed("explain", "gatherv", "-p", 6)
    assert "size hint" in text
    assert "size hint" not in succeed("explain", "gather", "-p", 6)


def test_cores(tmp_path):
    """Of the option, of the machine file, of this machine; the ranks of a node count."""
    rules = tmp_path / "my.rules"
    rules.write_text(
        "stretto-rules 2\nscan cores=shared -> chain\nscan -> linear\n", encoding="utf-8"
    )
    machine = tmp_path / "four.toml"
    machine.write_text(
        "stretto-machine = 1\n[network]\nalpha = 1e-6\n[processor]\ncores = 4\n", "utf-8"
    )

    def choice(*words: object) -> str:
        found = json_of("explain", "scan", *words, STRETTO_RULES=str(rules))
        assert found["oversubscribed"] == (found["choice"] == "chain")
        return found["choice"]

    assert choice("-p", 8, "--one-node", "--cores", 7) == "chain"
    assert choice("-p", 8, "--one-node", "--cores", 8) == "linear"
    assert choice("-p", 8, "--nodes", "2x4", "--cores", 4) == "linear"
    assert choice("-p", 5, "--one-node", "--machine", machine) == "chain"
    assert choice("-p", 4, "--one-node", "--machine", machine) == "linear"
    assert choice("-p", 512, "--one-node", "--machine", "flat") == "linear"
    assert choice("-p", 1 + cores(), "--one-node") == "chain"
    assert choice("-p", cores(), "--one-node") == "linear"
    text = succeed("explain", "scan", "-p", 8, "--one-node", "--cores", 2)
    assert text.startswith("scan, 8 ranks on 1 node sharing cores, 1M bytes")


def test_text():
    lines = succeed("explain", "allreduce", "-p", 13, PYTHONUTF8="1").splitlines()
    assert lines[0] == "allreduce, 13 ranks on 13 nodes, 1M bytes, operator sum"
    assert lines[1] == "chosen      circulant segment=256K depth=2"
    assert re.match(r"decided by  shipped rules:\d+$", lines[2])
    assert sum(line.startswith("→  circulant") for line in lines) == 1
    assert "  swing: 13 ranks are not an even number" in lines


def test_narrow_terminal():
    text = on_terminal(80, "explain", "allreduce", "-p", 13)
    table = text[text.index("algorithm  ") :].splitlines()
    assert all(len(line) <= 80 for line in table)
    (chosen,) = [line for line in table if line.startswith("→")]
    assert re.search(r"circulant segment=256K +[\d.]+ µs +\d+/\d+/\d+/\d+ +\+[\d.]+%", chosen)


@pytest.mark.parametrize("name", ["alltoall", "allreduce"])
def test_sixty_four_ranks_take_no_time(name):
    before = time.process_time()
    from stretto.explain import ranking

    call = Call(stretto.function_named(name), 64, 1 << 20, placement=stretto.Placement(8))
    choice = decide(deciders(call.function, lambda: ""), Question(call))
    rows, _ = ranking(call, choice, stretto.machine_named("gigabit-ethernet"))
    assert len(rows) >= 4
    assert time.process_time() - before < 2.0


def test_map_of_winners():
    who = deciders(stretto.function_named("allreduce"), lambda: "no MPI")
    here = question("allreduce", 5, 1 << 10)
    machine = stretto.machine_named("flat")
    winners = map_of(who, here, machine)
    assert winners.ranks == ranks_for(5) == list(range(2, 41))
    assert ranks_for(200)[-1] == 384
    assert 200 in ranks_for(200)
    column = winners.ranks.index(12)
    row = winners.sizes.index(1 << 16)
    assert winners.fastest[column][row] == "slices"
    own = name_of(decide(who, here.with_ranks(12).with_bytes(1 << 16)))
    assert winners.chosen[column][row] == own


def test_pictures_of_what_is_too_large_to_simulate(monkeypatch):
    """There are none, and why is said, where no algorithm is left for some number of ranks."""

    def too_large(call, algorithm, *_):
        raise stretto.Error(f"{algorithm.id} on {call.ranks} ranks is too large to simulate")

    monkeypatch.setattr(Call, "simulator", too_large)
    who = deciders(stretto.function_named("allreduce"), lambda: "no MPI")
    here, machine = question("allreduce", 5, 1 << 10), stretto.machine_named("flat")
    with pytest.raises(stretto.Error, match=r"nothing to draw: allreduce/.* 2 ranks is too large"):
        map_of(who, here, machine)
    with pytest.raises(stretto.Error, match=r"allreduce/.* on 5 ranks is too large"):
        lines_of(who, here, machine)


@pytest.mark.parametrize(
    ("arguments", "name"), figures_of("explain.md"), ids=lambda word: word.split()[-1]
)
def test_figures_are_current(tmp_path, arguments, name):
    assert f"]({name})" in (DOCS / "explain.md").read_text(encoding="utf-8")
    assert_current(tmp_path, arguments, name)


def test_page_shows_two_figures():
    assert len(figures_of("explain.md")) == 2


def test_page_shows_what_is_printed():
    page = (DOCS / "explain.md").read_text(encoding="utf-8")
    command, *shown = page.split("```\n$ stretto ")[1].split("```")[0].splitlines()
    printed = {line.strip() for line in succeed(*command.split()).splitlines()}
    assert {line.strip() for line in shown} - {"…"} <= printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["allreduc", "-p", "8"], "no function of MPI is called 'allreduc'"),
        (["allreduce", "-p", "8", "--root", "1"], "allreduce on 8 ranks has no root 1"),
        (["allreduce", "-p", "8", "--one-node", "--nodes", "2x4"], "both --one-node and --nodes"),
        (["bcast", "-p", "8", "--operator", "user"], "bcast has no operator"),
        (["bcast", "-p", "8", "--machine", "flatt"], "no machine is called 'flatt'"),
        (["bcast", "-p", "8", "--plot", "x.doc"], "no picture format ends in '.doc'"),
        (
            ["bcast", "-p", "8", "--topology", "2x4", "--plot", "x.svg"],
            "--topology does not go with --plot",
        ),
        (["allreduce", "-p", "8", "--operator", "max"], "--operator"),
    ],
)
def test_refused(words, message):
    assert message in refuse("explain", *words)


def test_neighbourhoods():
    words = ["explain", "neighbor_alltoall", "-p", 16, "--bytes", 64, "--nodes", "4x4"]
    many = json_of(*words, "--graph", "random=12")
    few = json_of(*words, "--graph", "random=1")
    assert (many["choice"], few["choice"]) == ("three_step", "direct"), "by neighbours on a node"
    assert "to-node>=" in many["decided_by"]["rule"]
    assert "to-node>=" not in few["decided_by"]["rule"]
