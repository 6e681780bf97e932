# SPDX-License-Identifier: BSD-3-Clause
"""Corrected predictions, against a made-up truth that is known at every size and on all ranks."""

import math
from collections.abc import Callable

import pytest
from stretto import _core
from stretto.tune.own.cells import NATIVE, Candidate, Cell, parsed, portfolio
from stretto.tune.own.corrected import Corrected, Like, likes
from stretto.tune.own.journal import Entry, Measured

SIZES = (8, 512, 32 << 10, 2 << 20)
Off = Callable[[Cell, Candidate], float]


class Predictor:
    """Of no machine; but it differs from candidate to candidate, and grows with bytes and ranks."""

    def seconds(self, cell: Cell, one: Candidate) -> float:
        own = 1 + len(one.words) % 7
        return own * (1e-6 * math.log2(cell.ranks) + 1e-10 * cell.bytes)


def measured(cells: list[Cell], off: Off, every: tuple[str, ...]) -> list[Measured]:
    """What a machine would measure on which the model is off by so much."""
    found = []
    for cell in cells:
        ones = [parsed(cell, words) for words in every]
        entries = []
        for one in ones:
            us = 1e6 * off(cell, one) * Predictor().seconds(cell, one)
            entries.append(Entry(one.words, one.id, us, 0.0, 9, True))
        found.append(Measured(cell, "algorithms", 0.1, entries))
    return found


def corrected(found: list[Measured]) -> Corrected:
    return Corrected(lambda ranks: Predictor(), found)


def off_of(own: Corrected, cell: Cell, words: str) -> float:
    one = parsed(cell, words)
    return own.seconds(cell, one) / Predictor().seconds(cell, one)


def test_what_an_algorithm_is_off_by_holds_on_more_ranks():
    def off(cell: Cell, one: Candidate) -> float:
        return 1 + len(one.id) / 10

    words = ("chain", "binomial", "linear", "scatter_ring", "chain,segment=16K,depth=2")
    cells = [Cell("bcast", ranks, size) for ranks in (4, 8) for size in SIZES]
    own = corrected(measured(cells, off, words))
    for size in (8, 4096, 32 << 10, 16 << 20):
        cell = Cell("bcast", 64, size)
        for one in (parsed(cell, each) for each in words):
            found = own.estimate(cell, one)
            assert found.seconds == pytest.approx(off(cell, one) * Predictor().seconds(cell, one))
            assert (found.like, found.ranks) == (Like.SAME, 8) and not found.measured(cell)
            assert found.factor < 1.01, "it held from 4 to 8"
    [first, *rest] = own.sorted(cell, portfolio(cell, (2,)))
    assert all(first[0].seconds <= other.seconds for other, _ in rest)


def test_a_time_that_was_measured_is_that_time():
    cell = Cell("allreduce", 8, 512)
    found = measured([cell, cell], lambda cell, one: 2.0, ("ring", "linear"))
    own = corrected(found)
    for entry in found[0].entries:
        one = own.estimate(cell, parsed(cell, entry.words))
        assert one.seconds == pytest.approx(entry.us * 1e-6)
        assert one.measured(cell) and one.factor == 1


def test_between_sizes_it_is_linear_in_their_logarithm():
    """The model is off by 2 at 1K and by 8 at 64K: by 4 at 8K."""
    offs = {1 << 10: 2.0, 64 << 10: 8.0}
    cells = [Cell("allreduce", 8, size) for size in offs]
    own = corrected(measured(cells, lambda cell, one: offs[cell.asked], ("ring",)))
    for size, expected in ((8, 2), (1 << 10, 2), (8 << 10, 4), (64 << 10, 8), (1 << 30, 8)):
        for ranks in (8, 100):
            found = off_of(own, Cell("allreduce", ranks, size), "ring")
            assert found == pytest.approx(expected)
    near = own.estimate(Cell("allreduce", 8, 32 << 10), parsed(cells[0], "ring"))
    far = own.estimate(Cell("allreduce", 8, 8 << 10), parsed(cells[0], "ring"))
    farther = own.estimate(Cell("allreduce", 64, 8 << 10), parsed(cells[0], "ring"))
    assert 1 < near.factor < far.factor < farther.factor


def test_the_nearest_ranks_decide_and_the_more_of_two():
    cells = [Cell("allgather", ranks, 512) for ranks in (2, 4, 16)]
    own = corrected(measured(cells, lambda cell, one: cell.ranks, ("ring",)))
    for ranks, expected in ((3, 4), (8, 16), (16, 16), (5, 4), (300, 16)):
        assert off_of(own, Cell("allgather", ranks, 512), "ring") == pytest.approx(expected)


def test_a_radix_is_as_large_or_as_large_a_share_of_the_ranks():
    cell = Cell("bcast", 64, 512)
    found = {one.words for _, one in likes(cell, parsed(cell, "knomial,radix=8"), 16)}
    assert found == {"knomial,radix=8", "knomial,radix=2"}
    found = {one.words for _, one in likes(cell, parsed(cell, "knomial,radix=64"), 16)}
    assert found == {"knomial,radix=16"}
    found = {one.words for _, one in likes(cell, parsed(cell, "leaders,radix=3"), 16)}
    assert found == {"leaders,radix=3", "leaders,radix=2"}, "with radix 1 they would be chains"
    offs = {"knomial,radix=8": 2.0, "binomial": 8.0, "linear": 3.0}
    own = corrected(
        measured([Cell("bcast", 16, 512)], lambda cell, one: offs[one.words], tuple(offs))
    )
    assert off_of(own, cell, "knomial,radix=8") == pytest.approx(4), "binomial has radix 2"
    assert off_of(own, cell, "knomial,radix=64") == pytest.approx(3), "flat is linear"


def test_parts_are_as_large_but_in_segments_the_vector_is():
    cell = Cell("allgather", 64, 4096)
    whole, cut = parsed(cell, "ring"), parsed(cell, "ring,segment=16K,depth=2")
    assert [other for other, _ in likes(cell, whole, 16)] == [Cell("allgather", 16, 4096)]
    assert [other for other, _ in likes(cell, cut, 16)] == [Cell("allgather", 16, 16384)]
    cell = Cell("allreduce", 64, 1 << 20)
    cut = parsed(cell, "ring,segment=16K,depth=2")
    assert [other.asked for other, _ in likes(cell, cut, 16)] == [1 << 20]


def test_what_was_not_measured_is_off_as_its_like():
    """Another radix as the algorithm's others, another algorithm as the function's."""
    offs = {"knomial,radix=4": 3.0, "knomial,radix=8": 3.0, "chain": 2.0, "scatter_ring": 5.0}
    cell = Cell("bcast", 16, 512)
    own = corrected(measured([cell], lambda cell, one: offs[one.words], tuple(offs)))
    known = own.estimate(cell, parsed(cell, "chain"))
    radix = own.estimate(cell, parsed(cell, "knomial,radix=16"))
    other = own.estimate(cell, parsed(cell, "two_tree"))
    assert [one.like for one in (known, radix, other)] == [
        Like.SAME, Like.ALGORITHM, Like.FUNCTION,
    ]  # fmt: skip
    assert off_of(own, cell, "knomial,radix=16") == pytest.approx(3)
    assert off_of(own, cell, "two_tree") == pytest.approx(3), "the median"
    assert known.factor == 1 and radix.factor == pytest.approx(1), "the radix makes no difference"
    beside = math.sqrt(2 * 5) / 3  # the median of what the four are off by
    assert other.factor == pytest.approx(5 / 3 * beside), "an algorithm does"
    nothing = own.estimate(Cell("scan", 16, 512), parsed(Cell("scan", 16, 512), "linear"))
    assert nothing.like == Like.NOTHING and nothing.factor == pytest.approx(5 / 3)
    assert corrected([]).estimate(cell, parsed(cell, "chain")).factor == math.inf


def test_how_certain_it_is_is_learned():
    """What changes with every doubling of the ranks is off by so much on twice as many."""

    def certain(change: float) -> float:
        cells = [Cell("bcast", ranks, 512) for ranks in (4, 8, 16)]
        doublings = {4: 0, 8: 1, 16: 2}
        found = measured(
            cells, lambda cell, one: change ** doublings[cell.ranks], ("chain", "linear")
        )
        own = corrected(found)
        return own.estimate(Cell("bcast", 64, 512), parsed(cells[0], "chain")).factor

    assert certain(1.0) == pytest.approx(1)
    assert certain(1.5) == pytest.approx(1.5**2)


def test_only_good_times_count():
    cell = Cell("bcast", 4, 8)
    entries = [
        Entry(NATIVE, NATIVE, 9.0, 0, 9, True), Entry("chain", "bcast/chain", 9.0, 0, 9, False),
        Entry("linear", "bcast/chain", 9.0, 0, 9, True),
    ]  # fmt: skip
    own = corrected([Measured(cell, "model", 0.1, entries)])
    assert own.estimate(cell, parsed(cell, "chain")).like == Like.NOTHING


def test_a_topology_gives_lists_that_stay():
    cell = Cell("allgather", 4, 8)
    one = parsed(cell, "logical_ring,order=0:2:1:3")
    [(other, like)] = likes(cell, one, 4)
    assert (other, like.params.list) == (cell, [0, 2, 1, 3])
    assert _core.written(like.algorithm, like.params) == "logical_ring order=0:2:1:3"
