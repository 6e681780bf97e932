# SPDX-License-Identifier: BSD-3-Clause
"""`stretto tune`: what wins, what is written, how a measurement goes on; with made-up times."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import stretto.tune.native.session as session_module
from commands import refuse, stretto
from programs import installed
from stretto import Error
from stretto.cli.tune_ import DurationType
from stretto.cli.tune_native import _head
from stretto.cli.tune_native import run as run_tune
from stretto.measure.driver import SilenceError
from stretto.measure.session import Request
from stretto.tune.native import comparison
from stretto.tune.native.comparison import Comparison, best, group_won, rules_of, together, won
from stretto.tune.native.intel import IntelMpi
from stretto.tune.native.journal import Failure, Journal, Point, Run, Sample
from stretto.tune.native.mpich import Mpich
from stretto.tune.native.openmpi import OpenMpi
from stretto.tune.native.session import NativeSession, seconds_for
from stretto.tune.native.target import Rule, Target

SIZES = [8, 512, 32768]
FILE = "coll_tuned_dynamic_rules_filename"
MIDDLE = [Rule(0, None), Rule(64, "two"), Rule(4096, None)]


def test_an_algorithm_must_beat_the_noise():
    assert won([0.5, 0.6], 1.1)
    assert not won([0.5], 1.1), "one round is none"
    assert not won([0.95, 0.95], 1.1), "less than the noise"
    assert not won([0.5, 0.5, 1.2], 1.1), "lost in a third of the rounds"
    assert won([0.5, 0.5, 0.5, 0.5, 1.2], 1.1)


def compared(ratio: float, noise: float = 1.0) -> Comparison:
    return Comparison([ratio] * 3, [noise] * 3, 10 * ratio, 10)


def test_the_best_of_a_cell():
    assert best({"a": compared(0.9), "b": compared(0.7), "c": compared(1.5)}) == "b"
    assert best({"a": compared(0.9, 1.2)}) is None
    assert best({"a": compared(0.99)}) is None, "noise is never taken for less than 3 %"


def test_sizes_that_share_a_fate():
    assert group_won([compared(0.5), compared(1.02)])
    assert not group_won([compared(0.5), compared(1.1)]), "slower somewhere"
    assert not group_won([compared(0.99), compared(0.99)]), "nowhere faster for certain"
    cells = [{"a": compared(0.5), "b": compared(0.4)}, {"a": compared(1.0), "b": compared(2.0)}]
    assert together(cells) == "a"
    assert comparison.complete(cells) == ["b", "a"]
    assert comparison.complete([*cells, {}]) == [None] * 3


def test_rules_reach_half_way_to_the_next_size():
    assert rules_of(SIZES, [None, "two", "two"], False) == [
        Rule(0, None), Rule(64, "two"), Rule(262144, None),
    ]  # fmt: skip
    assert rules_of(SIZES, ["one", "two", "one"], True) == [
        Rule(0, "one"), Rule(64, "two"), Rule(4096, "one"),
    ]  # fmt: skip


class Made(Target):
    """A library of three algorithms and made-up times."""

    title = "Made-up MPI"

    def algorithms(self, function, ranks):
        return ["one", "two", "three"] if function in ("bcast", "barrier") else []

    def sized(self, function):
        return function == "bcast"

    def write(self, table, folder):
        return []

    def variables(self, table, folder, ranks):
        return {"TABLE": repr(table)}

    def usage(self, table, folder):
        return []


@pytest.fixture
def made(fake_mpi, monkeypatch, tmp_path):
    """A session: "three" hangs in bcast and is wrong in barrier; "two" is fast in between."""
    target = Made(installed("mpich"))
    calls = []

    def drive(mpi, ranks, arguments, budget, patience, race, variables=None, quiet=False):
        table = eval((variables or {}).get("TABLE", "{}"), {"Rule": Rule})
        race.machine = {"cores": 2}
        calls.append(arguments)
        for word in arguments[1].split(","):
            function, size = word.split(":")
            asked = 0 if function == "barrier" else int(size)
            rules = table.get((function, ranks), [Rule(0, None)])
            name = [rule.algorithm for rule in rules if rule.least <= asked][-1]
            if (function, name) == ("bcast", "three"):
                raise SilenceError("hangs", "")
            us = {None: 10.0, "one": 12.0, "two": 5.0 if asked == 512 else 11.0, "three": 1.0}[name]
            said = {"function": function, "asked": asked, "bytes": asked, "native_us": us}
            race.cells.append({**said, "correct": name != "three"})

    monkeypatch.setattr(session_module, "drive", drive)
    wish = Request([2], ["bcast", "barrier", "gather"], SIZES, budget=60.0)
    journal = Journal(tmp_path, {"wish": "made"})
    session = NativeSession(target, wish, journal, 0.01)
    return session, calls


def quiet(*_):
    """A progress bar that nobody sees."""


def test_a_tuning_session_finds_what_is_faster(made):
    session, _ = made
    session.scan(quiet)
    table = session.found()
    assert table == {("bcast", 2): MIDDLE}
    failures = {(one.function, one.algorithm, one.reason) for one in session.journal.failures}
    assert failures == {
        ("bcast", "three", "took more than 30 s"), ("barrier", "three", "wrong result"),
    }  # fmt: skip
    assert not session.finished()
    session.confirm(table, quiet)
    assert session.finished()
    confirmed, gains = session.confirmed(table)
    assert confirmed == table
    [(cell, (name, one))] = gains.items()
    assert (cell, name, one.ratio) == (("bcast", 2, 512), "two", 0.5)


def test_what_is_not_confirmed_is_not_written(made):
    session, _ = made
    session.scan(quiet)
    wrong = {("bcast", 2): [Rule(0, "two")]}  # not faster but for one size
    assert session.confirmed(wrong) == ({}, {}), "not yet"
    session.confirm(wrong, quiet)
    confirmed, gains = session.confirmed(wrong)
    assert confirmed == {("bcast", 2): MIDDLE}
    assert list(gains) == [("bcast", 2, 512)]


@pytest.mark.parametrize("as_json", [False, True], ids=["table", "json"])
def test_the_report_and_the_files(as_json, tmp_path, capsys):
    """A measurement that is complete: the command writes at once, whatever its budget."""
    mpi = installed("openmpi")
    wish = Request([2], ["bcast"], SIZES, budget=0.001)
    journal = Journal(tmp_path, _head("openmpi", mpi, wish, False))

    def add(stage: str, **us_of_512: float) -> None:
        for part, us in us_of_512.items():
            runs = [Run(stage, number, 2, part) for number in range(3)]
            journal.add(
                Sample(one, "bcast", size, size, us if size == 512 else 10.0)
                for one in runs
                for size in SIZES
            )

    add("scan", before=10.0, binomial=4.0, knomial=6.0, after=10.0)
    session = NativeSession(OpenMpi(mpi), wish, journal, 0.01)
    add(session._stage(session.found()), before=10.0, table=5.0, after=10.0)
    run_tune(
        "openmpi", as_json, mpi=str(mpi.mpiexec), ranks=(2,), sizes="8,512,32K",
        collectives="bcast", budget=0.001, limit=30.0, commutative=False, output=str(tmp_path),
        fresh=False,
    )  # fmt: skip
    out = capsys.readouterr().out
    rules = tmp_path / "tuned.rules"
    assert "64 6 0 0  # binomial\n4096 0 0 0  # as built in\n" in rules.read_text()
    if as_json:
        said = json.loads(out)
        assert said["files"] == [str(rules)]
        [cell] = said["cells"]
        assert (cell["bytes"], cell["algorithm"], cell["ratio"]) == (512, "binomial", 2.0)
    else:
        row = ["bcast", "2", "512", "10.00", "µs", "5.00", "µs", "2.00x", "1.03x", "binomial"]
        assert row in [line.split() for line in out.splitlines()]
        assert out.splitlines()[-1] == (
            "faster than by its own choice: 1 point, 2.00x in the geometric mean, 2.00x at most"
        )
        assert (
            f"use it: mpiexec -n 2 --mca coll_tuned_use_dynamic_rules 1 --mca {FILE} {rules}" in out
        )


def test_nothing_is_measured_twice(made, tmp_path):
    session, calls = made
    session.scan(quiet)
    before = len(calls)
    again = NativeSession(
        session.target, session.request, Journal(tmp_path, {"wish": "made"}), session.seconds
    )
    again.scan(quiet)
    assert len(calls) == before > 10
    assert again.found() == session.found()


def test_a_budget_ends_the_scan(made):
    session, calls = made
    session.request.budget = 0.0
    session.scan(quiet)
    assert not calls
    assert session.found() == {}
    assert not session.finished()


def test_the_share_of_a_cell_goes_by_the_budget():
    target = Made(installed("mpich"))
    short, _ = seconds_for(target, Request([2], ["bcast"], SIZES, budget=30.0))
    long, needed = seconds_for(target, Request([2], ["bcast"], SIZES, budget=60.0))
    assert 0.003 <= short < long <= 0.1
    assert needed < 60
    with pytest.raises(Error, match="no choice"):
        seconds_for(target, Request([2], ["gather"], SIZES, budget=30.0))


def test_a_journal_goes_on_after_a_line_cut_short(tmp_path):
    journal = Journal(tmp_path, {"ranks": [2]})
    run = Run("scan", 0, 2, "before")
    journal.add([Sample(run, "bcast", 8, 8, 1.5)], [Failure("bcast", 2, "x", "hangs")])
    with journal.path.open("a", encoding="utf-8") as file:
        file.write('{"run": {"sta')
    again = Journal(tmp_path, {"ranks": [2]})
    assert (again.samples, again.failures) == (journal.samples, journal.failures)
    again.add([Sample(run, "bcast", 64, 64, 1.5)])
    third = Journal(tmp_path, {"ranks": [2]})
    assert all(third.has(run, Point("bcast", 2, size)) for size in (8, 64))
    assert third.failed("bcast", 2, "x")
    with pytest.raises(Error, match="another measurement: ranks was"):
        Journal(tmp_path, {"ranks": [4]})
    assert Journal(tmp_path, {"ranks": [4]}, fresh=True).samples == []


def test_openmpi_classic_rules_leave_other_ranks_alone(tmp_path):
    target = OpenMpi(installed("openmpi"))
    table = {
        ("allgather", 2): [Rule(0, None), Rule(64, "ring")],
        ("allgather", 3): [Rule(0, "bruck")],
        ("bcast", 4): [Rule(0, "pipeline,segment=8K"), Rule(512, "chain,fanout=4,segment=64K")],
    }
    [path] = target.write(table, tmp_path)
    words = [line.partition("#")[0].split() for line in path.read_text().splitlines()]
    assert [[int(word) for word in line] for line in words] == [
        [2],
        [0], [4],
        [1], [1], [0, 0, 0, 0],
        [2], [2], [0, 0, 0, 0], [128, 4, 0, 0],  # bytes of all parts
        [3], [1], [0, 2, 0, 0],
        [4], [1], [0, 0, 0, 0],
        [7], [3],
        [1], [1], [0, 0, 0, 0],
        [4], [2], [0, 3, 0, 8192], [512, 2, 4, 65536],
        [5], [1], [0, 0, 0, 0],
    ]  # fmt: skip


def test_openmpi_json_since_6(tmp_path):
    target = OpenMpi(installed("openmpi"))
    target.json = True
    [path] = target.write({("reduce_scatter", 4): [Rule(0, "ring"), Rule(64, None)]}, tmp_path)
    said = json.loads(path.read_text())
    assert (said["rule_file_version"], said["module"]) == (3, "tuned")
    rule = {"msg_size_min": 0, "msg_size_max": 63, "alg": "ring", "faninout": 0, "seg_size": 0}
    entry = {"comm_size_min": 4, "comm_size_max": 4, "rules": [rule]}
    assert said["collectives"] == {"reduce_scatter": [entry]}


def test_openmpi_tries_what_keeps_order_unless_told():
    careful, bold = (OpenMpi(installed("openmpi"), commutative) for commutative in (False, True))
    assert "ring" not in careful.algorithms("allreduce", 4)
    assert {"ring", "segmented_ring,segment=64K"} <= set(bold.algorithms("allreduce", 4))
    assert "two_proc" not in careful.algorithms("alltoall", 4)
    assert "neighbor" not in careful.algorithms("allgather", 3)


def chains(node: dict):
    """Every node below."""
    yield node
    for below in node.values():
        yield from chains(below)


def test_mpich_files_are_complete_and_guarded(tmp_path):
    target = Mpich(installed("mpich"))
    table = {
        ("allreduce", 2): [Rule(0, None), Rule(64, "reduce_scatter_allgather")],
        ("scan", 4): [Rule(0, "recursive_doubling")],
    }
    algorithms, compositions = (
        json.loads(path.read_text()) for path in target.write(table, tmp_path)
    )
    assert len(algorithms) > 40
    for tree in (algorithms, compositions):
        for node in chains(tree):
            if any("<" in key for key in node):
                assert list(node)[-1].endswith(("=any", "=parent")), list(node)
    branches = algorithms["collective=allreduce"]["comm_type=intra"]
    assert list(branches) == ["comm_size<=1", "comm_size<=2", "comm_size=any"]
    built_in = branches["comm_size=any"]
    assert list(branches["comm_size<=2"]) == ["avg_msg_size<64", "avg_msg_size=any"]
    assert branches["comm_size<=2"]["avg_msg_size<64"] == built_in
    large = branches["comm_size<=2"]["avg_msg_size=any"]
    assert large["is_op_built_in=no"] == built_in
    assert large["is_op_built_in=yes"]["is_commutative=no"] == built_in
    leaf = large["is_op_built_in=yes"]["is_commutative=yes"]["count=any"]
    assert leaf == {"algorithm=MPIR_Allreduce_intra_reduce_scatter_allgather": {}}
    assert "MPIDI_Scan_intra_composition_beta" in json.dumps(
        compositions["collective=scan"]["comm_size<=4"]
    )


def test_intel_lists_are_thresholds():
    target = IntelMpi(installed("intel"))
    rules = [Rule(0, "preset 3"), Rule(256, "preset 1"), Rule(4096, "preset 2")]
    table = {("bcast", 4): rules, ("reduce_scatter_block", 4): rules, ("bcast", 2): rules[:1]}
    assert target.variables(table, None, 4) == {
        "I_MPI_ADJUST_BCAST": "3:0-255;1:0-4095;2",
        "I_MPI_ADJUST_REDUCE_SCATTER_BLOCK": "3:0-63;1:0-1023;2",  # bytes of a part
    }
    assert target.variables(table, None, 2) == {"I_MPI_ADJUST_BCAST": "3"}


def test_durations():
    read = DurationType().convert
    assert [read(text, None, None) for text in ("90", "90s", "5m", "1.5h")] == [90, 90, 300, 5400]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "mpich", "--operators", "all"], "--operators does not go with"),
        (["--target", "mpich", "--", "srun"], "starts its ranks by mpiexec"),
        (["--target", "openmip"], "did you mean openmpi"),
        (["--target", "mpich", "--budget", "soon"], "write 90s, 5m or 2h"),
        (["--target", "mpich", "--ranks", "1"], "write 2 or more"),
        (["--target", "mpich", "--collectives", "allredcue"], "did you mean allreduce"),
    ],
)
def test_misuse(arguments, words, tmp_path):
    mpi = ["--mpi", installed("mpich").mpiexec]
    assert words in refuse("tune", *arguments, *mpi, "--output", tmp_path)


def test_another_mpi_than_the_target(tmp_path):
    arguments = ["--mpi", installed("intel").mpiexec, "--output", tmp_path]
    assert "tunes MPICH, and not Intel MPI" in refuse("tune", "--target", "mpich", *arguments)


@pytest.mark.alone
def test_an_interrupted_run_goes_on(tmp_path):
    arguments = ["tune", "--target", "mpich", "--mpi", str(installed("mpich").mpiexec)]
    arguments += ["--ranks", "2", "--sizes", "8", "--collectives", "reduce"]
    arguments += ["--output", str(tmp_path)]
    state = tmp_path / "state.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "stretto", *arguments, "--budget", "5m"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ,
        # A job in the background ignores it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not state.exists() or state.read_text().count("\n") < 3:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert f"what was measured is in {state}" in err
    kept = state.read_text()
    done = stretto(*arguments, "--budget", "2s", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert state.read_text().startswith(kept)
    assert state.read_text().count("\n") > kept.count("\n")
    assert said["failures"] == []
    for cell in said["cells"]:
        assert cell["ratio"] > cell["noise"] > 1
    assert bool(said["cells"]) == bool(said["files"])
