# SPDX-License-Identifier: BSD-3-Clause
"""Noisy times together with those of the sizes around them."""

import math
import random

import pytest
from stretto.tune.own.choice import merged
from stretto.tune.own.journal import Entry, Measured
from stretto.tune.own.points import Point
from stretto.tune.own.smoothing import Noisy, smooth

SIZES = [8 << i for i in range(22)]


def noisy(us: float, off: float) -> Noisy:
    """A time that may be off by such a share."""
    return Noisy(math.log(us), off**2)


def test_what_was_measured_well_stays():
    chance = random.Random(1)
    us = {
        size: {"linear": chance.uniform(1, 9), "binomial": chance.uniform(1, 9)} for size in SIZES
    }
    found = {
        Point("bcast", 8, size): {words: noisy(time, 1e-4) for words, time in own.items()}
        for size, own in us.items()
    }
    for point, own in smooth(found).items():
        assert own == {words: pytest.approx(us[point.asked][words], rel=1e-3) for words in own}


def test_neighbours_tell_what_noise_hides():
    """Of 1.1 and 1, each within 15 %, one in three pairs is the wrong way round."""
    chance = random.Random(2)
    truth = {"linear": 1.0, "binomial": 1.1, "chain": 1.5}
    wrong = {"alone": 0, "together": 0}
    points = [Point("bcast", ranks, size) for ranks in range(3, 40) for size in SIZES]
    found = {}
    for point in points:
        common = math.log(point.bytes) + chance.gauss(0, 0.3)  # a slow minute is one for all
        found[point] = {
            words: Noisy(common + math.log(time) + chance.gauss(0, 0.15), 0.15**2)
            for words, time in truth.items()
        }
    for point, own in smooth(found).items():
        alone = {words: one.log for words, one in found[point].items()}
        wrong["alone"] += min(alone, key=lambda words: alone[words]) != "linear"
        wrong["together"] += min(own, key=lambda words: own[words]) != "linear"
    assert wrong["alone"] > 0.25 * len(points)
    assert wrong["together"] < 0.15 * len(points)


def test_segments_are_smoothed_with_their_like_only():
    """What is not cut is another thing than what is."""
    words = "linear,segment=1K,depth=2"
    found = {Point("bcast", 8, size): {words: noisy(1.0, 0.2)} for size in (512, 1024)}
    found[Point("bcast", 8, 2048)] = {words: noisy(9.0, 0.2)}
    found[Point("bcast", 8, 1024)]["chain"] = noisy(1.0, 0.001)
    found[Point("bcast", 8, 2048)]["chain"] = noisy(1.0, 0.001)
    times = smooth(found)
    assert times[Point("bcast", 8, 2048)][words] == pytest.approx(9.0, rel=0.05)
    assert times[Point("bcast", 8, 1024)][words] == pytest.approx(1.0, rel=0.05)


def test_copies_by_the_kernel_are_other_candidates():
    us = {"linear": 3.0, "linear,copy=kernel": 1.0}
    found = {
        Point("alltoall", ranks, 1 << 20): {words: noisy(time, 0.01) for words, time in us.items()}
        for ranks in (2, 32)
    }
    for own in smooth(found).values():
        assert own == {words: pytest.approx(time, rel=1e-3) for words, time in us.items()}


def benchmark(stage: str, **us: float) -> Measured:
    entries = [Entry(words, "x", time, 0.1, 12, True) for words, time in us.items()]
    return Measured(Point("bcast", 2, 64), stage, 0.1, entries)


def test_what_was_confirmed_counts_alone():
    def us(*benchmarks: Measured, reference: str = "linear") -> dict:
        found = merged([*benchmarks], reference).items()
        return {words: pytest.approx(math.exp(one.log)) for words, one in found}

    first = benchmark("search", native=8, linear=4, binomial=2)
    assert us(first, reference="ring") == {"native": 8, "linear": 4, "binomial": 2}
    again = benchmark("search", native=8, linear=4, binomial=8)
    assert us(first, again)["binomial"] == 4, "the median ratio"
    confirmed = benchmark("confirm", native=9, linear=2, binomial=1.9)
    assert us(first, again, confirmed) == {"native": 9, "linear": 2, "binomial": 1.9}
