# SPDX-License-Identifier: BSD-3-Clause
"""`stretto tune` for Stretto's own choice: fit and choice from made-up times; a real run."""

import json
import math
import os
from itertools import chain
from pathlib import Path

import pytest
import stretto
import stretto.tune.own.session as session_module
from commands import json_of, refuse
from programs import installed, stretto_run
from stretto import _core
from stretto.launch.mpi import Mpi
from stretto.measure.points import BACK_TO_BACK
from stretto.measure.session import Request
from stretto.tune.own import model
from stretto.tune.own.choice import SHIPPED, Times, along, choices, times_of
from stretto.tune.own.journal import Entry, Journal, Measured
from stretto.tune.own.paired_benchmark import Place
from stretto.tune.own.points import (
    NATIVE,
    Candidate,
    Point,
    Predictor,
    candidate,
    chosen,
    parsed,
    points_of,
    portfolio,
)
from stretto.tune.own.residual_correction import Estimate, Nearness, ResidualCorrection
from stretto.tune.own.rules import between, ranges, spans, to_text
from stretto.tune.own.search import NativeTimes, Search, levels, undecided
from stretto.tune.own.session import OwnSession

MACHINE = "made-up processor, 2 cores, MPICH 5.0.2"


def benchmark(point: Point, stage: str = "search", **us: float) -> Measured:
    """Words with dots for commas; a time of 0 was dropped before its first block."""
    entries = [
        Entry(words, "x", time or 1.0, 0.1, 12 if time else 0, True) for words, time in us.items()
    ]
    return Measured(point, stage, 0.1, entries)


def test_few_changes_from_size_to_size():
    def times(**us: float) -> Times:
        return Times(us, "shipped")

    clear = [times(shipped=2, ring=1), times(shipped=2, ring=1.01, tree=1)]
    found = along([*clear, times(shipped=1, ring=2)])
    assert found == ["ring", "ring", SHIPPED], "1 % is not worth a change"
    assert along([times(shipped=1.01, ring=1)]) == [SHIPPED], "nor a rule"
    assert along([times(ring=1, tree=2)]) == ["ring"], "the shipped choice was not timed"
    one = [times(shipped=1, ring=1.2), times(shipped=3, ring=1)]
    assert along(one) == [SHIPPED, "ring"]


@pytest.mark.parametrize(("a", "b", "middle"), [(8, 64, 24), (4096, 32768, 12288), (7, 8, 8)])
def test_thresholds_are_readable(a, b, middle):
    assert between(a, b) == middle


def test_ranks_between_the_measured_ones():
    assert spans([2, 4, 64], 2, 64) == {2: (2, 2), 4: (3, 16), 64: (17, 64)}


def journal_of(folder: Path, benchmarks: list[Measured]) -> Journal:
    journal = Journal(folder / "tuned.jsonl", MACHINE)
    for one in benchmarks:
        journal.add(one)
    return journal


def test_the_file_chooses_what_was_measured(tmp_path):
    benchmarks = [
        benchmark(
            Point("allreduce", n, size), native=9, linear=3, **{"ring,segment=4K,depth=2": us}
        )
        for n in (2, 8)
        for size, us in ((8, 5), (4096, 1), (65536, 1))
    ]
    benchmarks += [benchmark(Point("allreduce-ordered", 2, 4096), native=1, linear=9)]
    benchmarks += [benchmark(Point("alltoall", 2, 4096), native=9, linear=9, pairwise_xor=1)]
    for size, us in ((8, 1), (4096, 3)):
        benchmarks += [benchmark(Point("gatherv", 4, size), native=us, linear=2)]
    shipped = {one.point: "linear" for one in benchmarks}
    once = choices(times_of(journal_of(tmp_path, benchmarks), shipped))
    assert {one.words for own in once.values() for one in own} == {SHIPPED}, "not confirmed"
    journal = journal_of(tmp_path, benchmarks)
    found = choices(times_of(journal, shipped))
    text = to_text(found, MACHINE, ["made up"])
    assert f"stretto-rules 2\nmachine {MACHINE}\n# made up\n" in text
    assert "ranks>=2 ranks<=8 bytes>=192 bytes<256K" in text, "both numbers of ranks share a rule"
    assert "# 2 x 4K: 1 µs (9, 3); 2 x 64K: 1 µs (9, 3); 8 x 4K: 1 µs (9, 3)" in text
    rules = _core.parse_rules(text, "tuned")

    def says(point: Point) -> str:
        choice = chosen(rules, point, point.ranks)
        return candidate(choice.algorithm, choice.params).words

    for ranks in (2, 5, 8):
        assert says(Point("allreduce", ranks, 16384)) == "ring,segment=4K,depth=2"
    small = Point("allreduce", 2, 8)
    as_shipped = chosen(_core.shipped_rules(), small, small.ranks).algorithm
    assert chosen(rules, small, small.ranks).algorithm == as_shipped
    assert says(Point("allreduce-ordered", 2, 4096)) == NATIVE
    assert says(Point("allreduce", 9, 16384)) != "ring,segment=4K,depth=2", "never measured"
    assert says(Point("alltoall", 2, 4096)) == "pairwise_xor"
    assert (says(Point("gatherv", 4, 8)), says(Point("gatherv", 4, 4096))) == (
        NATIVE,
        "linear,copy=measured",
    )


def test_a_large_size_alone_says_nothing_of_small_ones(tmp_path):
    point = Point("bcast", 2, 1 << 20)
    journal = journal_of(tmp_path, 2 * [benchmark(point, native=9, linear=3, chain=1)])
    [own] = choices(times_of(journal, {point: "linear"})).values()
    assert [(one.least, one.end, one.words) for one in ranges(own)] == [
        (512 << 10, 2 << 20, "chain")
    ]


def test_what_the_predictions_cannot_tell_apart():
    point = Point("allreduce", 8, 1 << 20)
    cut = "ring,segment=64K,depth="
    a, a2, b, c = (parsed(point, w) for w in (f"{cut}2", f"{cut}4", "circulant", "linear"))

    def words(*pairs: tuple[float, float], doubt: float = 2.0) -> list:
        each = zip(pairs, (a, a2, b, c), strict=False)
        return undecided([(Estimate(s, f, Nearness.SAME), one) for (s, f), one in each], doubt)

    within = ((1.0, 1.1), (1.1, 1.1), (1.14, 1.1), (1.15, 1.1))
    assert words(*within) == [a, b, a2], "1.1 to the root of 2 is what both are off by together"
    assert words((1.0, 1.1), (1.5, 2.0)) == [a, a2], "what is known less"
    assert words((1.0, math.inf), (2.6, math.inf), (2.7, math.inf)) == [a, a2]
    assert words((1.0, math.inf), (1.3, math.inf), doubt=1.1) == [a]


def test_from_few_sizes_the_others_are_told():
    sizes = [8 << i for i in range(10)]
    assert levels(sizes)[:4] == [[8], [8 << 8], [8 << 9], [8 << 4]]
    assert sorted(chain.from_iterable(levels(sizes))) == sizes
    assert levels([8, 64]) == [[8], [64]]


def test_native_calls_that_take_too_long_are_not_made(tmp_path):
    known = benchmark(Point("allreduce", 8, 1 << 16), native=9e4, linear=1)
    journal = journal_of(tmp_path, [known])
    times = NativeTimes(journal)
    expensive = {
        size: times.expensive(Point("allreduce", 8, size)) for size in (8, 1 << 18, 1 << 19)
    }
    assert expensive == {8: False, 1 << 18: False, 1 << 19: True}
    assert not times.expensive(Point("bcast", 8, 1 << 24))
    point = Point("allreduce", 8, 1 << 19)
    own = {point: parsed(point, "linear")}
    words = Search(journal, ResidualCorrection(lambda ranks: Same(), [known]), own).first(
        point, BACK_TO_BACK
    )
    assert words[0] == "+linear" and NATIVE not in words


class Same:
    """A model that cannot tell."""

    def seconds(self, point: Point, one: Candidate) -> float:
        return 1.0


TRUE = model.Parameters(
    alpha=3e-7, slopes=(1e-9, 4e-10, 2e-10, 1e-10, 8e-11, 9e-11), f_alpha=0.7, f_beta=0.8,
    gamma=6e-11, copy=3e-11, contention=((4, 2.0),),
)  # fmt: skip


def calibrated(ranks: int, cores: int) -> list[Measured]:
    """What a machine with the true parameters would measure."""
    machine, placement = TRUE.machine(cores, False), _core.Placement(ranks)
    found = []
    for point, words in model.calibration(ranks):
        entries = [Entry(w, f"{point.name}/{w}", 1e6, 0.0, 12, True) for w in words]
        samples = model.samples_of([Measured(point, "model", 0.1, entries)], placement)
        timed = [
            Entry(e.words, e.algorithm, 1e6 * s.predicted(machine), 0.0, 12, True)
            for e, s in zip(entries, samples, strict=True)
        ]
        found.append(Measured(point, "model", 0.1, timed))
    return found


def test_the_fit_finds_a_machine_that_predicts(tmp_path):
    journal = journal_of(tmp_path, calibrated(2, 8) + calibrated(4, 8))
    places = {n: Place(n, 1, 8, MACHINE) for n in (2, 4)}
    session = OwnSession(installed("mpich"), Request([2, 4], ["bcast"], [8], 1.0), journal, places)
    session.fit()
    assert session.model and set(session.model.found) == {2, 4}
    for one in session.model.found.values():
        assert one.calls >= 40 and one.median < 1.03 and one.usual < 1.15
    own = session.model.parameters
    assert own.contention[0][1] == pytest.approx(2.0, rel=0.2)
    text = model.to_toml({False: own}, MACHINE, 8, session.model.found, {})
    read = stretto.parse_machine(text)
    assert (read.name, read.fingerprint, read.cores) == (MACHINE, MACHINE, 8)
    assert read.node.transfer(1 << 20) == pytest.approx(
        session.model.machine().node.transfer(1 << 20), rel=1e-3
    )
    assert "2 ranks, 49 calls: median 1.0" in text


def said_of(point: Point, words: list[str], right: tuple[str, ...] | None = None) -> dict:
    """A driver's row in which all took the same time; `right`: whose results were, all if None."""
    rows = [
        {"words": own, "algorithm": "x", "us": 1.0, "spread": 0.0, "blocks": 12,
         "correct": right is None or own in right}
        for own in (one.removeprefix("+") for one in words)
    ]  # fmt: skip
    return {"cell": point.name, "ranks": point.ranks, "asked": point.asked, "seconds": 0.1,
            "candidates": rows}  # fmt: skip


def test_what_hangs_is_given_up_and_the_rest_goes_on(tmp_path, monkeypatch):
    """The driver falls silent in `scatter_ring`; the next start does without it."""
    plans = []

    def measure(mpi, ranks, plan, seconds, folder, heard):
        plans.append(plan)
        for point, _, words in plan:
            if "scatter_ring" in words:
                return "scatter_ring"
            heard(said_of(point, words))
        return ""

    monkeypatch.setattr(session_module, "measure", measure)
    journal = Journal(tmp_path / "tuned.jsonl", MACHINE)
    wish = Request([4], ["bcast", "barrier"], [8], 60.0)
    session = OwnSession(installed("mpich"), wish, journal, {4: Place(4, 1, 8, MACHINE)})
    session.run(lambda *_: None)
    assert journal.failed == {(Point("bcast", 4, 8), "scatter_ring")}
    assert all(session.journal.has(point, "search") for point in points_of(wish.names, 4, [8]))
    with journal.path.open("a") as file:
        file.write('{"cell": {"na')  # cut short
    again = Journal(tmp_path / "tuned.jsonl", MACHINE)
    assert (again.failed, len(again.measured)) == (journal.failed, len(journal.measured))
    before = len(plans)
    OwnSession(installed("mpich"), wish, again, session.places).run(lambda *_: None)
    assert len(plans) == before, "nothing is measured twice"
    with pytest.raises(stretto.Error, match="holds another measurement"):
        Journal(tmp_path / "tuned.jsonl", "another machine")


def test_a_cell_that_hangs_as_a_whole_is_tried_once(tmp_path, monkeypatch):
    plans = []

    def measure(mpi, ranks, plan, seconds, folder, heard):
        plans.append(plan)
        return "native"

    monkeypatch.setattr(session_module, "measure", measure)
    journal = Journal(tmp_path / "tuned.jsonl", MACHINE)
    places = {4: Place(4, 1, 8, MACHINE)}
    OwnSession(installed("mpich"), Request([4], ["barrier"], [8], 5.0), journal, places).run(
        lambda *_: None
    )
    barrier = Point("barrier", 4, 0)
    assert (barrier, "all candidates") in journal.failed
    assert sum(plan[0][0] == barrier for plan in plans) == 1


def test_few_are_measured_and_the_best_is_found(tmp_path, monkeypatch):
    """A made-up machine on which algorithms take up to twice what the model says."""
    true = {ranks: Predictor(TRUE.machine(8, False), _core.Placement(ranks)) for ranks in (2, 4)}

    def us_of(point: Point, words: str) -> float:
        one = parsed(point, words)
        slower = 1 + sum(map(ord, one.id)) % 5 / 4
        return 1e6 * slower * true[point.ranks].seconds(point, one)

    def measure(mpi, ranks, plan, seconds, folder, heard):
        for point, _, words in plan:
            own = [one.removeprefix("+") for one in words]
            rows = [
                {"words": one, "algorithm": parsed(point, one).id, "spread": 0.0, "blocks": 12,
                 "us": 1e6 if one == NATIVE else us_of(point, one), "correct": True}
                for one in own
            ]  # fmt: skip
            heard(said_of(point, own) | {"candidates": rows})
        return ""

    monkeypatch.setattr(session_module, "measure", measure)
    journal = Journal(tmp_path / "tuned.jsonl", MACHINE)
    wish = Request(
        [2, 4], ["allreduce", "bcast", "allgather"], [8 << i for i in range(0, 22, 3)], 60.0
    )
    places = {ranks: Place(ranks, 1, 8, MACHINE) for ranks in wish.ranks}
    session = OwnSession(installed("mpich"), wish, journal, places)
    session.run(lambda *_: None)
    found = choices(times_of(journal, session.shipped()))
    losses = []
    for choice in (one for own in found.values() for one in own):
        best = min(us_of(choice.point, one.words) for one in portfolio(choice.point))
        losses.append(us_of(choice.point, choice.words or session.shipped()[choice.point]) / best)
    assert len(losses) == 48
    assert sum(losses) / len(losses) < 1.03 and sorted(losses)[-3] < 1.1
    every, timed = session.candidates()
    assert timed < every / 2


def test_wrong_results_are_said(tmp_path, monkeypatch):
    def measure(mpi, ranks, plan, seconds, folder, heard):
        for point, _, words in plan:
            heard(said_of(point, words, right=(NATIVE,)))
        return ""

    monkeypatch.setattr(session_module, "measure", measure)
    journal = Journal(tmp_path / "tuned.jsonl", MACHINE)
    places = {4: Place(4, 1, 8, MACHINE)}
    session = OwnSession(installed("mpich"), Request([4], ["barrier"], [8], 5.0), journal, places)
    session.run(lambda *_: None)
    assert (Point("barrier", 4, 0), "linear") in session.wrong
    assert NATIVE not in {words for _, words in session.wrong}


def test_another_launcher():
    mpi = installed("mpich")
    facts = (mpi.flavour, mpi.name, mpi.version, mpi.mpiexec, mpi.library, "")
    own = Mpi(*facts, launcher=("srun", "-n4"))
    assert own.command(0, ["./driver"], {"A": "b"}) == ["srun", "-n4", "env", "A=b", "./driver"]


@pytest.mark.alone
@pytest.mark.parametrize("name", [pytest.param("mpich", marks=pytest.mark.thorough), "openmpi"])
def test_a_program_obeys_what_was_tuned(name, built, tmp_path, monkeypatch):
    """Runs go on with the journal of those before. Then the file decides by itself."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    here = stretto.this_machine(installed(name).title)
    rules = Path(stretto.tuned_rules_path(str(tmp_path / "stretto"), here))
    mpi = str(installed(name).mpiexec)
    arguments = ["tune", "--mpi", mpi, "--ranks", "2", "--sizes", "1K"]
    arguments += ["--collectives", "allreduce"]
    json_of(*arguments, "--budget", "3s")
    for _ in range(6):  # a slow machine does not measure a cell twice in two runs' time
        lines = rules.with_suffix(".jsonl").read_text().splitlines()
        said = json_of(*arguments, "--budget", "2s")
        kept = rules.with_suffix(".jsonl").read_text().splitlines()
        assert kept[: len(lines)] == lines
        if said["cells"]:
            break
    assert said["files"][0] == str(rules)
    [point] = said["cells"]
    assert (point["ranks"], point["asked"]) == (2, 1024)
    assert point["native_us"] > 0 and point["shipped_us"] > 0 and point["us"] > 0
    assert all(json.loads(line) for line in kept)
    program = [built("collectives.c", name)]
    done = stretto_run(2, program, mpi=installed(name), STRETTO_LOG="select,summary").succeeded()
    assert f"stretto: select: by the rules of {rules}" in done.err
    assert f"({rules}:" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--operators", "some"], "write commutative or all"),
        (["--commutative"], "--commutative does not go with --target stretto"),
        (["--ranks", "2", "--", "srun", "-n", "2"], "the launcher says how many"),
        (["--output", "."], "is a folder"),
        (["--output", "my.toml"], "is to hold rules: name it .rules"),
        (["--predict", "flat", "--operators", "all"], "does not go with --predict"),
        (["--predict", "flat", "--json"], "does not go with --predict"),
        (["--predict", "flat"], "name a file, for STRETTO_RULES"),
        (["--collectives", "allreduce-ordered"], "no function is called"),
    ],
)
def test_misuse(arguments, words):
    assert words in refuse("tune", *arguments)


def test_a_file_of_the_users_beside_the_rules(tmp_path):
    (tmp_path / "cluster.toml").write_text("hosts = 8\n", encoding="utf-8")
    said = refuse("tune", "--output", tmp_path / "cluster.rules")
    assert "cluster.toml is there, and is no machine file" in said


def test_variables_would_force_every_candidate():
    mpi = str(installed("mpich").mpiexec)
    said = refuse("tune", "--mpi", mpi, STRETTO_BCAST="chain", XDG_CONFIG_HOME=os.devnull)
    assert "STRETTO_BCAST is set" in said
