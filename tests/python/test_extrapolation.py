# SPDX-License-Identifier: BSD-3-Clause
"""`stretto tune --up-to`: rules for more ranks, on a made-up machine on which the model is off."""

from statistics import mean

import pytest
import stretto
import stretto.tune.own.session as session_module
from commands import refuse
from programs import installed
from stretto import _core
from stretto.measure.session import Request
from stretto.tune.own.choice import choices, times_of
from stretto.tune.own.extrapolation import STAGE, Extrapolation, rank_counts
from stretto.tune.own.journal import Journal
from stretto.tune.own.model import Parameters
from stretto.tune.own.paired_benchmark import Place
from stretto.tune.own.points import (
    NATIVE,
    Candidate,
    Point,
    Predictor,
    chosen_words,
    parsed,
    portfolio,
)
from stretto.tune.own.rules import spans, to_text
from stretto.tune.own.session import OwnSession

CORES = 64
TITLE = "made-up processor, 64 cores, MPICH 5.0.2"
TRUE = Parameters(alpha=1e-6, slopes=(1e-9, 4e-10, 2e-10, 1e-10, 1e-10, 1e-10), f_alpha=0.7)
# Not among the calls to which the model is fitted.
SLOW = (
    "binary_blocks", "halving_doubling", "elimination", "scatter_doubling", "scatter_circulant",
    "lanes", "swing", "bine", "two_tree",
)  # fmt: skip


def test_ranks_that_stand_for_others():
    assert rank_counts(16, 128) == {True: [32, 64, 128], False: [25, 49, 97]}
    assert rank_counts(16, 60) == {True: [32], False: [25, 49, 60]}
    assert rank_counts(6, 7) == {True: [], False: [7]}
    assert rank_counts(2, 8) == {True: [4, 8], False: [3, 7]}
    assert spans([32, 64, 128], 17, None) == {32: (17, 45), 64: (46, 90), 128: (91, None)}
    assert spans([], 17, None) == {}


def true_seconds(point: Point, one: Candidate, per_node: int) -> float:
    """Some algorithms take longer than any fit says."""
    machine = TRUE.machine(CORES, per_node < point.ranks)
    seconds = Predictor(machine, _core.Placement(per_node)).seconds(point, one)
    assert one.algorithm
    return seconds * (3.0 if one.algorithm.name in SLOW else 1.0)


@pytest.fixture(params=[1, 4], ids=["one node", "nodes of 4"])
def tuned(request, tmp_path, monkeypatch) -> Extrapolation:
    """For up to 64 ranks by 4 to 16."""
    nodes = request.param > 1

    def measure(mpi, ranks, plan, seconds, folder, heard):
        for point, _, words in plan:
            rows = []
            for own in (one.removeprefix("+") for one in words):
                one, us = parsed(point, own), 1e3
                if own != NATIVE:
                    us = 1e6 * true_seconds(point, one, 4 if nodes else point.ranks)
                rows.append({"words": own, "algorithm": one.id, "us": us, "spread": 0.0,
                             "blocks": 12, "correct": True})  # fmt: skip
            heard({"cell": point.name, "ranks": ranks, "asked": point.asked, "seconds": 0.1,
                   "candidates": rows})  # fmt: skip
        return ""

    monkeypatch.setattr(session_module, "measure", measure)
    ranks = [4, 16] if not nodes else [8, 16]
    places = {n: Place(n, n // 4 if nodes else 1, CORES, TITLE) for n in ranks}
    journal = Journal(tmp_path / "tuned.jsonl", TITLE)
    wish = Request(ranks, ["bcast", "allreduce"], [8, 4096, 256 << 10], 300.0)
    extrapolation = Extrapolation(OwnSession(installed("mpich"), wish, journal, places), 64)
    extrapolation.run(lambda *_: None)
    return extrapolation


def test_rules_for_more_ranks_know_what_the_model_does_not(tuned):
    session = tuned.session
    assert session.request.budget == 300, "as it was"
    extra = [one for one in session.journal.measured if one.stage == STAGE]
    assert all(one.point.ranks == 16 for one in extra)
    nodes = session.places[16].nodes > 1
    where = "nodes>1 per-node=4" if nodes else "nodes=1"
    lines = tuned.lines()
    assert any(line.startswith("# predicted from 16 ranks: ") for line in lines)
    own = [line for line in lines if not line.startswith("#")]
    assert all(where in line and "ranks>=" in line for line in own)
    assert any("ranks<=" not in line for line in own), "the last is open"
    found = choices(times_of(session.journal, session.shipped()))
    text = to_text(found, TITLE, ["made up"], lines, apart=session.apart)
    rules = _core.parse_rules(text, "beyond")
    losses, without = {}, []
    for point in (point for ranks in (20, 32, 60, 64) for point in session.points(ranks)):
        per_node = 4 if nodes else point.ranks
        every = portfolio(point, (2,))
        true = {one.words: true_seconds(point, one, per_node) for one in every}
        words = chosen_words(rules, point, per_node)
        own = true_seconds(point, parsed(point, words), per_node)
        losses[str(point), words] = own / min(true.values()) - 1
        model = Predictor(session.model.machine(), _core.Placement(per_node))
        without.append(true[model.sorted(point, every)[0][1].words] / min(true.values()) - 1)
    assert mean(losses.values()) < 0.05 and max(losses.values()) < 0.3, losses
    assert mean(without) > 0.2, "the model alone"


def test_where_too_little_was_measured_nothing_is_predicted(tmp_path):
    place = Place(2, 1, CORES, TITLE)
    journal = Journal(tmp_path / "tuned.jsonl", TITLE)
    session = OwnSession(installed("mpich"), Request([2], ["bcast"], [8], 1.0), journal, {2: place})
    assert Extrapolation(session, 8).lines() == []
    with pytest.raises(stretto.Error, match="2 ranks, and 2 are measured"):
        Extrapolation(session, 2)
    with pytest.raises(stretto.Error, match="5000 ranks, and 2"):
        Extrapolation(session, 5000)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--up-to", "8", "--predict", "cluster"], "--up-to does not go with --predict"),
        (["--up-to", "8", "--target", "mpich"], "--up-to does not go with --target mpich"),
    ],
)
def test_misuse(arguments, words):
    assert words in refuse("tune", *arguments)
