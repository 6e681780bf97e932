# SPDX-License-Identifier: BSD-3-Clause
"""What is said and marked where others work on the machine that is measured."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import stretto.tune.own.session as session_module
from programs import installed
from stretto import _core
from stretto.cli.terminal import say_first
from stretto.cli.tune_own import run as run_tune
from stretto.measure import busy
from stretto.measure.busy import Load
from stretto.measure.session import Request
from stretto.tune.own.choice import SHIPPED, Choice, choices, times_of
from stretto.tune.own.journal import Entry, Journal, Measured
from stretto.tune.own.paired_benchmark import Place
from stretto.tune.own.points import Point
from stretto.tune.own.session import OwnSession
from stretto.tune.own.trust import in_words, within_noise

MACHINE = "made-up processor, 2 cores, MPICH 5.0.2"


@pytest.mark.parametrize(
    ("others", "cores", "ranks", "disturbs"),
    [
        (0.1, 2, 2, False), (0.1, 2, 8, False), (0.3, 2, 2, True), (1.0, 2, 1, False),
        (1.3, 2, 1, True), (5.0, 8, 2, False), (5.0, 8, 4, True), (0.3, 2, 8, True),
    ],
)  # fmt: skip
def test_who_is_disturbed(others, cores, ranks, disturbs):
    assert Load(others, cores).disturbs(ranks) is disturbs


@pytest.mark.alone
def test_a_busy_loop_is_seen():
    core = min(os.sched_getaffinity(0))
    loop = f"import os\nos.sched_setaffinity(0, [{core}])\nprint(flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", loop], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        load = busy.look()
        process.kill()
    assert load.cores <= len(os.sched_getaffinity(0))
    assert 0.2 < load.others <= load.cores
    assert load.disturbs(len(os.sched_getaffinity(0)))


def fake(monkeypatch, used: list[float], own: list[float], group: list[float] | None = None):
    """What the files say before and after."""
    readings = {"_used": iter(used), "_own": iter(own), "_used_in": iter(group or [])}
    monkeypatch.setattr(busy, "_used", lambda cores: next(readings["_used"]))
    monkeypatch.setattr(busy, "_own", lambda: next(readings["_own"]))
    monkeypatch.setattr(busy, "_used_in", lambda path: next(readings["_used_in"]))
    monkeypatch.setattr(busy, "quota", lambda: (1.0, Path("/x")) if group else None)
    monkeypatch.setattr(busy.os, "sched_getaffinity", lambda pid: {0, 1, 2, 3})
    clock = iter([10.0, 12.0])
    monkeypatch.setattr(busy.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(busy.time, "sleep", lambda seconds: None)


def test_a_look(monkeypatch):
    fake(monkeypatch, [100.0, 103.0], [1.0, 1.5])
    assert busy.look() == Load(1.25, 4.0), "without what this process used itself"


@pytest.mark.parametrize(
    ("used", "group", "others"), [(4.0, 0.0, 0.0), (7.0, 0.0, 0.5), (0, 1, 0.5)]
)
def test_a_quota(monkeypatch, used, group, others):
    """One core of four: others may use the rest, but not ours nor our group's share."""
    fake(monkeypatch, [0.0, used], [0.0, 0.0], [0.0, group])
    assert busy.look() == Load(others, 1.0)


def test_linux_that_does_not_say(monkeypatch):
    def no_file(cores):
        raise FileNotFoundError

    monkeypatch.setattr(busy, "_used", no_file)
    assert busy.look(0.0) is None


def test_the_worst_is_kept(monkeypatch, tmp_path):
    looks = iter([Load(0.5, 2), Load(0.3, 2), Load(1.5, 2)])
    monkeypatch.setattr(busy, "look", lambda: next(looks))
    journal = Journal(tmp_path / "tuned.jsonl", MACHINE)
    request, places = Request([2], ["bcast"], [8], 1.0), {2: Place(2, 1, 2, MACHINE)}
    session, said = OwnSession(installed("mpich"), request, journal, places), []
    session.look(said.append)
    session.look(said.append)
    assert said == [Load(0.5, 2)], "just now it was looked"
    monkeypatch.setattr(session_module, "LOOK_EVERY", 0.0)
    session.look(said.append)
    session.look(said.append)
    assert said == [Load(0.5, 2), Load(1.5, 2)]
    assert journal.load == Journal(journal.path, MACHINE).load == Load(1.5, 2)


def test_bench_says_so_first(monkeypatch, capsys):
    monkeypatch.setattr(busy, "look", lambda: Load(1.3, 2.0))
    say_first([], 2)
    words = "stretto: this machine is busy: other processes use 1.3 of 2 cores; times are less"
    assert words in capsys.readouterr().err
    monkeypatch.setattr(busy, "look", lambda: Load(0.1, 2.0))
    say_first([], 2)
    assert capsys.readouterr().err == ""


def benchmark(point: Point, spread: float, stage: str = "search", **us: float) -> Measured:
    entries = [Entry(words, "x", time, spread, 12, True) for words, time in us.items()]
    return Measured(point, stage, 0.1, entries)


def doubtful(folder: Path, benchmarks: list[Measured], words: str) -> bool:
    journal = Journal(folder / "tuned.jsonl", MACHINE, fresh=True)
    for one in benchmarks:
        journal.add(one)
    point = benchmarks[0].point
    chosen = {(point.name, point.ranks): [Choice(point, words, 1.0, None, 2.0)]}
    return bool(within_noise(journal, chosen, {point: "linear"}))


def test_what_is_within_noise(tmp_path):
    point = Point("allreduce", 2, 4096)
    clear = 2 * [benchmark(point, 0.1, linear=2, ring=1)]
    assert not doubtful(tmp_path, clear, "ring")
    wide = 2 * [benchmark(point, 5.0, linear=2, ring=1.7)]
    assert doubtful(tmp_path, wide, "ring"), "blocks that differ by more than the gain"
    at_odds = [benchmark(point, 0.1, linear=2, ring=1), benchmark(point, 0.1, linear=1, ring=1.9)]
    assert doubtful(tmp_path, at_odds, "ring"), "paired benchmarks that do not agree"
    confirmed = [benchmark(point, 5.0, linear=2, ring=1.7)]
    confirmed += 2 * [benchmark(point, 0.1, "confirm", linear=2, ring=1.7)]
    assert not doubtful(tmp_path, confirmed, "ring"), "those between few count alone"
    assert not doubtful(tmp_path, 2 * [benchmark(point, 0.1, linear=1, ring=1.1)], SHIPPED)
    assert doubtful(tmp_path, 2 * [benchmark(point, 5.0, linear=1, ring=1)], SHIPPED), "hidden"


def test_neighbours_share_their_words():
    points = [Point("bcast", 2, size) for size in (8, 64, 1024, 65536, 1 << 20)]
    chosen = {
        ("bcast", 2): [Choice(point, "chain", 1.0, None, 2.0) for point in points],
        ("barrier", 4): [Choice(Point("barrier", 4, 0), "tree", 1.0, None, 2.0)],
        ("scan", 2): [Choice(Point("scan", 2, 8), "linear", 1.0, None, 2.0)],
    }
    doubts = {points[0], points[3], points[4], Point("barrier", 4, 0)}
    assert in_words(chosen, doubts, Load(1.31, 2.0)) == [
        "measured on a busy machine: other processes use 1.3 of 2 cores",
        "bcast, 2 ranks: choices for 8, 64K..1M are within noise",
        "barrier, 4 ranks: choices are within noise",
    ]
    assert in_words(chosen, set(), None) == []


def pretend(monkeypatch, load: Load | None, spread: float) -> None:
    """A machine in which others work, and a driver that measures nothing."""
    place = Place(2, 1, 2, MACHINE)
    monkeypatch.setattr(busy, "look", lambda: load)
    monkeypatch.setattr(session_module, "probe", lambda mpi, ranks: place)
    monkeypatch.setattr("stretto.cli.tune_own.measured_reductions", lambda mpi: {})

    def measure(mpi, ranks, plan, seconds, folder, heard):
        for point, mode, words in plan:
            rows = [
                {"words": own, "algorithm": "x", "us": 1.0 + 0.1 * (own == "native"),
                 "spread": spread, "blocks": 4, "correct": True}
                for own in (one.removeprefix("+") for one in words)
            ]  # fmt: skip
            heard({"cell": point.name, "mode": mode, "ranks": 2, "asked": point.asked,
                   "seconds": 0.1, "candidates": rows})  # fmt: skip
        return ""

    monkeypatch.setattr(session_module, "measure", measure)


def tune(folder: Path, as_json: bool = False, fresh: bool = False) -> None:
    run_tune(
        as_json, launcher=(), mpi=str(installed("mpich").mpiexec), ranks=(2,), sizes="1K,64K",
        collectives="bcast,barrier", budget=20.0, operators=None, up_to=None, predict=None,
        mode=None, topology=None, hosts=None, output=str(folder / "tuned.rules"), fresh=fresh,
    )  # fmt: skip


def test_tune_says_and_marks_it(monkeypatch, capsys, tmp_path):
    pretend(monkeypatch, Load(1.3, 2.0), 4.0)
    tune(tmp_path)
    said = capsys.readouterr()
    first, *rest = said.err.splitlines()
    assert first.startswith("stretto: this machine is busy: other processes use 1.3 of 2 cores")
    line = "bcast, 2 ranks: choices for 1K..64K are within noise"
    assert f"stretto: {line}" in rest and "(within noise)" in said.out
    text = (tmp_path / "tuned.rules").read_text(encoding="utf-8")
    assert "\n# measured on a busy machine: other processes use 1.3 of 2 cores\n" in text
    assert f"\n# {line}\n" in text
    _core.parse_rules(text, "tuned")
    # Who goes on from there when the machine is idle still has those times.
    pretend(monkeypatch, Load(0.0, 2.0), 4.0)
    tune(tmp_path, as_json=True)
    said = capsys.readouterr()
    assert "this machine is busy" not in said.err
    found = json.loads(said.out)
    assert found["busy"] == {"others": 1.3, "cores": 2.0}
    assert all(one["within_noise"] for one in found["cells"])


def test_tune_on_an_idle_machine_says_nothing(monkeypatch, capsys, tmp_path):
    pretend(monkeypatch, Load(0.1, 2.0), 0.01)
    tune(tmp_path)
    said = capsys.readouterr()
    assert "busy" not in said.err + said.out and "noise" not in said.err + said.out
    assert "busy" not in (tmp_path / "tuned.rules").read_text(encoding="utf-8")
    assert choices(times_of(Journal(tmp_path / "tuned.jsonl", MACHINE), {})) == {}
