# SPDX-License-Identifier: BSD-3-Clause
"""`stretto tune` measures calls back to back and synchronised: what it chooses serves both."""

import json
from pathlib import Path

import pytest
import stretto.tune.own.session as session_module
from programs import installed
from stretto.measure.points import BACK_TO_BACK, MODES, SYNCHRONISED
from stretto.measure.session import Request
from stretto.tune.own.choice import CONFIRM, choices, times_of
from stretto.tune.own.journal import Entry, Journal, Measured
from stretto.tune.own.paired_benchmark import Place
from stretto.tune.own.points import NATIVE, Point
from stretto.tune.own.session import OwnSession
from stretto.tune.own.trust import gain_of

MACHINE = "made-up processor, 2 cores, MPICH 5.0.2"
POINT = Point("bcast", 2, 1 << 16)


def benchmark(mode: str, **us: float) -> Measured:
    entries = [Entry(words, f"bcast/{words}", time, 0.01, 12, True) for words, time in us.items()]
    return Measured(POINT, CONFIRM, 0.1, entries, mode)


def journal_of(folder: Path, *benchmarks: Measured) -> Journal:
    journal = Journal(folder / "tuned.jsonl", MACHINE)
    for one in (*benchmarks, *benchmarks):  # confirmed
        journal.add(one)
    return journal


def chosen(journal: Journal, modes: tuple[str, ...] = MODES) -> str:
    [[own]] = choices(times_of(journal, {POINT: "linear"}, modes)).values()
    return own.words


def test_the_choice_is_the_best_of_both_modes(tmp_path):
    journal = journal_of(
        tmp_path,
        benchmark(BACK_TO_BACK, linear=10, chain=4, binomial=5, native=30),
        benchmark(SYNCHRONISED, linear=20, chain=30, binomial=10, native=60),
    )
    assert chosen(journal) == "binomial", "5 x 10 is less than 4 x 30"
    assert chosen(journal, (BACK_TO_BACK,)) == "chain"
    assert chosen(journal, (SYNCHRONISED,)) == "binomial"


def test_what_loses_to_the_native_function_in_a_mode_is_not_chosen(tmp_path):
    journal = journal_of(
        tmp_path,
        benchmark(BACK_TO_BACK, linear=10, chain=2, binomial=5, native=11),
        benchmark(SYNCHRONISED, linear=10, chain=13, binomial=9, native=11),
    )
    assert chosen(journal) == "binomial", "chain is the best in the mean, and slower than native"


def test_where_all_lose_in_a_mode_the_best_is_chosen(tmp_path):
    journal = journal_of(
        tmp_path,
        benchmark(BACK_TO_BACK, linear=10, chain=4, native=11),
        benchmark(SYNCHRONISED, linear=20, chain=18, native=11),
    )
    assert chosen(journal) in ("chain", NATIVE)


def test_what_was_timed_in_one_mode_only_is_not_chosen(tmp_path):
    journal = journal_of(
        tmp_path,
        benchmark(BACK_TO_BACK, linear=10, chain=1),
        benchmark(SYNCHRONISED, linear=10),
    )
    assert chosen(journal) == ""
    assert chosen(journal, (BACK_TO_BACK,)) == "chain"


def test_a_gain_is_the_mean_of_the_modes():
    rows = [
        benchmark(BACK_TO_BACK, linear=10, chain=2.5),
        benchmark(SYNCHRONISED, linear=10, chain=10),
    ]
    assert gain_of(rows, "chain", "linear")[0] == pytest.approx(0.693, abs=0.01)


def test_a_journal_from_before_the_modes_holds_times_back_to_back(tmp_path):
    journal = journal_of(tmp_path, benchmark(BACK_TO_BACK, linear=10, chain=4))
    lines = [json.loads(line) for line in journal.path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line.pop("mode", None)
    journal.path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    again = Journal(journal.path, MACHINE)
    assert len(again.of(POINT, BACK_TO_BACK)) == 2 and not again.of(POINT, SYNCHRONISED)


def test_all_modes_are_measured_and_kept(tmp_path, monkeypatch):
    asked = []

    def measure(mpi, ranks, plan, seconds, folder, heard):
        for point, mode, words in plan:
            asked.append((point.name, mode))
            candidates = [
                {"words": one.removeprefix("+"), "algorithm": "x", "us": 1.0, "spread": 0.0,
                 "blocks": 12, "correct": True} for one in words
            ]  # fmt: skip
            heard({"cell": point.name, "mode": mode, "ranks": ranks, "asked": point.asked,
                   "seconds": 0.1, "candidates": candidates})  # fmt: skip
        return ""

    monkeypatch.setattr(session_module, "measure", measure)
    journal = Journal(tmp_path / "tuned.jsonl", MACHINE)
    wish = Request([4], ["bcast"], [8], 60.0)
    OwnSession(installed("mpich"), wish, journal, {4: Place(4, 1, 8, MACHINE)}, MODES).run(
        lambda *_: None
    )
    point = Point("bcast", 4, 8)
    assert all(journal.has(point, "search", mode) for mode in MODES)
    again = Journal(journal.path, MACHINE)
    assert [one.mode for one in again.of(point)] == [one.mode for one in journal.of(point)]
