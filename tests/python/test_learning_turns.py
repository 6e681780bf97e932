# SPDX-License-Identifier: BSD-3-Clause
"""What a call leaves for others of its turn, while ranks learn, serves no call of another kind."""

import json

import pytest
from programs import all_right, mpi_of, stretto_run

pytestmark = pytest.mark.alone


def learn(built, tmp_path, name: str, ranks: int, *words: object, **variables: str):
    wanted = {"STRETTO_LEARN": str(tmp_path / "l.rules"), "STRETTO_LOG": "select,summary"}
    program = [built("learning_turns.c", name), *words]
    done = all_right(stretto_run(ranks, program, mpi=mpi_of(name), **wanted, **variables))
    assert "select: learning: " in done.err
    return done


# Two ranks with a core each, or ranks of two nodes: others learn nothing.
@pytest.mark.parametrize("nodes", ["", "2x2"])
@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_ranks_whose_sizes_others_do_not_know(built, tmp_path, name, nodes):
    # All rules ask for sizes, so that ranks agree on them.
    rules = tmp_path / "sizes.rules"
    rules.write_text(
        "stretto-rules 2\ngatherv bytes<1K -> linear\ngatherv -> binomial\notherwise\n"
    )
    variables = {"STRETTO_RULES": str(rules), "STRETTO_NODES": nodes}
    learn(built, tmp_path, name, 4 if nodes else 2, 6000, "growing", **variables)


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_an_info_key_is_obeyed_at_once(built, tmp_path, name):
    calls = 60000
    done = learn(built, tmp_path, name, 2, calls, "told")
    told = sum(call >= 60 and (call - 60) // 61 % 2 == 0 for call in range(calls))
    assert f"logical_ring {told}" in done.err  # which is no candidate


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_types_that_are_freed(built, tmp_path, name):
    learn(built, tmp_path, name, 2, 6000, "types")


def test_each_call_is_counted_once(built, tmp_path):
    profile = tmp_path / "profile.json"
    learn(built, tmp_path, "mpich", 2, 6000, "types", STRETTO_PROFILE=str(profile))
    records = json.loads(profile.read_text())["records"]
    bcasts = [one for one in records if one["function"] == "bcast"]
    assert sum(one["calls"]["max"] for one in bcasts) == 6000
    assert len({one["algorithm"] for one in bcasts}) > 1
    assert not any("ready" in str(one.get("why")) for one in bcasts)
