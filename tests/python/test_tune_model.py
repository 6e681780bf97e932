# SPDX-License-Identifier: BSD-3-Clause
"""The fit of `stretto tune`."""

from dataclasses import replace

import pytest
import stretto
from stretto import _core
from stretto.tune.own.journal import Entry, Measured
from stretto.tune.own.model import (
    Parameters,
    Sample,
    calibration,
    fit_pair,
    fitted,
    samples_of,
    to_toml,
)


def samples(true: Parameters, ranks: int) -> list[Sample]:
    """What a machine with these parameters would measure, on 16 cores."""
    found = []
    for point, words in calibration(ranks):
        entries = [Entry(w, f"{point.name}/{w}", 1e6, 0.0, 12, True) for w in words]
        own = samples_of([Measured(point, "model", 0.1, entries)], _core.Placement(ranks))
        machine = true.machine(16, False)
        found += [replace(one, seconds=one.predicted(machine)) for one in own]
    return found


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
    stretto.parse_machine(to_toml(found, "made up", 2, False, {}, {}))


def test_what_was_measured_without_noise_is_found():
    true = Parameters(alpha=2e-6, slopes=(2e-9, 3e-10, 2e-10, 1e-10, 8e-11, 9e-11), f_alpha=0.4)
    found = fit_pair(samples(true, 2), 16, False)
    assert found.alpha == pytest.approx(true.alpha, rel=0.01)
    assert found.slopes == pytest.approx(true.slopes, rel=0.01)
    assert found.f_alpha == pytest.approx(true.f_alpha, rel=0.01)
