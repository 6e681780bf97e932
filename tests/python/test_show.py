# SPDX-License-Identifier: BSD-3-Clause
"""`stretto show`: text, pictures, and the replay behind them."""

import xml.etree.ElementTree as ElementTree

import pytest
from commands import refuse, succeed
from stretto import Shape, algorithm_named, all_algorithms, facts
from stretto.replay import intervals, replay

RECURSIVE_DOUBLING = """\
allreduce/recursive_doubling on 4 ranks: 2 rounds, 1 block; volume 2 times the vector
→1 [0-3]  sends blocks 0 to 3 to rank 1;   ←1 [0-3]  stores them from rank 1
←1 [0-3]+ combines them with its own
[0-3] 4,5   holds blocks 0 to 3 with the contributions of ranks 4 and 5

        rank 0   rank 1   rank 2   rank 3
before  [0] 0    [0] 1    [0] 2    [0] 3
step 1  →1 [0]   →0 [0]   →3 [0]   →2 [0]
        ←1 [0]+  ←0 [0]+  ←3 [0]+  ←2 [0]+
        [0] 0-1  [0] 0-1  [0] 2-3  [0] 2-3
step 2  →2 [0]   →3 [0]   →0 [0]   →1 [0]
        ←2 [0]+  ←3 [0]+  ←0 [0]+  ←1 [0]+
        [0] 0-3  [0] 0-3  [0] 0-3  [0] 0-3
"""


def test_picture_in_text():
    shown = succeed("show", "allreduce/recursive_doubling", "-p", 4, PYTHONUTF8="1")
    assert shown == RECURSIVE_DOUBLING


def test_terminal_without_arrows():
    shown = succeed("show", "bcast/binomial", "-p", 2, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert "->1 [0]" in shown


def test_narrow_terminal_puts_ranks_below():
    shown = succeed("show", "bcast/binomial", "-p", 8, COLUMNS="40", PYTHONUTF8="1")
    assert all(len(line) <= 40 for line in shown.splitlines()[4:])
    assert shown.count("before") > 1
    assert "rank 7" in shown


def test_root_is_named():
    shown = succeed("show", "reduce/binomial", "-p", 4, "--root", 3)
    assert shown.startswith("reduce/binomial on 4 ranks, root 3: 2 rounds, 1 block; ")


def test_text_form_of_all_ranks_and_of_one():
    everything = succeed("show", "allreduce/ring", "-p", 3, "--text")
    assert everything.count("schedule allreduce/ring ranks=3 ") == 3
    one = succeed("show", "allreduce/ring", "-p", 3, "--text", "--rank", 1)
    assert one in everything
    assert one.startswith("schedule allreduce/ring ranks=3 rank=1 root=0 blocks=3")


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_picture_in_a_file(tmp_path, ending):
    file = tmp_path / f"ring.{ending}"
    assert succeed("show", "allreduce/ring", "-p", 4, "-o", file) == ""
    head = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[ending]
    assert file.read_bytes().startswith(head)
    assert file.stat().st_size > 5000


def test_svg_names_ranks_and_contents_and_is_the_same_each_time(tmp_path):
    for name in ("one.svg", "two.svg"):
        succeed("show", "allreduce/halving_doubling", "-p", 8, "--svg", tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    words = [e.text for e in ElementTree.parse(tmp_path / "one.svg").iter() if e.text]
    assert {f"rank {rank}" for rank in range(8)} <= set(words)
    assert words.count("0-7") >= 64  # in the end every block of every rank is complete


def test_refusals(tmp_path):
    assert "did you mean allreduce/ring" in refuse("show", "allreduce/rign")
    assert ".svg, .png or .pdf" in refuse("show", "allreduce/ring", "-o", tmp_path / "x.gif")
    assert refuse("show", "allreduce/ring", "-o", tmp_path / "no" / "x.svg")
    assert "has no root" in refuse("show", "allreduce/ring", "--root", 1)
    assert "root 9 is not one" in refuse("show", "bcast/binomial", "-p", 4, "--root", 9)
    assert "rank 7 is not one" in refuse("show", "bcast/binomial", "-p", 4, "--text", "--rank", 7)
    large = refuse("show", "allreduce/ring", "-p", 40, "-o", tmp_path / "x.svg")
    assert "too large to look at" in large
    assert "--rank needs --text" in refuse("show", "bcast/binomial", "--rank", 1)


@pytest.mark.parametrize("ranks", [1, 2, 3, 7, 8, 13])
@pytest.mark.parametrize("algorithm", all_algorithms(), ids=lambda a: a.id)
def test_replay_ends_where_the_collective_does(algorithm, ranks):
    root = ranks - 1 if facts(algorithm.collective).rooted else 0
    result = replay(algorithm, Shape(ranks, root))
    assert result.steps == algorithm.rounds(Shape(ranks, root))
    assert len(result.messages) == result.measured.messages
    assert {m.step for m in result.messages} == set(range(1, result.steps + 1))
    everyone = tuple(range(ranks))
    name = facts(algorithm.collective).name
    for rank, row in enumerate(result.held[-1]):
        if name == "allgather":
            assert row == [(block,) for block in everyone]
        elif name == "bcast":
            assert all(value == (root,) for value in row)
        elif name == "allreduce" or (name == "reduce" and rank == root):
            assert all(tuple(sorted(value)) == everyone for value in row)
        elif name == "reduce_scatter_block":
            assert tuple(sorted(row[rank])) == everyone


def test_replay_keeps_the_order_of_operands():
    result = replay(algorithm_named("allreduce/recursive_doubling"), Shape(4))
    assert all(row == [(0, 1, 2, 3)] for row in result.held[-1])


def test_intervals():
    assert intervals([]) == ""
    assert intervals([2, 0, 1, 5]) == "0-2,5"
    assert intervals([0, 1, 6, 7], 8) == "6-1"
    assert intervals(list(range(8)), 8) == "0-7"
