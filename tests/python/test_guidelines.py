# SPDX-License-Identifier: BSD-3-Clause
"""`stretto bench --guidelines`: verdicts on made-up times, the two runs, the page, a real one."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import click
import pytest
import stretto.measure.driver as driver_module
from commands import refuse, stretto
from stretto import all_functions, facts
from stretto.cli.bench_guidelines import _judge
from stretto.errors import Error, FailureError
from stretto.guidelines.measure import (
    measure,
    median_interval,
    ratio_interval,
    settle,
    settle_at_last,
    verdict,
)
from stretto.guidelines.table import GROUPS, guidelines, pairs_of
from stretto.launch import choose_mpi

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks" / "node"))

from guidelines_page import page

FUNCTIONS = [facts(function).name for function in all_functions()]
# Twelve rounds of every pair; what is called SLOW takes thrice as long as anything else.
DRIVER = """
import json, pathlib, sys
runs = pathlib.Path({runs!r})
run = len(runs.read_text()) if runs.exists() else 0
runs.write_text("x" * (run + 1))
words = sys.argv[1:]
for pair in words[words.index("--pairs") + 1].split(","):
    names, sizes, forms = zip(*(side.split(":") for side in pair.split("/")))
    stretto = [[[3.0 if name in {slow!r}[run] else 1.0, 0]] * 12 for name in names]
    print(json.dumps({{
        "pair": names, "forms": forms, "ranks": 2,
        "asked": list(map(int, sizes)), "bytes": list(map(int, sizes)),
        "native": [[[1.0, 0]] * 12] * 2, "stretto": stretto, "algorithms": ["a", "b"],
        "correct": "wrong" not in {slow!r}[run], "seconds": 0.1,
    }}))
"""


def by_words(words: str):
    return next(one for one in guidelines(FUNCTIONS) if one.words == words)


@pytest.fixture
def measured(fake_mpi, monkeypatch, tmp_path):
    """The verdicts of Stretto in which not all is well, where in each run these cells are slow."""

    def run(*slow: list[str], functions: list[str]):
        code = DRIVER.format(runs=str(tmp_path / "runs"), slow=slow)
        monkeypatch.setattr(
            driver_module,
            "driver_command",
            lambda _mpi, _ranks, arguments, *_: [sys.executable, "-c", code, *arguments],
        )
        mpi = choose_mpi(str(fake_mpi("mpich")))
        verdicts, wrong = measure(mpi, 2, guidelines(functions), [8, 64], 0.01)
        odd = [one for one in verdicts if one.status != "kept"]
        assert all(one.library == "stretto" for one in odd)
        return {(one.guideline.words, one.bytes): one.status for one in odd}, wrong

    return run


def sample(left: list, right: list, **other: object) -> dict:
    """What the driver says of a pair."""
    sides = [[(us, 0) for us in side] for side in (left, right)]
    said = {
        "stretto": sides,
        "algorithms": ["a", "b"],
        "ranks": 2,
        "bytes": [8, 8],
        "asked": [8, 8],
    }
    return said | other


def test_intervals():
    assert median_interval(list(range(7)), 0.01) is None
    assert median_interval([3, 1, 2, 8, 5, 4, 7, 6], 0.01) == (1, 8)
    # The sign test's table: of 20 values the 4th and the 17th, at 99 %.
    assert median_interval(list(range(1, 21)), 0.01) == (4, 17)
    assert ratio_interval([1.0, 2.0, 3.0] * 3, [2.0] * 9) == (0.5, 1.5)
    assert ratio_interval([1.0] * 8, [2.0] * 20) is None


def test_the_guidelines():
    words = [one.words for one in guidelines(FUNCTIONS)]
    assert len(words) == len(set(words)) == 12 + 18 + 42 + 44
    assert {one.group for one in guidelines(FUNCTIONS)} == set(GROUPS)
    for needed in (
        "allreduce ≤ reduce + bcast",
        "barrier ≤ allreduce",
        "scan ≤ exscan + reduce_local",
        "gatherv ≤ 1.2 gather",
        "bcast(m) ≤ bcast(2m)",
        "bcast(2m) ≤ 2 bcast(m)",
        "barrier, I… + Wait ≤ 1.3 barrier",
        "neighbor_alltoallw, Start + Wait ≤ neighbor_alltoallw",
    ):
        assert needed in words
    assert {one.function for one in guidelines(["scan"])} == {"scan"}
    # Monotony and splitting go by one measurement, and a barrier has one size.
    assert len(pairs_of(guidelines(["bcast", "barrier"]), [8, 64])) == 2 * (2 + 2) + 1 + 2


@pytest.mark.parametrize(
    ("words", "times", "ratio", "status"),
    [
        ("allreduce ≤ reduce + bcast", ([3.0] * 9, [2.0] * 9), 1.5, "kept"),
        ("gatherv ≤ 1.2 gather", ([1.0] * 9, [2.4] * 9), 2.0, "kept"),  # gather comes first
        ("bcast(2m) ≤ 2 bcast(m)", ([1.0] * 9, [6.0] * 9), 3.0, "kept"),
        ("bcast(m) ≤ bcast(2m)", ([2.0] * 8, [1.0] * 9), 2.0, "not judged"),
        ("bcast, I… + Wait ≤ 1.3 bcast", ([1.0] * 9, [2.6] * 9), 2.0, "kept"),
        ("bcast, Start + Wait ≤ bcast", ([2.0] * 9, []), 0.0, "not judged"),  # Intel MPI's own
    ],
)
def test_verdict(words, times, ratio, status):
    one = verdict(by_words(words), "stretto", sample(*times))
    assert one.ratio == pytest.approx(ratio)
    assert one.status == status
    assert one.exceeds is (status == "kept")


def test_noise_is_no_violation():
    one = verdict(by_words("reduce ≤ allreduce"), "stretto", sample([0.5, 3.0] * 9, [1.0] * 9))
    assert one.ratio > 1.5
    assert not one.exceeds


def test_disturbed_blocks_do_not_count():
    blocks = [[(1.0, 0)] * 9 + [(50.0, 1)] * 20, [(1.0, 0)] * 9]
    guideline = by_words("reduce ≤ allreduce")
    ratios = [
        verdict(guideline, "stretto", sample([], [], stretto=blocks, ranks=ranks)).ratio
        for ranks in (1, 1 << 20)  # where cores are shared there are no others
    ]
    assert ratios == [1.0, 50.0]


def test_what_was_told_too_late_is_not_repeated():
    guideline = by_words("reduce ≤ allreduce")
    slow, few = (verdict(guideline, "stretto", sample([3.0] * n, [1.0] * n)) for n in (9, 3))
    fast = verdict(guideline, "stretto", sample([1.0] * 9, [1.0] * 9))
    assert settle([few, fast]) == fast
    assert settle([slow, few, slow]).status == "violated"
    assert settle([slow, few]) is None
    assert settle_at_last([few, few, slow]).status == "not repeated"
    assert settle_at_last([few, few, few]).status == "not judged"


def test_violations_must_come_twice(measured):
    slow = ["reduce", "reduce-by-allreduce"]
    found, wrong = measured(slow, ["reduce"], functions=["reduce", "allreduce"])
    assert not wrong
    by_others = "reduce ≤ reduce_scatter_block + gather"
    assert found == {(by_others, 8): "violated", (by_others, 64): "violated"}


def test_what_exceeds_once_is_not_repeated(measured):
    found, _ = measured(["bcast"], [], functions=["bcast"])
    composed = "bcast ≤ scatter + allgather"
    assert found == {(composed, 8): "not repeated", (composed, 64): "not repeated"}


def test_wrong_results_are_an_error(measured):
    _, wrong = measured(["wrong"], functions=["scan"])
    assert len(wrong) == 8
    words = re.escape("scan, blocking or scan-by-exscan+reduce_local, blocking of 8 bytes")
    with pytest.raises(FailureError, match=words) as raised:
        _judge([], wrong)
    assert raised.value.status == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-n", "1"], "2 ranks or more"),
        (["--plot", "x.svg"], "does not go with --guidelines"),
        (["--peers"], "does not go with --peers"),
        (["--collectives", "allreduce-maxloc"], "did you mean allreduce"),
    ],
)
def test_misuse(arguments, words):
    assert words in refuse("bench", "--guidelines", *arguments)


@pytest.mark.parametrize(("group", "ranks"), [("composition", 3), ("regular", 2), ("forms", 2)])
def test_both_sides_agree(group, ranks, monkeypatch):
    monkeypatch.setattr("stretto.guidelines.measure.RUNS", 1)
    chosen = [one for one in guidelines(FUNCTIONS) if one.group == group]
    verdicts, wrong = measure(choose_mpi(), ranks, chosen, [1000], 0.003)
    assert not wrong
    assert {one.guideline for one in verdicts} == set(chosen)
    # Whole elements, and as many for each rank where a vector is cut.
    sizes = {one.guideline.words: one.bytes for one in verdicts}
    assert sizes.get("allgather ≤ alltoall", 1000) == 1000
    assert sizes.get("allreduce ≤ reduce_scatter_block + allgather", 984) == 984
    assert sizes.get("reduce_scatter_block ≤ reduce_scatter", 992) == 992


def test_exit_code_is_strettos():
    options = ["--collectives", "barrier,scan", "--sizes", "8", "--time-per-size", 0.02]
    done = stretto("bench", "--guidelines", *options, "--json")
    verdicts = json.loads(done.stdout)["verdicts"]
    own = [one for one in verdicts if one["library"] == "stretto"]
    assert {one["function"] for one in own} == {"barrier", "scan"}
    if all(one["status"] == "not judged" for one in verdicts):  # a machine busy with other work
        assert (done.returncode, "nothing could be judged" in done.stderr) == (2, True)
    else:
        assert done.returncode == any(one["status"] == "violated" for one in own)


def test_only_strettos_violations_make_an_exit_code():
    kept = verdict(by_words("reduce ≤ allreduce"), "stretto", sample([1.0] * 9, [1.0] * 9))
    own = replace(kept, status="violated")
    natives = replace(own, library="native")
    _judge([natives, kept], [])
    with pytest.raises(click.exceptions.Exit) as raised:
        _judge([natives, own], [])
    assert raised.value.exit_code == 1
    with pytest.raises(Error, match="nothing could be judged"):
        _judge([replace(own, status="not judged")], [])


def test_page():
    row = {
        "group": "monotony", "function": "scan", "guideline": "scan(m) ≤ scan(2m)", "ranks": 2,
        "bytes": 1024, "ratio": 1.5, "status": "violated", "library": "native",
    }  # fmt: skip
    document = {
        "mpi": "MPICH 9", "version": "1", "date": "2000-01-01", "ranks": [2], "sizes": [1024, 8],
        "machine": {"cpu": "c", "cores": 2},
        "verdicts": [
            row, row | {"bytes": 8, "ratio": 1.25},
            row | {"library": "stretto", "status": "not judged"},
        ],
    }  # fmt: skip
    text = page([document])
    assert "| scan(m) ≤ scan(2m) | 2 | 1K (1.50), 8 (1.25) |" in text
    assert "Stretto violates 0 of 1 guidelines; 0 were exceeded only once, 1 could not" in text
    assert "MPICH 9 violates 2 of 2 guidelines; " in text


def test_page_says_what_is_asked_today():
    root = Path(__file__).parents[2]
    said = (root / "docs" / "results" / "guidelines.md").read_text(encoding="utf-8")
    head, found, rest = said.partition("Under MPICH")  # what was found stands in one paragraph
    assert found
    today = page([]).replace("put in its place? .\n", "put in its place? \n")
    kept = f"{head}\n\n{rest.partition(chr(10) * 2)[2]}"
    assert kept.startswith(today), "run: benchmarks/node/guidelines MPIEXEC…"
