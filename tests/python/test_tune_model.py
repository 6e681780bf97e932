# SPDX-License-Identifier: BSD-3-Clause
"""The fit of `stretto tune`."""

from dataclasses import replace

import pytest
import stretto
from programs import installed
from stretto import _core
from stretto.measure.session import Request
from stretto.tune.own.journal import Entry, Journal, Measured
from stretto.tune.own.model import (
    Parameters,
    Sample,
    calibration,
    fit_pair,
    fitted,
    samples_of,
    to_toml,
)
from stretto.tune.own.paired_benchmark import Place
from stretto.tune.own.session import OwnSession


def measured(true: Parameters, ranks: int, per_node: int) -> list[Measured]:
    """What a machine with these parameters would measure, on nodes of 16 cores."""
    machine, found = true.machine(16, per_node < ranks), []
    for point, words in calibration(ranks):
        entries = [Entry(w, f"{point.name}/{w}", 1e6, 0.0, 12, True) for w in words]
        own = samples_of([Measured(point, "model", 0.1, entries)], _core.Placement(per_node))
        pairs = zip(entries, own, strict=True)
        timed = [replace(entry, us=1e6 * one.predicted(machine)) for entry, one in pairs]
        found.append(Measured(point, "model", 0.1, timed))
    return found


def samples(true: Parameters, ranks: int) -> list[Sample]:
    return samples_of(measured(true, ranks, ranks), _core.Placement(ranks))


def crowded(start: Parameters, slowed: float) -> Parameters:
    """Fitted to ranks of which the last number is slowed by so much."""
    ranks = start.contention[-1][0]
    true = samples(replace(start, contention=((ranks, slowed),)), ranks)
    return fitted(start, ["contention"], true, lambda own: own.machine(16, False))


def test_more_ranks_never_slow_each_other_down_less():
    """Where ranks share cores, more of them may have been measured to be quicker."""
    start = Parameters(contention=((4, 2.0), (8, 2.6)))
    assert crowded(start, 3.0).contention == ((4, 2.0), (8, pytest.approx(3.0, rel=0.02)))
    found = crowded(start, 1.2)
    assert found.contention == ((4, 2.0), (8, pytest.approx(2.0, rel=1e-3)))
    assert found.contention[1][1] >= 2.0
    stretto.parse_machine(to_toml({False: found}, "made up", 2, {}, {}))


def test_what_was_measured_without_noise_is_found():
    true = Parameters(alpha=2e-6, slopes=(2e-9, 3e-10, 2e-10, 1e-10, 8e-11, 9e-11), f_alpha=0.4)
    found = fit_pair(samples(true, 2), 16, False)
    assert found.alpha == pytest.approx(true.alpha, rel=0.01)
    assert found.slopes == pytest.approx(true.slopes, rel=0.01)
    assert found.f_alpha == pytest.approx(true.f_alpha, rel=0.01)


def test_ranks_on_one_node_and_on_several_have_models_of_their_own(tmp_path):
    journal = Journal(tmp_path / "tuned.jsonl", "made up")
    for one in measured(Parameters(alpha=3e-7), 2, 2) + measured(Parameters(alpha=5e-6), 4, 2):
        journal.add(one)
    places = {2: Place(2, 1, 16, "made up"), 4: Place(4, 2, 16, "made up")}
    request = Request([2, 4], ["bcast"], [8], 1.0)
    session = OwnSession(installed("mpich"), request, journal, places)
    session.fit()
    assert session.apart == [4] and session.model is session.model_of(4)
    near, far = (session.model_of(ranks) for ranks in (2, 4))
    assert (near.network, far.network) == (False, True)
    assert near.parameters.alpha < 1e-6 < 2e-6 < far.parameters.alpha
    assert list(session.qualities) == [2, 4]
    assert all(one.median < 1.1 for one in session.qualities.values())
