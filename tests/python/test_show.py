# SPDX-License-Identifier: BSD-3-Clause
"""`stretto show`: text, pictures, and the symbolic run behind them."""

import re

import pytest
from commands import refuse, succeed
from figures import DOCS, LARGEST, assert_current, figures_of, words_of
from stretto import (
    Buffer,
    Collective,
    Shape,
    algorithm_named,
    all_algorithms,
    block_of,
    build_schedule,
    facts,
    variants,
)
from stretto._core import Content, content_after
from stretto.plot.rounds import panels
from stretto.symbolic_run import SymbolicRun, symbolic_run
from stretto.units import intervals

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
    words = words_of(tmp_path / "one.svg")
    assert {f"rank {rank}" for rank in range(8)} <= set(words)
    assert words.count("0-7") >= 16  # in the end both lines of every rank are complete


def test_own_parameters_and_counts():
    assert succeed("show", "alltoall/bruck,radix=3", "-p", 8).startswith(
        "alltoall/bruck,radix=3 on 8 ranks: 4 rounds, "
    )
    assert "skips=3:2:1 on 5 ranks" in succeed("show", "allgather/circulant,skips=3:2:1", "-p", 5)
    text = succeed("show", "allgather/pipelined_ring,block=2", "--counts", "4,0,3", "--text")
    assert text.count("schedule ") == 3
    assert text.count(" parts=0,2,2,4") == 3
    picture = succeed("show", "allgather/pipelined_ring", "--counts", "4,0,3")
    assert picture.startswith("allgather/pipelined_ring on 3 ranks, counts 4,0,3: ")


def test_refused_parameters_and_counts():
    assert "wrong parameter 'radix=1'" in refuse("show", "alltoall/bruck,radix=1")
    assert "radix=2…" in refuse("show", "alltoall/bruck,raddix=3")
    assert "wrong parameter 'radix=4'" in refuse("show", "allreduce/ring,radix=4")
    assert "does not depend on segment" in refuse("show", "allreduce/ring,segment=64K")
    assert "cannot be built: 6 ranks are not" in refuse("show", "alltoall/pairwise_xor", "-p", 6)
    assert "skips" in refuse("show", "allgather/circulant,skips=9:1", "-p", 5)
    assert "--counts 3,0,5" in refuse("show", "allgather/pipelined_ring", "-p", 3)
    assert "does not go by the sizes" in refuse("show", "allgather/ring", "--counts", "1,2")
    wrong = ("show", "allgather/pipelined_ring", "-p", 4, "--counts")
    assert "3 counts for 4 ranks" in refuse(*wrong, "1,2,3")
    assert "no list of numbers" in refuse(*wrong, "1,,3")


def test_refusals(tmp_path):
    assert "did you mean allreduce/ring" in refuse("show", "allreduce/rign")
    assert ".svg, .png or .pdf" in refuse("show", "allreduce/ring", "-o", tmp_path / "x.gif")
    assert refuse("show", "allreduce/ring", "-o", tmp_path / "no" / "x.svg")
    assert "has no root" in refuse("show", "allreduce/ring", "--root", 1)
    assert "root 9 is not one" in refuse("show", "bcast/binomial", "-p", 4, "--root", 9)
    assert "rank 7 is not one" in refuse("show", "bcast/binomial", "-p", 4, "--text", "--rank", 7)
    for words in (("--root", 10**14), ("--root", -(10**14)), ("--text", "--rank", 10**14)):
        message = refuse("show", "bcast/binomial", *words)
        assert f"{words[-1]} is not one of the 8 ranks" in message
    words = ("show", "allreduce/ring", "-p", 40, "--form", "boxes", "-o", tmp_path / "x.svg")
    large = refuse(*words)
    assert "too large to look at" in large and "--form matrix" in large
    assert "give -o FILE" in refuse("show", "allreduce/ring", "--form", "matrix")
    assert "--rank needs --text" in refuse("show", "bcast/binomial", "--rank", 1)
    assert "is printed" in refuse("show", "allreduce/ring", "--text", "-o", tmp_path / "x.svg")
    for words in (("--text",), ("--ranks", 4), ("--graph", "ring")):
        assert "-o FILE alone" in refuse("show", "--timeline", "t.json", *words)


def test_hints_name_what_a_schedule_depends_on():
    assert "alltoall/bruck takes radix=2" in refuse("show", "alltoall/bruck,radix=x")
    assert "allgather/circulant takes skips=A:B:C" in refuse("show", "allgather/circulant,radix=3")
    assert "allreduce/ring takes no parameters" in refuse("show", "allreduce/ring,radix=3")
    for word in ("segment=4K", "depth=3", "copy=kernel"):
        assert "does not depend on segment" in refuse("show", f"allreduce/ring,{word}")


def test_a_collective_is_answered_with_its_algorithms():
    own = [algorithm.id for algorithm in all_algorithms() if algorithm.id.startswith("allreduce/")]
    for name in ("allreduce", "MPI_Allreduce"):
        message = refuse("show", name)
        assert f"'{name}' is a collective" in message
        assert all(one in message for one in own)
    assert "allgather/pipelined_ring" in refuse("show", "MPI_Allgatherv")


def test_many_ranks_are_drawn_as_matrices(tmp_path):
    ring = symbolic_run(algorithm_named("allreduce/ring"), Shape(17))
    assert [(p.first, p.last, p.words) for p in panels(ring)] == [
        (1, 16, "17 messages of 1 block"),
        (17, 32, "17 messages of 1 block"),
    ]
    file = tmp_path / "ring.svg"
    succeed("show", "allreduce/ring", "-p", 17, "-o", file)
    words = words_of(file)
    assert {"steps 1–16", "steps 17–32", "row: sender; column: receiver"} <= set(words)
    assert "rank 0" not in words
    succeed("show", "bcast/binomial", "-p", 16, "-o", file)
    assert "rank 15" in words_of(file)
    succeed("show", "bcast/binomial", "-p", 4, "--form", "matrix", "-o", file)
    assert [one for one in words_of(file) if one.startswith("step ")] == ["step 1", "step 2"]


def outputs_of(result: SymbolicRun, rank: int) -> dict[int, Content]:
    """For every block of which something is demanded of the rank: what."""
    collective, shape = result.algorithm.collective, result.shape
    parts = build_schedule(result.algorithm, shape, 0, result.params).parts
    demands = {}
    for slot in range(result.blocks):
        content = content_after(collective, shape, parts, rank, slot)
        if content.kind != Content.Kind.nothing:
            demands[block_of(collective, shape, rank, Buffer.output, slot)] = content
    return demands


@pytest.mark.parametrize("ranks", [1, 2, 3, 7, 8, 13])
@pytest.mark.parametrize("algorithm", all_algorithms(), ids=lambda a: a.id)
def test_symbolic_run_ends_where_the_collective_does(algorithm, ranks):
    root = ranks // 3 if facts(algorithm.collective).rooted else 0
    for variant in variants(algorithm, ranks, root)[:4]:
        shape = variant.shape
        result = symbolic_run(algorithm, shape, variant.params)
        rounds = algorithm.rounds(shape, variant.params)
        bound = algorithm.at_most(shape, variant.params)
        assert result.steps == rounds or (bound and result.steps < rounds)
        assert len(result.messages) == result.measured.messages
        assert {m.step for m in result.messages} == set(range(1, result.steps + 1))
        for rank, cells in enumerate(result.held[-1]):
            assert len(cells) == result.cells
            held = {c.block: c.value for c in cells if c and (c.result or not result.prefixes)}
            for block, content in outputs_of(result, rank).items():
                first = content.from_rank
                wanted = tuple(range(first, content.to_rank + 1)) or (first,)
                assert tuple(sorted(held[block])) == wanted


def test_symbolic_run_keeps_the_order_of_operands():
    result = symbolic_run(algorithm_named("allreduce/recursive_doubling"), Shape(4))
    assert all(cells[0].value == (0, 1, 2, 3) for cells in result.held[-1])


def test_symbolic_run_tells_a_scan_from_its_result():
    result = symbolic_run(algorithm_named("scan/recursive_doubling"), Shape(4))
    assert result.held[-1][0][0].value == (0, 1)  # what rank 0 sends on
    assert [cells[1].value for cells in result.held[-1]] == [
        (0,), (0, 1), (0, 1, 2), (0, 1, 2, 3)
    ]  # fmt: skip
    assert all(cells[1].result and not cells[0].result for cells in result.held[-1])


def test_symbolic_run_of_alltoall_shows_what_is_on_its_way():
    result = symbolic_run(algorithm_named("alltoall/bruck"), Shape(6))
    after_one = [result.name_of(cell.block) for cell in result.held[1][0]]
    # Figure 7 of Thakur, Rabenseifner and Gropp (2005), process 0 after communication step 0.
    assert after_one == ["00", "50", "02", "52", "04", "54"]
    assert all(len(cells) == 6 and None not in cells for row in result.held for cells in row)


@pytest.mark.parametrize("collective", Collective, ids=lambda c: c.name)
def test_every_collective_is_drawn(tmp_path, collective):
    own = [a for a in all_algorithms() if a.collective == collective]
    algorithm = next(a for a in own if not a.needs.counts)
    file = tmp_path / "picture.svg"
    succeed("show", algorithm.id, "-p", 4, "-o", file)
    words = words_of(file)
    assert {f"rank {rank}" for rank in range(4)} <= set(words)
    assert any(algorithm.id in word for word in words)
    assert ("green: the result" in " ".join(words)) == (collective.name in ("scan", "exscan"))


def test_many_blocks_are_drawn_small(tmp_path):
    file = tmp_path / "many.svg"
    succeed("show", "bcast/circulant_blocks,pieces=70", "-p", 3, "-o", file)
    assert file.stat().st_size < 1_000_000
    assert "69" not in words_of(file)[:60]


def test_there_are_seven_figures():
    text = (DOCS / "figures.md").read_text(encoding="utf-8")
    names = {name for _, name in figures_of("figures.md")}
    assert len(names) == 7
    assert all(f"]({name})" in text for name in names)
    kept = {f"figures/{path.name}" for path in (DOCS / "figures").iterdir()}
    explained = {name for _, name in figures_of("explain.md")}
    trees = {name for _, name in figures_of("topology.md")}
    assert names == kept - explained - trees - {"figures/learned.svg"}  # measured: of learning.md


def test_figures_of_results_are_shown():
    results = DOCS / "results"
    shown = {
        name
        for page in results.glob("*.md")
        for name in re.findall(r"\((figures/.*?\.svg)\)", page.read_text("utf-8"))
    }
    kept = [*(results / "figures").iterdir()]
    assert {f"figures/{path.name}" for path in kept} == shown
    assert all(path.stat().st_size < LARGEST for path in kept)


def test_figures_that_are_not_kept_can_be_drawn(tmp_path):
    text = (DOCS / "figures.md").read_text(encoding="utf-8")
    commands = re.findall(r"^stretto (show .* -o) build/(.*\.svg)  #", text, re.MULTILINE)
    assert len(commands) == 2
    for arguments, name in commands:
        succeed(*arguments.split(), tmp_path / name)
        assert (tmp_path / name).stat().st_size > LARGEST


@pytest.mark.parametrize(
    ("arguments", "name"), figures_of("figures.md"), ids=lambda word: word.split()[-1]
)
def test_figures_are_current(tmp_path, arguments, name):
    assert_current(tmp_path, arguments, name)


def test_many_ranks():
    assert "rank 4095\n" in succeed("show", "bcast/binomial", "-p", 4096)
    for name in ("allreduce/ring", "allreduce/linear", "scan/linear"):
        message = refuse("show", name, "-p", 1024)
        assert f"{name} on 1024 ranks is too large to look at" in message
        assert "--text --rank 0" in message


def test_intervals():
    assert intervals([]) == ""
    assert intervals([2, 0, 1, 5]) == "0-2,5"
    assert intervals([0, 1, 6, 7], 8) == "6-1"
    assert intervals(list(range(8)), 8) == "0-7"
