# SPDX-License-Identifier: BSD-3-Clause
"""Corrected predictions, against a made-up truth that is known at every size and on all ranks."""

import math
from collections.abc import Callable

import pytest
from stretto import _core
from stretto.tune.own.journal import Entry, Measured
from stretto.tune.own.points import NATIVE, Candidate, Point, parsed, portfolio
from stretto.tune.own.residual_correction import Nearness, ResidualCorrection, nearest_measured

SIZES = (8, 512, 32 << 10, 2 << 20)
Off = Callable[[Point, Candidate], float]


class Predictor:
    """Of no machine; but it differs from candidate to candidate, and grows with bytes and ranks."""

    def seconds(self, point: Point, one: Candidate) -> float:
        own = 1 + len(one.words) % 7
        return own * (1e-6 * math.log2(point.ranks) + 1e-10 * point.bytes)


def measured(points: list[Point], off: Off, every: tuple[str, ...]) -> list[Measured]:
    """What a machine would measure on which the model is off by so much."""
    found = []
    for point in points:
        ones = [parsed(point, words) for words in every]
        entries = []
        for one in ones:
            us = 1e6 * off(point, one) * Predictor().seconds(point, one)
            entries.append(Entry(one.words, one.id, us, 0.0, 9, True))
        found.append(Measured(point, "algorithms", 0.1, entries))
    return found


def correction(found: list[Measured]) -> ResidualCorrection:
    return ResidualCorrection(lambda ranks: Predictor(), found)


def off_of(own: ResidualCorrection, point: Point, words: str) -> float:
    one = parsed(point, words)
    return own.seconds(point, one) / Predictor().seconds(point, one)


def test_what_an_algorithm_is_off_by_holds_on_more_ranks():
    def off(point: Point, one: Candidate) -> float:
        return 1 + len(one.id) / 10

    words = ("chain", "binomial", "linear", "scatter_ring", "chain,segment=16K,depth=2")
    points = [Point("bcast", ranks, size) for ranks in (4, 8) for size in SIZES]
    own = correction(measured(points, off, words))
    for size in (8, 4096, 32 << 10, 16 << 20):
        point = Point("bcast", 64, size)
        for one in (parsed(point, each) for each in words):
            found = own.estimate(point, one)
            assert found.seconds == pytest.approx(off(point, one) * Predictor().seconds(point, one))
            assert found.nearness == Nearness.SAME
            assert found.factor < 1.01, "it held from 4 to 8"
    [first, *rest] = own.sorted(point, portfolio(point, (2,)))
    assert all(first[0].seconds <= other.seconds for other, _ in rest)


def test_a_time_that_was_measured_is_that_time():
    point = Point("allreduce", 8, 512)
    found = measured([point, point], lambda point, one: 2.0, ("ring", "linear"))
    own = correction(found)
    for entry in found[0].entries:
        one = own.estimate(point, parsed(point, entry.words))
        assert one.seconds == pytest.approx(entry.us * 1e-6)
        assert one.nearness == Nearness.SAME and one.factor == 1


def test_between_sizes_it_is_linear_in_their_logarithm():
    """The model is off by 2 at 1K and by 8 at 64K: by 4 at 8K."""
    offs = {1 << 10: 2.0, 64 << 10: 8.0}
    points = [Point("allreduce", 8, size) for size in offs]
    own = correction(measured(points, lambda point, one: offs[point.asked], ("ring",)))
    for size, expected in ((8, 2), (1 << 10, 2), (8 << 10, 4), (64 << 10, 8), (1 << 30, 8)):
        for ranks in (8, 100):
            found = off_of(own, Point("allreduce", ranks, size), "ring")
            assert found == pytest.approx(expected)
    near = own.estimate(Point("allreduce", 8, 32 << 10), parsed(points[0], "ring"))
    far = own.estimate(Point("allreduce", 8, 8 << 10), parsed(points[0], "ring"))
    farther = own.estimate(Point("allreduce", 64, 8 << 10), parsed(points[0], "ring"))
    assert 1 < near.factor < far.factor < farther.factor


def test_the_nearest_ranks_decide_and_the_more_of_two():
    points = [Point("allgather", ranks, 512) for ranks in (2, 4, 16)]
    own = correction(measured(points, lambda point, one: point.ranks, ("ring",)))
    for ranks, expected in ((3, 4), (8, 16), (16, 16), (5, 4), (300, 16)):
        assert off_of(own, Point("allgather", ranks, 512), "ring") == pytest.approx(expected)


def test_a_radix_is_as_large_or_as_large_a_share_of_the_ranks():
    point = Point("bcast", 64, 512)
    found = {one.words for _, one in nearest_measured(point, parsed(point, "knomial,radix=8"), 16)}
    assert found == {"knomial,radix=8", "knomial,radix=2"}
    found = {one.words for _, one in nearest_measured(point, parsed(point, "knomial,radix=64"), 16)}
    assert found == {"knomial,radix=16"}
    found = {one.words for _, one in nearest_measured(point, parsed(point, "leaders,radix=3"), 16)}
    assert found == {"leaders,radix=3", "leaders,radix=2"}, "with radix 1 they would be chains"
    offs = {"knomial,radix=8": 2.0, "binomial": 8.0, "linear": 3.0}
    own = correction(
        measured([Point("bcast", 16, 512)], lambda point, one: offs[one.words], tuple(offs))
    )
    assert off_of(own, point, "knomial,radix=8") == pytest.approx(4), "binomial has radix 2"
    assert off_of(own, point, "knomial,radix=64") == pytest.approx(3), "flat is linear"


def test_parts_are_as_large_but_in_segments_the_vector_is():
    point = Point("allgather", 64, 4096)
    whole, cut = parsed(point, "ring"), parsed(point, "ring,segment=16K,depth=2")
    assert [other for other, _ in nearest_measured(point, whole, 16)] == [
        Point("allgather", 16, 4096)
    ]
    assert [other for other, _ in nearest_measured(point, cut, 16)] == [
        Point("allgather", 16, 16384)
    ]
    point = Point("allreduce", 64, 1 << 20)
    cut = parsed(point, "ring,segment=16K,depth=2")
    assert [other.asked for other, _ in nearest_measured(point, cut, 16)] == [1 << 20]


def test_what_was_not_measured_is_off_as_its_like():
    """Another radix as the algorithm's others, another algorithm as the function's."""
    offs = {"knomial,radix=4": 3.0, "knomial,radix=8": 3.0, "chain": 2.0, "scatter_ring": 5.0}
    point = Point("bcast", 16, 512)
    own = correction(measured([point], lambda point, one: offs[one.words], tuple(offs)))
    known = own.estimate(point, parsed(point, "chain"))
    radix = own.estimate(point, parsed(point, "knomial,radix=16"))
    other = own.estimate(point, parsed(point, "two_tree"))
    assert [one.nearness for one in (known, radix, other)] == [
        Nearness.SAME, Nearness.ALGORITHM, Nearness.FUNCTION,
    ]  # fmt: skip
    assert off_of(own, point, "knomial,radix=16") == pytest.approx(3)
    assert off_of(own, point, "two_tree") == pytest.approx(3), "the median"
    assert known.factor == 1 and radix.factor == pytest.approx(1), "the radix makes no difference"
    beside = math.sqrt(2 * 5) / 3  # the median of what the four are off by
    assert other.factor == pytest.approx(5 / 3 * beside), "an algorithm does"
    nothing = own.estimate(Point("scan", 16, 512), parsed(Point("scan", 16, 512), "linear"))
    assert nothing.nearness == Nearness.NOTHING and nothing.factor == pytest.approx(5 / 3)
    assert correction([]).estimate(point, parsed(point, "chain")).factor == math.inf


def test_how_certain_it_is_is_learned():
    """What changes with every doubling of the ranks is off by so much on twice as many."""

    def certain(change: float) -> float:
        points = [Point("bcast", ranks, 512) for ranks in (4, 8, 16)]
        doublings = {4: 0, 8: 1, 16: 2}
        found = measured(
            points, lambda point, one: change ** doublings[point.ranks], ("chain", "linear")
        )
        own = correction(found)
        return own.estimate(Point("bcast", 64, 512), parsed(points[0], "chain")).factor

    assert certain(1.0) == pytest.approx(1)
    assert certain(1.5) == pytest.approx(1.5**2)


def test_only_good_times_count():
    point = Point("bcast", 4, 8)
    entries = [
        Entry(NATIVE, NATIVE, 9.0, 0, 9, True), Entry("chain", "bcast/chain", 9.0, 0, 9, False),
        Entry("linear", "bcast/chain", 9.0, 0, 9, True),
    ]  # fmt: skip
    own = correction([Measured(point, "model", 0.1, entries)])
    assert own.estimate(point, parsed(point, "chain")).nearness == Nearness.NOTHING


def test_a_topology_gives_lists_that_stay():
    point = Point("allgather", 4, 8)
    one = parsed(point, "logical_ring,order=0:2:1:3")
    [(other, nearness)] = nearest_measured(point, one, 4)
    assert (other, nearness.params.list) == (point, [0, 2, 1, 3])
    assert _core.written(nearness.algorithm, nearness.params) == "logical_ring order=0:2:1:3"
