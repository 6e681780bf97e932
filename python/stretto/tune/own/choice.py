# SPDX-License-Identifier: BSD-3-Clause
"""From times to choices: what is fastest, with few changes from one size to the next."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean, mean, median, variance

from ...measure.points import BACK_TO_BACK
from ...units import counted, size_in_words
from .journal import Entry, Journal, Measured
from .points import NATIVE, Point, parsed, serves_any
from .smoothing import Noisy, smooth

GAIN = math.log(1.015)  # worth a rule of its own, and another algorithm than at the size before
SAME_MEAN, SAME_MOST = math.log(1.05), math.log(1.15)  # what a neighbour's choices may lose
BENCHMARKS = 2  # at least, in which a choice must have proved itself
OF_SPREAD = 0.93  # a median's standard deviation times the root of its blocks, over their spread
SURE = 0.04  # no paired benchmark is surer: processes differ by where their memory lies
CONFIRM = "confirm"  # the stage of paired benchmarks between few
SHIPPED = ""  # the shipped rules decide, whatever they say


@dataclass(frozen=True)
class Times:
    """Of one point, in µs, by candidate."""

    us: dict[str, float]
    shipped: str  # the candidate that the shipped rules choose
    native: float | None = None  # whether or not it may be chosen
    slower: frozenset[str] = frozenset()  # what may not be chosen: see `slower_than_native`

    @property
    def best(self) -> float:
        return min(self.us.values())

    def of(self, words: str) -> float | None:
        return self.us.get(words or self.shipped)

    @property
    def options(self) -> list[str]:
        """What may be chosen."""
        every = [*self.us, *([SHIPPED] if self.of(SHIPPED) else [])]
        return [words for words in every if (words or self.shipped) not in self.slower]

    def cost(self, words: str) -> float:
        """What choosing it loses, in ratio, as a logarithm."""
        us = self.of(words)
        assert us is not None
        return math.log(us / self.best) + (GAIN if words != SHIPPED else 0)


def merged(benchmarks: list[Measured], reference: str) -> dict[str, Noisy]:
    """The last paired benchmark's time of the reference, and of the others the median ratio to it.

    The best of many noisy times is too good: where a candidate was confirmed, that counts alone.
    """
    timed = [(one.stage == CONFIRM, _timed(one)) for one in benchmarks]
    known = [(again, us) for again, us in timed if reference in us]
    if not known:
        return timed[-1][1] if timed else {}
    found: dict[str, dict[bool, list[Noisy]]] = defaultdict(lambda: {True: [], False: []})
    for again, us in known:
        for words, own in us.items():
            found[words][again].append(Noisy(own.log - us[reference].log, own.variance))
    last = known[-1][1][reference].log
    return {words: _middle(own[True] or own[False], last) for words, own in found.items()}


def _timed(benchmark: Measured) -> dict[str, Noisy]:
    counted = [one for one in benchmark.entries if one.counts]
    spread = median(one.spread for one in counted) if counted else 0.0
    return {
        one.words: Noisy(math.log(one.us), variance_of(one, spread) + SURE**2)
        for one in counted
        if one.us > 0
    }


def variance_of(one: Entry, least: float = 0.0) -> float:
    """Of the logarithm of a median, from a spread of no less than that."""
    return (OF_SPREAD * max(one.spread, least)) ** 2 / max(one.blocks, 1)


def _middle(found: list[Noisy], beside: float) -> Noisy:
    logs = [one.log for one in found]
    return Noisy(beside + median(logs), variance_of_all(logs, [one.variance for one in found]))


def variance_of_all(logs: list[float], variances: list[float]) -> float:
    """Of their middle: no less than they differ by."""
    each = max(mean(variances), variance(logs) if len(logs) > 1 else 0.0)
    return each / len(logs)


def times_of(
    journal: Journal,
    shipped: dict[Point, str],
    modes: Sequence[str] = (BACK_TO_BACK,),
    confirmed: bool = True,
) -> dict[Point, Times]:
    """Of what was timed in all of the modes: the geometric mean, which ranks candidates as that of
    their ratios to the best of each mode does. Together with those of the sizes around. If
    `confirmed`, only of what was timed in several paired benchmarks, beside the shipped choice."""
    found = {}
    smoothed = [
        smooth({point: merged(journal.of(point, mode), words) for point, words in shipped.items()})
        for mode in modes
    ]
    for point, words in shipped.items():
        by_mode = [own.get(point, {}) for own in smoothed]
        common = [one for one in by_mode[0] if all(one in own for own in by_mode)]
        us = {one: geometric_mean(own[one] for own in by_mode) for one in common}
        native = us.get(NATIVE)
        if confirmed:
            benchmarks = [journal.of(point, mode) for mode in modes]
            us = {
                one: time
                for one, time in us.items()
                if one == words
                or all(len(benchmarks_with(own, one)) >= BENCHMARKS for own in benchmarks)
            }
        if us:
            found[point] = Times(us, words, native, slower_than_native(list(us), by_mode))
    return found


def slower_than_native(candidates: list[str], by_mode: list[dict[str, float]]) -> frozenset[str]:
    """By more than a rule is worth in a mode, where another one is so in none."""
    own = [words for words in candidates if words != NATIVE]
    slower = {
        words
        for words in own
        for us in by_mode
        if NATIVE in us and math.log(us[words] / us[NATIVE]) > GAIN
    }
    return frozenset(slower if len(slower) < len(own) else ())


def benchmarks_with(benchmarks: list[Measured], words: str) -> list[Measured]:
    return [one for one in benchmarks if one.us_of(words) is not None]


def along(times: list[Times]) -> list[str]:
    """A choice for each size, of the least sum of losses and changes."""
    paths: dict[str, tuple[float, list[str]]] = {}
    for i, one in enumerate(times):
        before, paths = paths, {}
        for words in one.options:
            loss, way = 0.0, []
            if i:
                last = min(before, key=lambda w: before[w][0] + (GAIN if w != words else 0))
                loss = before[last][0] + (GAIN if last != words else 0)
                way = before[last][1]
            paths[words] = (loss + one.cost(words), [*way, words])
    return min(paths.values(), key=lambda path: path[0])[1]


def agrees(words: list[str], times: list[Times]) -> bool:
    """Whether these choices lose next to nothing."""
    pairs = zip(words, times, strict=True)
    losses = [math.log(us / t.best) if (us := t.of(w)) else math.inf for w, t in pairs]
    return max(losses) <= SAME_MOST and sum(losses) <= SAME_MEAN * len(losses)


def words_of(known: dict[int, list[Times]]) -> dict[int, list[str]]:
    """What serves each size, by ranks: as for the number before, where that loses little."""
    found: dict[int, list[str]] = {}
    before: list[str] = []
    for ranks, times in sorted(known.items()):
        if len(before) != len(times) or not agrees(before, times):
            before = along(times)
        found[ranks] = before
    return found


@dataclass(frozen=True)
class Choice:
    """What is to serve a point; SHIPPED or a candidate's words.

    `elsewhere` is for numbers of ranks near this one that `words` cannot serve.
    """

    point: Point
    words: str
    us: float | None
    native_us: float | None
    shipped_us: float | None
    elsewhere: str = SHIPPED
    elsewhere_us: float | None = None

    @property
    def narrow(self) -> bool:
        return self.words != SHIPPED and not serves_all(self.point, self.words)

    def for_others(self) -> "Choice":
        """The same, as it is to be elsewhere."""
        words = self.elsewhere if self.narrow else SHIPPED
        us = self.elsewhere_us if self.narrow else None
        return replace(self, words=words, us=us, elsewhere=SHIPPED, elsewhere_us=None)


def serves_all(point: Point, words: str) -> bool:
    """Any number of ranks."""
    algorithm = parsed(point, words).algorithm
    return algorithm is None or serves_any(algorithm, point.function, point.ordered)


def gain_in_words(chosen: Iterable[Choice]) -> str:
    """What the choices are worth where they differ from the shipped ones, in one sentence."""
    every = list(chosen)
    gains = {one.point: one.shipped_us / one.us for one in every
             if one.words != SHIPPED and one.us and one.shipped_us}  # fmt: skip
    if not gains:
        return f"the shipped choice stays everywhere ({counted(len(every), 'point')})"
    best = max(gains, key=gains.__getitem__)
    return (
        f"another choice than the shipped one at {len(gains)} of {counted(len(every), 'point')}: "
        f"{geometric_mean(gains.values()):.2f}x as fast in the geometric mean, "
        f"{gains[best]:.2f}x at most ({best.name}, {best.ranks} ranks, {size_in_words(best.asked)})"
    )


def _elsewhere(point: Point, times: Times) -> str:
    """The best that serves any number of ranks, if it is worth a rule."""
    found = [words for words in times.options if words == SHIPPED or serves_all(point, words)]
    best = min(found, key=times.cost, default=SHIPPED)
    return SHIPPED if best == times.shipped else best


def choices(found: dict[Point, Times]) -> dict[tuple[str, int], list[Choice]]:
    """By name and number of ranks, in the order of sizes."""
    groups: dict[tuple[str, int], list[Point]] = defaultdict(list)
    for point in sorted(found):
        groups[point.name, point.ranks].append(point)
    chosen = {}
    for key, points in groups.items():
        times = [found[point] for point in points]
        chosen[key] = [
            Choice(point, one, t.of(one), t.native, t.of(SHIPPED), other, t.of(other))
            for point, t, one in zip(points, times, along(times), strict=True)
            for other in [_elsewhere(point, t)]
        ]
    return chosen
