# SPDX-License-Identifier: BSD-3-Clause
"""`stretto bench --peers`: table, goals and page of made-up rounds, order of runs, a real one."""

import json
import sys
from pathlib import Path

import programs
import pytest
from commands import stretto
from stretto import Error
from stretto.launch import choose_mpi
from stretto.measure.driver import CellError, WaitingDriver
from stretto.measure.points import BACK_TO_BACK, MODES, SYNCHRONISED, benchmark_points
from stretto.peers import session as session_module
from stretto.peers.agreement import FACTOR, agreeing
from stretto.peers.cells import CELLS, traffic
from stretto.peers.environments import prepare, wheels_of
from stretto.peers.goals import BOUND, LARGE, judge
from stretto.peers.session import PeerSession, Round, Wish
from stretto.peers.table import COLUMNS, compare, records, tsv

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks" / "node"))

from performance_page import page, write

MIB16 = 16 << 20
STILL = {"latency_ns": 50.0, "transfer_gbs": 20.0, "memory_gbs": 10.0}
WISH = Wish([2], ["allreduce"], [MIB16], [BACK_TO_BACK], rounds=3)


def sample(peer: str, native: float, own: float, **other: object) -> dict:
    return {
        "cell": "allreduce", "function": "allreduce", "asked": MIB16, "bytes": MIB16,
        "native_us": native, "stretto_us": own, "ratio": native / own, "correct": True,
        "algorithm": "allreduce/ring",
        "native_spread": 0.1, "stretto_spread": 0.1, "seconds": 0.2, "dear": False,
        "peer": peer, **STILL, **other,
    }  # fmt: skip


def rounds_of(*samples: list[dict], mode: str = BACK_TO_BACK) -> list[Round]:
    """A round from the samples of each of them."""
    return [Round(i + 1, 2, "allreduce", MIB16, mode, said) for i, said in enumerate(samples)]


def three(native: float = 100.0, own: float = 50.0) -> list[dict]:
    return [
        sample("mpich", 4 * native, 2 * own),
        sample("openmpi", native, own),
        sample("intel", 2 * native, own / 2),
    ]


def test_ratios_agree_near_their_median():
    assert agreeing([2.0]) == 1
    assert agreeing([2.0, 2.0 * FACTOR, 9.0, 1.9]) == 3
    assert agreeing([1.0, 2.0, 4.0]) == 1


def test_traffic_of_two_ranks():
    assert {cell: traffic(cell, 1, 2) for cell in CELLS} == {
        "barrier": 0, "bcast": 2, "reduce": 3, "allreduce": 4, "allreduce-maxloc": 4,
        "allgather": 6, "allgatherv-spike": 6, "allgatherv-halving": 6, "alltoall": 8,
        "reduce_scatter_block": 3, "gather": 4, "scatter": 4, "scan": 4, "exscan": 2,
    }  # fmt: skip


def test_plan_has_one_barrier():
    assert benchmark_points(["barrier", "bcast"], [8, 16]) == [
        ("barrier", 0),
        ("bcast", 8),
        ("bcast", 16),
    ]


def test_plan_has_all_modes_but_of_barriers():
    assert Wish([2], ["barrier", "bcast"], [8]).plan() == [
        ("barrier", 0, BACK_TO_BACK),
        ("bcast", 8, BACK_TO_BACK),
        ("bcast", 8, SYNCHRONISED),
    ]


def test_modes_are_kept_apart():
    wish = Wish([2], ["allreduce"], [MIB16], rounds=3)
    rounds = rounds_of(three(), three()) + rounds_of(
        three(own=200.0), three(own=200.0), mode=SYNCHRONISED
    )
    rows = records(rounds, wish)
    assert [(row["mode"], row["ratio"]) for row in rows if row["peer"] == "openmpi"] == [
        (BACK_TO_BACK, 2.0),
        (SYNCHRONISED, 0.5),
    ]
    cells = compare(rows)
    assert [(cell["mode"], cell["ratio"]) for cell in cells] == [
        (BACK_TO_BACK, 2.0),
        (SYNCHRONISED, 0.5),
    ]
    missed = {goal.words for goal in judge(rows, cells) if goal.missed}
    assert "synchronised, 2 ranks, slowest cell against the closest peer" in missed
    assert "back-to-back, 2 ranks, slowest cell against the closest peer" not in missed


def test_records_are_medians_of_ratios_within_runs():
    rows = records(rounds_of(three(), three(200.0, 91.0), three(110.0)), WISH)
    assert [row["peer"] for row in rows] == ["mpich", "openmpi", "intel"]
    middle = rows[1]
    assert (middle["native_us"], middle["ratio"]) == (110.0, pytest.approx(200 / 91))
    assert middle["spread"] == pytest.approx(1.1)
    assert middle["status"] == "ok"
    # 64 MiB at 10 GB/s are 6.7 ms.
    assert middle["of_bound"] == pytest.approx(4 * MIB16 / 10e9 * 1e6 / 50.0)


def test_times_may_change_with_the_machine_and_ratios_may_not():
    rows = records(rounds_of(three(), three(500.0, 250.0), three(300.0, 150.0)), WISH)
    assert [(row["status"], row["rounds_agreed"]) for row in rows] == [("ok", 3)] * 3
    rows = records(rounds_of(three(), three(500.0), three(190.0)), WISH)
    assert [(row["status"], row["rounds_agreed"]) for row in rows] == [("unstable", 1)] * 3
    more = rounds_of(three(), three(500.0), three(190.0), three(), three(105.0))
    assert [(r["status"], r["rounds_agreed"], r["ratio"]) for r in records(more, WISH)] == [
        ("ok", 3, 4.2), ("ok", 3, 2.1), ("ok", 3, 8.4),
    ]  # fmt: skip


def test_a_dear_cell_needs_one_round():
    one = [sample("mpich", 9e6, 1e3, dear=True)]
    assert records(rounds_of(one), WISH)[0]["status"] == "ok"


def test_the_closest_peer_counts():
    rows = records(rounds_of(three(), three()), WISH)
    assert [row["ratio"] for row in rows] == [4.0, 2.0, 8.0]
    rows[0]["ratio"], rows[0]["status"] = 2.5, "unstable"
    [cell] = compare(rows)
    assert (cell["closest"], cell["ratio"], cell["status"]) == ("openmpi", 2.0, "ok")
    rows[1]["status"] = "unstable"
    assert compare(rows)[0]["status"] == "unstable"


def failing(side: str) -> list[Round]:
    rounds = rounds_of(three()[:2], three()[:2])
    rounds[0].failures.append({"reason": "it ended", "side": side, "peer": "intel"})
    return rounds


def test_a_peer_that_fails_is_said_and_the_others_compared():
    rows = records(failing("native"), WISH)
    assert rows[2]["status"] == "failed"
    assert rows[2]["reason"] == "it ended"
    assert compare(rows)[0]["status"] == "ok"


def test_stretto_that_fails_misses():
    rows = records(failing("Stretto"), WISH)
    cells = compare(rows)
    assert cells[0]["status"] == "failed"
    assert judge(rows, cells)[0].missed == cells


def test_wrong_results_miss():
    said = three()
    said[0]["correct"] = False
    rows = records(rounds_of(said, three()), WISH)
    cells = compare(rows)
    assert cells[0]["status"] == "wrong"
    assert not judge(rows, cells)[0].reached


def goals_of(*rounds: Round) -> dict:
    rows = records(list(rounds), WISH)
    return {goal.words: goal for goal in judge(rows, compare(rows))}


def test_goals():
    goals = goals_of(*rounds_of(three(), three()))
    large = goals["back-to-back, 2 ranks, 16 MiB, allreduce against the closest peer"]
    assert (large.target, large.value, large.reached) == (LARGE["allreduce"], 2.0, True)
    assert goals["back-to-back, 2 ranks, 16 MiB, allreduce: share of the bound"].target == BOUND
    assert goals["back-to-back, 2 ranks, geometric mean against MPICH"].value == pytest.approx(4.0)
    assert goals["back-to-back, 2 ranks, geometric mean against Open MPI"].reached is False
    assert goals["back-to-back, 2 ranks, 16 MiB, scan against the closest peer"].reached is None
    slow = goals_of(*rounds_of(three(own=120.0), three(own=120.0)))
    assert slow["back-to-back, 2 ranks, slowest cell against the closest peer"].missed
    within = goals_of(*rounds_of(three(own=104.0), three(own=104.0)))
    assert within["back-to-back, 2 ranks, slowest cell against the closest peer"].reached


def test_unstable_cells_are_not_judged():
    goals = goals_of(*rounds_of(three(), three(500.0)))
    goal = goals["back-to-back, 2 ranks, slowest cell against the closest peer"]
    assert (goal.reached, goal.left_out) == (None, 1)


def document(rounds: list[Round]) -> dict:
    rows = records(rounds, WISH)
    return {
        "date": "2026-01-02", "version": "0.1.0", "absent": {}, "agree": FACTOR,
        "peers": {"mpich": "MPICH 5.0.2", "openmpi": "Open MPI 5.0.11", "intel": "Intel MPI 2021"},
        "machine": {"cpu": "CPU of tests", "cores": 2, "system": "Linux"},
        "wish": {"ranks": [2], "modes": [BACK_TO_BACK], "rounds": 3, "repeats": 6},
        "records": rows, "cells": compare(rows),
    }  # fmt: skip


def test_tsv():
    lines = tsv(records(rounds_of(three(), three()), WISH)).splitlines()
    assert lines[0].split("\t") == list(COLUMNS)
    assert lines[2].split("\t")[:7] == [
        "2", "allreduce", BACK_TO_BACK, str(MIB16), str(MIB16), "openmpi", "ok",
    ]  # fmt: skip
    assert {line.count("\t") for line in lines} == {len(COLUMNS) - 1}


def test_page_names_what_misses():
    text = page(
        document(rounds_of(three(own=120.0), three(own=120.0))),
        "By hand.",
        {(2, BACK_TO_BACK): "f.svg"},
    )
    goal = "- back-to-back, 2 ranks, slowest cell against the closest peer, at least 0.95"
    assert f"{goal}: allreduce, 16M" in text
    assert "CPU of tests, 2 cores" in text
    assert "![Time of the closest MPI over Stretto's, 2 ranks, back to back](f.svg)" in text
    assert "| allreduce, 16M | 400 | 240 | 1.67 | 100 | 120 | 0.83 |" in text
    order = ["(f.svg)", "## How it was", "## 2 ranks", "By hand.", "## Numbers to reach"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)


def test_page_names_failures(tmp_path):
    (tmp_path / "peers.json").write_text(json.dumps(document(failing("native"))), encoding="utf-8")
    (tmp_path / "notes.md").write_text("Why.", encoding="utf-8")
    write(tmp_path / "peers.json", tmp_path / "notes.md", tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "- 2 ranks, allreduce, 16M, back-to-back, Intel MPI: it ended" in text
    assert (tmp_path / "figures" / "peers-2-back-to-back.svg").stat().st_size > 2000


@pytest.fixture
def asked(monkeypatch):
    """Sessions answer, but for the cells in `bad`; returns what they were asked for."""

    def make(*bad: str) -> list[str]:
        calls: list[str] = []

        class Answers(WaitingDriver):
            def ask(self, cell: str, size: int, mode: str) -> dict:
                calls.append(f"{self.mpi.flavour} {cell}:{size}:{mode}")
                if cell in bad:
                    raise CellError("it ended", "native")
                return sample("", 2.0, 1.0, cell=cell, asked=size)

        monkeypatch.setattr(session_module, "WaitingDriver", Answers)
        monkeypatch.setattr(session_module, "measure", lambda: STILL)
        return calls

    return make


def two_peers(fake_mpi) -> dict:
    return {name: choose_mpi(str(fake_mpi(name))) for name in ("mpich", "openmpi")}


def test_a_cell_goes_through_all_peers_and_rounds_are_repeated(asked, fake_mpi, monkeypatch):
    calls = asked()
    ratios = [2.0, 2.0, 4.0, 2.0, 2.0, 2.0]  # of two peers in turn
    answer = session_module.WaitingDriver.ask
    monkeypatch.setattr(
        session_module.WaitingDriver,
        "ask",
        lambda *order: {**answer(*order), "native_us": ratios.pop(0)},
    )
    session = PeerSession(
        two_peers(fake_mpi), Wish([2], ["bcast"], [8], [SYNCHRONISED], rounds=2, repeats=3)
    )
    session.run()
    peers = [said["peer"] for one in session.rounds for said in one.samples]
    assert peers == ["mpich", "openmpi"] * 3
    assert calls == ["mpich bcast:8:synchronised", "openmpi bcast:8:synchronised"] * 3
    assert ratios == []


def test_what_takes_long_or_fails_is_not_repeated(asked, fake_mpi, monkeypatch):
    asked("scan")
    monkeypatch.setattr(session_module, "DEAR", 0.1)
    mpis = {"mpich": choose_mpi(str(fake_mpi("mpich")))}
    session = PeerSession(mpis, Wish([2], ["bcast", "scan"], [8], [BACK_TO_BACK], rounds=3))
    session.run()
    assert [(one.cell, len(one.samples), len(one.failures)) for one in session.rounds] == [
        ("bcast", 1, 0), ("scan", 0, 1),
    ]  # fmt: skip
    rows = records(session.rounds, session.wish)
    assert [row["status"] for row in rows] == ["ok", "failed"]


def test_rounds_that_would_end_too_late_are_not_begun(asked, fake_mpi, monkeypatch):
    asked()
    monkeypatch.setattr(session_module, "LONGEST", 0.0)
    mpis = {"mpich": choose_mpi(str(fake_mpi("mpich")))}
    for all_rounds, rounds in ((False, 1), (True, 3)):
        wish = Wish([2], ["bcast"], [8], [BACK_TO_BACK], rounds=3, all_rounds=all_rounds)
        session = PeerSession(mpis, wish)
        session.run()
        assert len(session.rounds) == rounds


def installed_mpich():
    return choose_mpi(str(programs.from_environment("STRETTO_TEST_MPICH") / "bin" / "mpiexec"))


def test_a_session_waits_between_cells():
    with WaitingDriver(installed_mpich(), 3, 0.01, 60.0) as session:
        cells = (("bcast", 64), ("allgatherv-spike", 4096), ("barrier", 0))
        for (cell, size), mode in zip(cells, (*MODES, BACK_TO_BACK), strict=True):
            said = session.ask(cell, size, mode)
            assert (said["cell"], said["mode"]) == (cell, mode)
            assert (said["ranks"], said["correct"]) == (3, True)


def test_a_session_names_what_does_not_end_and_starts_again():
    with WaitingDriver(installed_mpich(), 2, 0.01, 60.0) as session:
        session.ask("bcast", 64, SYNCHRONISED)
        session.limit, session.budget = 0.2, 30.0
        with pytest.raises(CellError, match=r"took more than 0 s"):
            session.ask("allreduce-maxloc", 256 << 20, BACK_TO_BACK)
        session.limit, session.budget = 60.0, 0.01
        assert session.ask("bcast", 64, SYNCHRONISED)["correct"]


def test_environment_of_another_version(fake_mpi):
    assert wheels_of("mpich") == ["mpich==5.0.2"]
    assert wheels_of("intel")[0].startswith("impi-rt==")
    prefix = fake_mpi("mpich")
    with pytest.raises(Error, match=r"has MPICH 9\.8\.7, and not mpich==5\.0\.2"):
        prepare("mpich", prefix.parent)


def test_small_session(tmp_path):
    """Under the MPIs that tests/run has set up."""
    environments = tmp_path / "environments"
    environments.mkdir()
    prefix = programs.from_environment("STRETTO_TEST_MPICH")
    (environments / "mpich").symlink_to(prefix)
    output = tmp_path / "out"
    done = stretto(
        "bench", "--peers", "mpich", "--environments", environments, "--output", output,
        "--ranks", 2, "--cells", "bcast,allreduce-maxloc", "--sizes", "1K", "--rounds", 1,
        "--time-per-cell", 0.02,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert [line[1:3] for line in lines] == [
        ["cell", "mode"],
        *([cell, mode] for cell in ("bcast", "allreduce-maxloc") for mode in MODES),
    ]
    said = json.loads((output / "peers.json").read_text(encoding="utf-8"))
    assert said["peers"] == {"mpich": "MPICH 5.0.2"}
    for row in said["records"]:
        assert row["status"] == "ok"
        assert row["ratio"] == pytest.approx(row["native_us"] / row["stretto_us"], rel=0.01)
        assert 1 < row["latency_ns"] < 1e6
        assert row["memory_gbs"] > 0.01
    for mode in MODES:
        assert (output / f"heat-2-{mode}.svg").stat().st_size > 2000
    assert (output / "peers.tsv").read_text(encoding="utf-8") == done.stdout
