# SPDX-License-Identifier: BSD-3-Clause
"""What `stretto compare` makes of its measurements: intervals, sentences, outputs, times."""

import math
import random
from dataclasses import replace

import pytest
from stretto.compare.outcome import Outcome, Part
from stretto.compare.output import compare
from stretto.compare.runs import NATIVE, STRETTO
from stretto.compare.statistics import Ratio, ratio_of
from stretto.compare.verdict import could_save, sentences, verdict
from stretto.measure.busy import Load
from stretto.units import time_in_a_table, time_in_words


def test_the_interval_holds_what_is_true():
    """In about 95 of 100 measurements; the pairs share a disturbance, which does not count."""
    rng = random.Random(7)
    held, trials = 0, 400
    for _ in range(trials):
        native, stretto = [], []
        for _ in range(5):
            shared = rng.lognormvariate(0, 0.5)
            native.append(1.2 * shared * rng.lognormvariate(0, 0.03))
            stretto.append(shared * rng.lognormvariate(0, 0.03))
        ratio = ratio_of(native, stretto)
        held += ratio.low <= 1.2 <= ratio.high
    assert 0.91 * trials < held < 0.99 * trials


def test_a_ratio():
    ratio = ratio_of([2.0, 8.0, 4.0], [1.0, 4.0, 2.0])
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx((2.0, 2.0, 2.0))
    # Student's t of 2 degrees of freedom: 4.302653.
    ratio = ratio_of([math.e, 1.0, 1.0], [1.0, 1.0, 1.0])
    assert math.log(ratio.high / ratio.value) == pytest.approx(4.302653 / 3, rel=1e-6)
    assert ratio_of([1.0], [1.0]) is None
    assert ratio_of([1.0, 0.0], [1.0, 1.0]) is None


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (Ratio(1.25, 1.125, 1.5), "faster with Stretto: 1.25 times as fast, 1.12–1.50"),
        (Ratio(0.8, 0.5, 0.9), "slower with Stretto: it takes 1.25 times as long, 1.11–2.00"),
        (
            Ratio(1.001, 0.9951, 1.0071),
            "shows no difference beyond noise: 1.001 times as fast, 0.995–1.007",
        ),
        (Ratio(1.5, 0.01, 123.4), "no difference beyond noise: 1.50 times as fast, 0.01–123"),
    ],
)
def test_verdict(ratio, words):
    words, _, interval = words.rpartition(", ")
    assert f"{words} (95 % interval {interval})" in verdict(outcome(ratio))


def outcome(ratio: Ratio | None, collectives: Ratio | None = None, **more) -> Outcome:
    """A program of 10 s, of which a fifth is spent in collectives natively."""
    whole = Part("the program", 10.0, 10.0 / ratio.value if ratio else 0.0, ratio)
    inner = Part("in collectives", 2.0, 1.0, collectives or Ratio(2.0, 1.9, 2.1), 100.0)
    made = Outcome(
        job="app", mpi="MPICH 5.0.2", ranks=4, repeat=5, program=whole, collectives=inner,
        functions=[replace(inner, name="allreduce", algorithms=["allreduce/linear"])],
        moving={"allreduce": 0.06, "bcast": 0.001, "neighbor_alltoall": 0.02}, start=0.5,
        measuring={NATIVE: 0.0001, STRETTO: 0.002}, timing_ns={"native": 90.0, "served": 120.0},
        load=Load(0.1, 8.0), output=None, runs=[],
    )  # fmt: skip
    return replace(made, **more)


def test_what_is_said(monkeypatch, tmp_path):
    tuned = tmp_path / "tuned.rules"
    monkeypatch.setattr(
        "stretto.compare.verdict.tuned_here", lambda *_: tuned if tuned.exists() else None
    )
    first, share, faster, tuning, measuring = sentences(outcome(Ratio(1.1, 1.05, 1.2)))
    assert first.startswith("The program is faster")
    assert share == ("Collectives take 20 % of its time without Stretto: without any it would be "
                     "1.25 times as fast, not more.")  # fmt: skip
    assert "1 s instead of 2 s per rank, 2.00 times as fast" in faster
    assert tuning.startswith("With Stretto 8.1 % of its time are collectives")
    assert "`stretto tune --ranks 4 --collectives allreduce` tries" in tuning
    assert "takes less than 0.1 % of the time without Stretto and 0.2 % with it." in measuring
    hardly = outcome(Ratio(1.0, 0.9, 1.1), program=Part("the program", 1e3, 1e3, None))
    said = "Collectives take 0.2 % of its time without Stretto, so nothing can be gained in them."
    assert said in sentences(hardly)
    tuned.touch()
    assert "are there already" in sentences(outcome(Ratio(1.1, 1.05, 1.2)))[3]


def test_what_else_is_said():
    usual = Ratio(1.0, 0.9, 1.1)
    little = outcome(usual, moving={"allreduce": 0.004})
    assert could_save(little) == 0.004
    assert any("tuning could save no more" in line for line in sentences(little))
    slower = sentences(outcome(usual, Ratio(0.5, 0.4, 0.6)))
    assert any("spends more time with Stretto" in line for line in slower)
    busy = sentences(outcome(usual, load=Load(5.0, 8.0)))
    assert any("busy: in some runs other processes use 5.0 of 8 cores" in line for line in busy)
    dear = sentences(outcome(usual, measuring={NATIVE: 0.2, STRETTO: 0.3}))
    assert any("--plain measures the program alone" in line for line in dear)
    program = Part("the program", 1.0, 1.0, usual)
    short = sentences(outcome(usual, program=program, start=0.8))
    assert any("It is short: 800 ms of 1 s pass before" in line for line in short)
    none = outcome(None, repeat=0, collectives=None, functions=[], moving={})
    assert sentences(none)[0].startswith("The program calls no collective function")


@pytest.mark.parametrize(
    ("natives", "stretto", "same", "words"),
    [
        (["a\nb\n"] * 2, "a\nb\n", True, "byte for byte"),
        (["a\nb\n"] * 2, "b\na\n", True, "the order of its lines"),
        (["t 1\n", "t 2\n"], "t 3\n", True, "from run to run natively as well"),
        (["x 1.0\n"] * 2, "x 1.00000001\n", True, "differ by up to 1e-08 of their size (line 1)"),
        (["x 1.0\n"] * 2, "x 1.1\n", False, "differ by up to 0.09 of their size (line 1)"),
        (["x 1.0\n"] * 2, "x nan\n", False, "on one side alone (line 1)"),
        (["x inf\n"] * 2, "x 1.0\n", False, "on one side alone (line 1)"),
        (["x nan\n"] * 2, "x NaN\n", True, "the same"),
        (["a\nx one\n"] * 2, "a\nx two\n", False, "line 2 is 'x two', without Stretto 'x one'"),
        (["a\n"] * 2, "a\nb\n", False, "it has 2 lines, without Stretto 1"),
        (["a\n", "a\na\n"], "a\nb\n", True, "its length differs from run to run"),
    ],
)
def test_outputs(natives, stretto, same, words):
    found = compare([one.encode() for one in natives], [stretto.encode()])
    assert (found.same, words in found.words) == (same, True), found


@pytest.mark.parametrize(
    ("seconds", "table", "words"),
    [
        (1.2e-7, "0.12 µs", "120 ns"), (1.25e-5, "12.50 µs", "12.5 µs"),
        (9.99e-3, "9990.00 µs", "9.99 ms"), (1e-2, "10.00 ms", "10 ms"),
        (9.9997e-4, "999.97 µs", "1 ms"), (999.97, "999.97 s", "1,000 s"),
        (0.5, "500.00 ms", "500 ms"), (1.0, "1.00 s", "1 s"), (12345.6, "12,345.60 s", "12,346 s"),
    ],
)  # fmt: skip
def test_times(seconds, table, words):
    assert (time_in_a_table(seconds), time_in_words(seconds)) == (table, words)
