# SPDX-License-Identifier: BSD-3-Clause
"""Predictions, corrected by what the model was off by where something alike was measured.

A model's error belongs to an algorithm more than to a number of ranks: what it was off by on few,
it is taken to be off by on more. How far that holds is learned from the measurements themselves:
each is predicted from the others, and those of many ranks from those of fewer. What all of a
cell's candidates are off by together says nothing of which is the fastest and does not count.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from statistics import mean, median
from typing import Protocol

from ... import _core
from .cells import FEW_RANKS, NATIVE, Candidate, Cell, candidate, does, in_parts, parsed
from .journal import Measured

OF_RANKS = ("radix", "group")  # parameters that go by the number of ranks
USUAL = 0.9  # the share of cases for which a factor holds
LEAST = 1e-12  # seconds
MOST_LEARNED = 200  # cells
FEW_BESIDE = 3  # candidates of a cell: of fewer none can be said to be off beside the others


class Predicts(Protocol):
    """What a session's `Predictor` does."""

    def seconds(self, cell: Cell, one: Candidate, /) -> float: ...


class Like(IntEnum):
    """What was measured that is like a candidate, the most like first."""

    SAME = 0  # the algorithm, with parameters that are as large or as large a share of the ranks
    ALGORITHM = 1  # with other parameters, or in other segments
    FUNCTION = 2  # other algorithms of the function only
    NOTHING = 3


@dataclass(frozen=True)
class Estimate:
    """`seconds` of a call; beside the cell's others right within `factor` in nine of ten cases;
    infinite if none can say."""

    seconds: float
    factor: float
    like: Like
    ranks: int = 0  # those that were measured
    sizes: float = math.inf  # doublings from the nearest size that was

    def may_beat(self, other: "Estimate", doubt: float = math.inf) -> bool:
        """If both are off, each for itself, by their factors or by `doubt`."""
        factors = [min(one.factor, doubt) for one in (self, other)]
        if math.inf in factors:
            return True
        return math.log(self.seconds / other.seconds) <= math.hypot(*map(math.log, factors))

    def measured(self, cell: Cell) -> bool:
        return self.like == Like.SAME and self.ranks == cell.ranks and self.sizes == 0


@dataclass(frozen=True)
class _Off:
    """The logarithm of measured over predicted."""

    log: float
    like: Like
    ranks: int = 0
    sizes: float = math.inf


_Curve = dict[int, float]  # by the bytes that were asked: the logarithm of measured over predicted


def likes(cell: Cell, one: Candidate, ranks: int) -> list[tuple[Cell, Candidate]]:
    """On so many ranks, the cell and the candidates that are most like these.

    Parts are as large or, where the vector is cut into segments, the vector is. Radices and groups
    are the same, or the same share of the ranks.
    """
    assert one.algorithm
    parts = in_parts(cell.function) and _cut(cell, one)
    other = Cell(cell.name, ranks, cell.asked * cell.ranks // ranks if parts else cell.asked)
    values = [one.params.value]
    if one.algorithm.parameter and one.algorithm.parameter.name in OF_RANKS:
        share = one.params.value * ranks // cell.ranks
        values = [min(one.params.value, ranks), max(share, 2)]
    found = []
    for value in dict.fromkeys(values):
        params = _core.Params(
            segment=one.params.segment, depth=one.params.depth, value=value, list=one.params.list
        )
        shape = other.call(_core.Placement(ranks)).shape(one.algorithm)
        if not _core.unsuitable(one.algorithm, cell.function, shape, not cell.ordered, params):
            found.append((other, candidate(one.algorithm, params)))
    return found


def _cut(cell: Cell, one: Candidate) -> bool:
    return 0 < one.params.segment < cell.bytes


def _key(cell: Cell, one: Candidate) -> tuple:
    """Equal for candidates of which one's time is the other's."""
    assert one.algorithm
    if cell.ranks <= FEW_RANKS and not one.algorithm.needs.counts:
        return (*does(cell, one), tuple(one.params.list))
    return own_key(cell, one)


def own_key(cell: Cell, one: Candidate) -> tuple:
    """Equal for the same algorithm in the same way, on any size."""
    assert one.algorithm
    own, value = tuple(one.params.list), one.params.value
    if one.algorithm.parameter and not one.algorithm.needs.counts:
        shape = cell.call(_core.Placement(cell.ranks)).shape(one.algorithm)
        value = value or one.algorithm.parameter.default(shape)
    return one.id, value, _cut(cell, one) and (one.params.segment, one.params.depth), own


def _log2(size: int) -> float:
    return math.log2(max(size, 1))


def _at(curve: _Curve, asked: int) -> tuple[float, float]:
    """The value there, linear in the logarithm of the size; and doublings to the nearest."""
    sizes = sorted(curve)
    distance = min(abs(_log2(asked) - _log2(one)) for one in sizes)
    if asked <= sizes[0] or asked >= sizes[-1]:
        return curve[sizes[0] if asked <= sizes[0] else sizes[-1]], distance
    low, high = next((a, b) for a, b in itertools.pairwise(sizes) if a <= asked <= b)
    share = (_log2(asked) - _log2(low)) / max(_log2(high) - _log2(low), 1e-9)
    return curve[low] + share * (curve[high] - curve[low]), distance


@dataclass(frozen=True)
class _Error:
    """A logarithm, signed, for so many doublings."""

    log: float
    cell: Cell
    doublings: float = 1.0


def _usual(errors: Iterable[_Error]) -> float | None:
    """For a doubling; beside the others of the cell, where there are some."""
    cells: dict[Cell, list[_Error]] = defaultdict(list)
    for one in errors:
        cells[one.cell].append(one)
    many = [own for own in cells.values() if len(own) >= FEW_BESIDE]
    found = []
    for own in many or cells.values():
        common = median(one.log for one in own) if many else 0.0
        found += [abs(one.log - common) / max(one.doublings, 1.0) for one in own]
    found.sort()
    return found[math.ceil(USUAL * len(found)) - 1] if found else None


class Corrected:
    """`predictor` gives one for a number of ranks; `measured` are contests of any stage.

    Times of the native library and wrong ones do not count. Those of no whole block do: so much
    slower was what was dropped at once.
    """

    def __init__(self, predictor: Callable[[int], Predicts], measured: Iterable[Measured]) -> None:
        self._predictor_of = predictor
        self._predictors: dict[int, Predicts] = {}
        self._points: dict[tuple[Cell, str], float] = {}
        self._curves: dict[tuple[str, int], dict[tuple, _Curve]] = defaultdict(dict)
        self._algorithms: dict[tuple[str, int, str], set[tuple]] = defaultdict(set)
        self._learn(measured)

    def seconds(self, cell: Cell, one: Candidate) -> float:
        """The corrected ones: this serves as a predictor, too."""
        return self._seconds(cell, one, self._off(cell, one, self._ranks(cell.name)))

    def estimate(self, cell: Cell, one: Candidate) -> Estimate:
        off = self._off(cell, one, self._ranks(cell.name))
        factor = self._factor(cell, off)
        return Estimate(self._seconds(cell, one, off), factor, off.like, off.ranks, off.sizes)

    def sorted(self, cell: Cell, found: Iterable[Candidate]) -> list[tuple[Estimate, Candidate]]:
        """The best first."""
        pairs = [(self.estimate(cell, one), one) for one in found]
        return sorted(pairs, key=lambda pair: pair[0].seconds)

    def _seconds(self, cell: Cell, one: Candidate, off: _Off) -> float:
        return self._predicted(cell, one) * math.exp(off.log)

    def _predicted(self, cell: Cell, one: Candidate) -> float:
        if cell.ranks not in self._predictors:
            self._predictors[cell.ranks] = self._predictor_of(cell.ranks)
        return max(self._predictors[cell.ranks].seconds(cell, one), LEAST)

    def _learn(self, measured: Iterable[Measured]) -> None:
        times: dict[tuple[Cell, str], list[float]] = defaultdict(list)
        for contest in measured:
            for entry in contest.entries:
                if entry.correct and entry.words != NATIVE and entry.us > 0:
                    one = parsed(contest.cell, entry.words)
                    if one.id == entry.algorithm:  # else another served in its place
                        times[contest.cell, entry.words].append(math.log(entry.us * 1e-6))
        same: dict[tuple, list[float]] = defaultdict(list)
        for (cell, words), logs in times.items():
            one = parsed(cell, words)
            key = _key(cell, one)
            off = mean(logs) - math.log(self._predicted(cell, one))
            self._points[cell, words] = off
            same[cell.name, cell.ranks, key, cell.asked].append(off)
            self._algorithms[cell.name, cell.ranks, one.id].add(key)
        for (name, ranks, key, asked), offs in same.items():
            self._curves[name, ranks].setdefault(key, {})[asked] = mean(offs)

    def _ranks(self, name: str) -> list[int]:
        return sorted(ranks for other, ranks in self._curves if other == name)

    def _off(self, cell: Cell, one: Candidate, known: list[int], least: Like = Like.SAME) -> _Off:
        """From the nearest of these numbers of ranks that has the most alike, no more than
        `least`."""
        near = sorted(known, key=lambda ranks: (abs(math.log(ranks / cell.ranks)), -ranks))
        for like in (Like.SAME, Like.ALGORITHM, Like.FUNCTION):
            for ranks in near if like >= least else ():
                curves = list(self._alike(cell, one, ranks, like))
                if curves:
                    found = [_at(curve, asked) for curve, asked in curves]
                    middle = median if like == Like.FUNCTION else mean
                    log = middle(value for value, _ in found)
                    return _Off(log, like, ranks, min(distance for _, distance in found))
        return _Off(0.0, Like.NOTHING)

    def _alike(
        self, cell: Cell, one: Candidate, ranks: int, like: Like
    ) -> Iterator[tuple[_Curve, int]]:
        """Curves, and the sizes at which they are asked."""
        curves = self._curves[cell.name, ranks]
        same = likes(cell, one, ranks)
        keys = {_key(other, each): other.asked for other, each in same}
        if like == Like.SAME:
            yield from ((curves[key], asked) for key, asked in keys.items() if key in curves)
            return
        own = self._algorithms.get((cell.name, ranks, one.id), set())
        asked = same[0][0].asked if same else cell.asked
        for key, curve in curves.items():
            if key not in keys and (key in own) == (like == Like.ALGORITHM):
                yield curve, asked

    # --- how certain

    def _factor(self, cell: Cell, off: _Off) -> float:
        if off.like == Like.NOTHING:
            return math.exp(self._model) if self._points else math.inf
        log = self._by_like[off.like] + self._by_size * off.sizes
        log += self._by_ranks * abs(math.log2(cell.ranks / off.ranks))
        return math.exp(log)

    @cached_property
    def _learned_from(self) -> set[Cell]:
        """A part of the cells, spread over all."""
        every = list(dict.fromkeys(cell for cell, _ in self._points))
        return set(every[:: math.ceil(len(every) / MOST_LEARNED)])

    def _some(self) -> Iterator[tuple[Cell, Candidate, float]]:
        for (cell, words), own in self._points.items():
            if cell in self._learned_from:
                yield cell, parsed(cell, words), own

    @cached_property
    def _model(self) -> float:
        """What the model alone is off by."""
        return _usual(_Error(off, cell) for cell, _, off in self._some()) or 0.0

    def _or_model(self, errors: Iterable[_Error]) -> float:
        found = _usual(errors)
        return self._model if found is None else found

    @cached_property
    def _by_like(self) -> dict[Like, float]:
        """Each point from what is less like it, on the same ranks."""

        def errors(like: Like) -> Iterator[_Error]:
            for cell, one, own in self._some():
                off = self._off(cell, one, [cell.ranks], like)
                if off.like == like:
                    yield _Error(off.log - own, cell)

        less = (Like.ALGORITHM, Like.FUNCTION)
        return {Like.SAME: 0.0, **{like: self._or_model(errors(like)) for like in less}}

    @cached_property
    def _by_size(self) -> float:
        """For each doubling: each point of a curve from the others."""

        def errors() -> Iterator[_Error]:
            for (name, ranks), curves in self._curves.items():
                for curve in curves.values():
                    for asked, own in curve.items():
                        cell = Cell(name, ranks, asked)
                        rest = {size: log for size, log in curve.items() if size != asked}
                        if rest and cell in self._learned_from:
                            log, distance = _at(rest, asked)
                            yield _Error(log - own, cell, distance)

        return self._or_model(errors())

    @cached_property
    def _by_ranks(self) -> float:
        """For each doubling: each point from fewer ranks, where that size was measured there."""

        def errors() -> Iterator[_Error]:
            for cell, one, own in self._some():
                fewer = [ranks for ranks in self._ranks(cell.name) if ranks < cell.ranks]
                off = self._off(cell, one, fewer)
                if off.like == Like.SAME and off.sizes == 0:
                    yield _Error(off.log - own, cell, math.log2(cell.ranks / off.ranks))

        return self._or_model(errors())
