# SPDX-License-Identifier: BSD-3-Clause
"""Predictions, corrected by what the model was off by where something alike was measured.

A model's error belongs to an algorithm more than to a number of ranks: what it was off by on few,
it is taken to be off by on more. How far that holds is learned from the measurements themselves:
each is predicted from the others, and those of many ranks from those of fewer. What all of a
point's candidates are off by together says nothing of which is the fastest and does not count.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, cached_property
from statistics import mean, median

from ... import _core
from .journal import Measured
from .points import FEW_RANKS, NATIVE, Candidate, Point, Predictor, does, in_parts, parsed

OF_RANKS = ("radix", "group")  # parameters that go by the number of ranks
USUAL = 0.9  # the share of cases for which a factor holds
LEAST = 1e-12  # seconds
MOST_LEARNED = 200  # points
FEW_BESIDE = 3  # candidates of a point: of fewer none can be said to be off beside the others


class Nearness(IntEnum):
    """What was measured that is like a candidate, the most like first."""

    SAME = 0  # the algorithm, with parameters that are as large or as large a share of the ranks
    ALGORITHM = 1  # with other parameters, or in other segments
    FUNCTION = 2  # other algorithms of the function only
    NOTHING = 3


@dataclass(frozen=True)
class Estimate:
    """`seconds` of a call; beside the point's others right within `factor` in nine of ten cases;
    infinite if none can say."""

    seconds: float
    factor: float
    nearness: Nearness

    def may_beat(self, other: "Estimate", doubt: float = math.inf) -> bool:
        """If both are off, each for itself, by their factors or by `doubt`."""
        factors = [min(one.factor, doubt) for one in (self, other)]
        if math.inf in factors:
            return True
        return math.log(self.seconds / other.seconds) <= math.hypot(*map(math.log, factors))


@dataclass(frozen=True)
class _Off:
    """The logarithm of measured over predicted."""

    log: float
    nearness: Nearness
    ranks: int = 0  # those that were measured
    sizes: float = math.inf  # doublings from the nearest size that was


_Curve = dict[int, float]  # by the bytes that were asked: the logarithm of measured over predicted


def nearest_measured(point: Point, one: Candidate, ranks: int) -> list[tuple[Point, Candidate]]:
    """On so many ranks, the point and the candidates that are most like these.

    Parts are as large or, where the vector is cut into segments, the vector is. Radices and groups
    are the same, or the same share of the ranks.
    """
    assert one.algorithm
    parts = in_parts(point.function) and _cut(point, one)
    other = Point(point.name, ranks, point.asked * point.ranks // ranks if parts else point.asked)
    values = [one.params.value]
    if one.algorithm.parameter and one.algorithm.parameter.name in OF_RANKS:
        share = one.params.value * ranks // point.ranks
        values = [min(one.params.value, ranks), max(share, 2)]
    shape = other.call(_core.Placement(ranks)).shape(one.algorithm)
    call = (one.algorithm, point.function, shape, not point.ordered)
    every = [one.changed(value=value) for value in dict.fromkeys(values)]
    return [(other, near) for near in every if not _core.unsuitable(*call, near.params)]


def _cut(point: Point, one: Candidate) -> bool:
    return 0 < one.params.segment < point.bytes


def _key(point: Point, one: Candidate) -> tuple:
    """Equal for candidates of which one's time is the other's."""
    assert one.algorithm
    if point.ranks <= FEW_RANKS and not one.algorithm.needs.counts:
        return (*does(point, one), tuple(one.params.list))
    return own_key(point, one)


def own_key(point: Point, one: Candidate) -> tuple:
    """Equal for the same algorithm in the same way, on any size."""
    assert one.algorithm
    own, value = tuple(one.params.list), one.params.value
    if one.algorithm.parameter and not one.algorithm.needs.counts:
        shape = point.call(_core.Placement(point.ranks)).shape(one.algorithm)
        value = value or one.algorithm.parameter.default(shape)
    cut = _cut(point, one) and (one.params.segment, one.params.depth)
    return one.id, value, cut, own, one.params.copy


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
    point: Point
    doublings: float = 1.0


def _usual(errors: Iterable[_Error]) -> float | None:
    """For a doubling; beside the others of the point, where there are some."""
    points: dict[Point, list[_Error]] = defaultdict(list)
    for one in errors:
        points[one.point].append(one)
    many = [own for own in points.values() if len(own) >= FEW_BESIDE]
    found = []
    for own in many or points.values():
        common = median(one.log for one in own) if many else 0.0
        found += [abs(one.log - common) / max(one.doublings, 1.0) for one in own]
    found.sort()
    return found[math.ceil(USUAL * len(found)) - 1] if found else None


class ResidualCorrection:
    """`predictor` gives one for a number of ranks; without one all calls take as long.
    `measured` are paired benchmarks of any stage.

    Times of the native library and wrong ones do not count. Those of no whole block do: so much
    slower was what was dropped at once.
    """

    def __init__(
        self, predictor: Callable[[int], Predictor | None], measured: Iterable[Measured]
    ) -> None:
        self._predictor_of = cache(predictor)
        self._points: dict[tuple[Point, str], float] = {}
        self._curves: dict[tuple[str, int], dict[tuple, _Curve]] = defaultdict(dict)
        self._algorithms: dict[tuple[str, int, str], set[tuple]] = defaultdict(set)
        self._learn(measured)

    def seconds(self, point: Point, one: Candidate) -> float:
        """The corrected ones."""
        return self._seconds(point, one, self._off(point, one, self._ranks(point.name)))

    def estimate(self, point: Point, one: Candidate) -> Estimate:
        off = self._off(point, one, self._ranks(point.name))
        return Estimate(self._seconds(point, one, off), self._factor(point, off), off.nearness)

    def sorted(self, point: Point, found: Iterable[Candidate]) -> list[tuple[Estimate, Candidate]]:
        """The best first."""
        pairs = [(self.estimate(point, one), one) for one in found]
        return sorted(pairs, key=lambda pair: pair[0].seconds)

    def _seconds(self, point: Point, one: Candidate, off: _Off) -> float:
        return self._predicted(point, one) * math.exp(off.log)

    def _predicted(self, point: Point, one: Candidate) -> float:
        model = self._predictor_of(point.ranks)
        return max(model.seconds(point, one), LEAST) if model else 1.0

    def _learn(self, measured: Iterable[Measured]) -> None:
        times: dict[tuple[Point, str], list[float]] = defaultdict(list)
        for benchmark in measured:
            for entry in benchmark.entries:
                if entry.correct and entry.words != NATIVE and entry.us > 0:
                    one = parsed(benchmark.point, entry.words)
                    if one.id == entry.algorithm:  # else another served in its place
                        times[benchmark.point, entry.words].append(math.log(entry.us * 1e-6))
        same: dict[tuple, list[float]] = defaultdict(list)
        for (point, words), logs in times.items():
            one = parsed(point, words)
            key = _key(point, one)
            off = mean(logs) - math.log(self._predicted(point, one))
            self._points[point, words] = off
            same[point.name, point.ranks, key, point.asked].append(off)
            self._algorithms[point.name, point.ranks, one.id].add(key)
        for (name, ranks, key, asked), offs in same.items():
            self._curves[name, ranks].setdefault(key, {})[asked] = mean(offs)

    def _ranks(self, name: str) -> list[int]:
        return sorted(ranks for other, ranks in self._curves if other == name)

    def _off(
        self, point: Point, one: Candidate, known: list[int], least: Nearness = Nearness.SAME
    ) -> _Off:
        """From the nearest of these numbers of ranks that has the most alike, no more than
        `least`."""
        near = sorted(known, key=lambda ranks: (abs(math.log(ranks / point.ranks)), -ranks))
        for nearness in (Nearness.SAME, Nearness.ALGORITHM, Nearness.FUNCTION):
            for ranks in near if nearness >= least else ():
                curves = list(self._alike(point, one, ranks, nearness))
                if curves:
                    found = [_at(curve, asked) for curve, asked in curves]
                    middle = median if nearness == Nearness.FUNCTION else mean
                    log = middle(value for value, _ in found)
                    return _Off(log, nearness, ranks, min(distance for _, distance in found))
        return _Off(0.0, Nearness.NOTHING)

    def _alike(
        self, point: Point, one: Candidate, ranks: int, nearness: Nearness
    ) -> Iterator[tuple[_Curve, int]]:
        """Curves, and the sizes at which they are asked."""
        curves = self._curves[point.name, ranks]
        same = nearest_measured(point, one, ranks)
        keys = {_key(other, each): other.asked for other, each in same}
        if nearness == Nearness.SAME:
            yield from ((curves[key], asked) for key, asked in keys.items() if key in curves)
            return
        own = self._algorithms.get((point.name, ranks, one.id), set())
        asked = same[0][0].asked if same else point.asked
        for key, curve in curves.items():
            if key not in keys and (key in own) == (nearness == Nearness.ALGORITHM):
                yield curve, asked

    # --- how certain

    def _factor(self, point: Point, off: _Off) -> float:
        if off.nearness == Nearness.NOTHING:
            return math.exp(self._model) if self._points else math.inf
        log = self._by_nearness[off.nearness] + self._by_size * off.sizes
        log += self._by_ranks * abs(math.log2(point.ranks / off.ranks))
        return math.exp(log)

    @cached_property
    def _learned_from(self) -> set[Point]:
        """A part of the points, spread over all."""
        every = list(dict.fromkeys(point for point, _ in self._points))
        return set(every[:: math.ceil(len(every) / MOST_LEARNED)])

    def _some(self) -> Iterator[tuple[Point, Candidate, float]]:
        for (point, words), own in self._points.items():
            if point in self._learned_from:
                yield point, parsed(point, words), own

    @cached_property
    def _model(self) -> float:
        """What the model alone is off by."""
        return _usual(_Error(off, point) for point, _, off in self._some()) or 0.0

    def _or_model(self, errors: Iterable[_Error]) -> float:
        found = _usual(errors)
        return self._model if found is None else found

    @cached_property
    def _by_nearness(self) -> dict[Nearness, float]:
        """Each point from what is less like it, on the same ranks."""

        def errors(nearness: Nearness) -> Iterator[_Error]:
            for point, one, own in self._some():
                off = self._off(point, one, [point.ranks], nearness)
                if off.nearness == nearness:
                    yield _Error(off.log - own, point)

        less = (Nearness.ALGORITHM, Nearness.FUNCTION)
        return {
            Nearness.SAME: 0.0,
            **{nearness: self._or_model(errors(nearness)) for nearness in less},
        }

    @cached_property
    def _by_size(self) -> float:
        """For each doubling: each point of a curve from the others."""

        def errors() -> Iterator[_Error]:
            for (name, ranks), curves in self._curves.items():
                for curve in curves.values():
                    for asked, own in curve.items():
                        point = Point(name, ranks, asked)
                        rest = {size: log for size, log in curve.items() if size != asked}
                        if rest and point in self._learned_from:
                            log, distance = _at(rest, asked)
                            yield _Error(log - own, point, distance)

        return self._or_model(errors())

    @cached_property
    def _by_ranks(self) -> float:
        """For each doubling: each point from fewer ranks, where that size was measured there."""

        def errors() -> Iterator[_Error]:
            for point, one, own in self._some():
                fewer = [ranks for ranks in self._ranks(point.name) if ranks < point.ranks]
                off = self._off(point, one, fewer)
                if off.nearness == Nearness.SAME and off.sizes == 0:
                    yield _Error(off.log - own, point, math.log2(point.ranks / off.ranks))

        return self._or_model(errors())
