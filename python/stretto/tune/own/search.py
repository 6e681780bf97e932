# SPDX-License-Identifier: BSD-3-Clause
"""What is measured next: candidates of which the predictions cannot tell the fastest."""

from collections import defaultdict
from collections.abc import Callable

from ... import _core
from .choice import CONFIRM, SHIPPED, benchmarks_with, merged
from .journal import Journal
from .points import NATIVE, Candidate, Point, others, parsed, portfolio
from .residual_correction import Estimate, ResidualCorrection

MOST = 16  # candidates of a paired benchmark, beside the library and the shipped choice
DOUBT = 2.0  # estimates that are off by more are rare
EXPENSIVE = 0.5  # seconds of a native call
LESS_DOUBT = 1.3  # where the point has been measured
AGAIN = 2  # that were the fastest, beside what is new
NEAR = 1.15  # times the choice: tried once more beside it
FINALISTS = 4
STRIDES = (8, 4, 2, 1)
KEEP = "+"  # before the words of a candidate that the driver must not drop


def levels(values: list[int]) -> list[list[int]]:
    """The first, the last and every eighth, each for itself; then those half way between, and so
    on."""
    found: list[list[int]] = []
    seen: set[int] = set()
    for stride in STRIDES:
        own = [v for i, v in enumerate(values) if i % stride == 0 or i + 1 == len(values)]
        new = [v for v in own if v not in seen]
        found += [new] if seen else [[v] for v in new]
        seen |= set(own)
    return [own for own in found if own]


def undecided(pairs: list[tuple[Estimate, Candidate]], doubt: float) -> list[Candidate]:
    """Those that may be the fastest, estimates being off by their factors, or by `doubt`: the best
    of each algorithm first. `pairs` begin with the best."""
    estimates = [one for one, _ in pairs]
    kept = [each for own, each in pairs if all(own.may_beat(one, doubt) for one in estimates)]
    first: dict[str, Candidate] = {}
    for one in kept:
        first.setdefault(one.id, one)
    best = list(first.values())
    return [*best, *(one for one in kept if first[one.id] is not one)]


class NativeTimes:
    """Where ranks share cores, a native call may take a minute: those are not made."""

    def __init__(self, journal: Journal) -> None:
        self._seconds: dict[tuple[str, int], dict[int, float]] = defaultdict(dict)
        for one in journal.measured:
            if us := one.us_of(NATIVE):
                self._seconds[one.point.name, one.point.ranks][one.point.bytes] = us * 1e-6

    def expensive(self, point: Point) -> bool:
        """In proportion to the nearest smaller size."""
        known = self._seconds[point.name, point.ranks]
        size = max((one for one in known if one <= point.bytes), default=0)
        return size > 0 and known[size] * point.bytes / size > EXPENSIVE


class Search:
    """The candidates of a point's next paired benchmark, none if there is nothing to find out.

    `shipped` is the choice of the shipped rules, which takes part in every paired benchmark;
    `copies` tells how so many ranks may copy long messages, beside staging them; `learned` what
    programs found out about a point, if anything.
    """

    def __init__(
        self,
        journal: Journal,
        correction: ResidualCorrection,
        shipped: dict[Point, Candidate],
        copies: Callable[[int], tuple[_core.Copy, ...]] = lambda ranks: (),
        learned: Callable[[Point], Candidate | None] = lambda point: None,
    ):
        self._journal, self._correction, self._shipped = journal, correction, shipped
        self._copies, self._learned = copies, learned
        self._native = NativeTimes(journal)
        self._found: dict[tuple[Point, float], list[Candidate]] = {}  # the same for each mode

    def first(self, point: Point, mode: str) -> list[str]:
        """What programs learned before all others, whatever is predicted of it."""
        known, found = self._learned(point), self._undecided(point, DOUBT)
        if known and known.algorithm:
            found = [known, *others(point, known, found)]
        return self.with_references(point, found[:MOST])

    def more(self, point: Point, mode: str) -> list[str]:
        """What may be faster than all that was measured."""
        us = merged(self._journal.of(point, mode), self._shipped[point].words)
        logs = {words: own.log for words, own in us.items() if words != NATIVE}
        if not logs:
            return []
        tried = {entry.words for one in self._journal.of(point, mode) for entry in one.entries}
        tried |= {words for failed, words in self._journal.failed if failed == point}
        new = [one for one in self._undecided(point, LESS_DOUBT) if one.words not in tried]
        if not new:
            return []
        best = sorted(logs, key=lambda words: logs[words])[:AGAIN]
        return self.with_references(point, [*(parsed(point, w) for w in best), *new[:MOST]])

    def confirmation(
        self, point: Point, mode: str, choice: str, times: dict[str, float], wanted: int = 1
    ) -> list[str]:
        """The choice and what by its `times` comes near it once more, where that is not the shipped
        one and was not `wanted` times in such a paired benchmark."""
        benchmarks = [one for one in self._journal.of(point, mode) if one.stage == CONFIRM]
        if choice == SHIPPED or len(benchmarks_with(benchmarks, choice)) >= wanted:
            return []
        limit = NEAR * times.get(choice, 0.0)
        near = [w for w in times if times[w] <= limit and w != NATIVE]
        near.sort(key=lambda words: times[words])
        found = dict.fromkeys([choice, *near])
        return self.with_references(point, [parsed(point, words) for words in found][:FINALISTS])

    def _undecided(self, point: Point, doubt: float) -> list[Candidate]:
        """Beside the shipped choice."""
        if (point, doubt) not in self._found:
            reference = self._shipped[point]
            every = others(point, reference, portfolio(point, copies=self._copies(point.ranks)))
            if reference.algorithm:
                every.append(reference)
            found = undecided(self._correction.sorted(point, every), doubt)
            self._found[point, doubt] = [one for one in found if one is not reference]
        return self._found[point, doubt]

    def with_references(self, point: Point, found: list[Candidate]) -> list[str]:
        """The words of a paired benchmark: these, the library and the shipped choice."""
        reference = self._shipped[point].words
        words = dict.fromkeys([NATIVE, reference, *(one.words for one in found)])
        if self._native.expensive(point) and reference != NATIVE:
            del words[NATIVE]
        return [
            KEEP + one if one == reference != NATIVE else one
            for one in words
            if (point, one) not in self._journal.failed
        ]
