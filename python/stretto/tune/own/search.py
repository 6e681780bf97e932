# SPDX-License-Identifier: BSD-3-Clause
"""What is measured next: candidates of which the predictions cannot tell the fastest."""

from collections import defaultdict
from collections.abc import Iterable

from .cells import NATIVE, Candidate, Cell, others, parsed, portfolio
from .choice import CONFIRM, SHIPPED, Times, choices, contests_with, merged
from .corrected import Corrected, Estimate
from .journal import Journal

MOST = 16  # candidates of a contest, beside the library and the shipped choice
DOUBT = 2.0  # estimates that are off by more are rare
DEAR = 0.5  # seconds of a native call
LESS_DOUBT = 1.3  # where the cell has been measured
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


def contenders(pairs: list[tuple[Estimate, Candidate]], doubt: float) -> list[Candidate]:
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
                self._seconds[one.cell.name, one.cell.ranks][one.cell.bytes] = us * 1e-6

    def dear(self, cell: Cell) -> bool:
        """In proportion to the nearest smaller size."""
        known = self._seconds[cell.name, cell.ranks]
        size = max((one for one in known if one <= cell.bytes), default=0)
        return size > 0 and known[size] * cell.bytes / size > DEAR


class Search:
    """The candidates of a cell's next contest, none if there is nothing to find out.

    `shipped` is the choice of the shipped rules, which takes part in every contest.
    """

    def __init__(self, journal: Journal, corrected: Corrected, shipped: dict[Cell, Candidate]):
        self._journal, self._corrected, self._shipped = journal, corrected, shipped
        self._native = NativeTimes(journal)

    def first(self, cell: Cell) -> list[str]:
        return self.with_references(cell, self._contenders(cell, DOUBT)[:MOST])

    def more(self, cell: Cell) -> list[str]:
        """What may be faster than all that was measured."""
        logs = self._logs(cell)
        if not logs:
            return []
        tried = {entry.words for one in self._journal.of(cell) for entry in one.entries}
        tried |= {words for failed, words in self._journal.failed if failed == cell}
        new = [one for one in self._contenders(cell, LESS_DOUBT) if one.words not in tried]
        if not new:
            return []
        best = sorted(logs, key=lambda words: logs[words])[:AGAIN]
        return self.with_references(cell, [*(parsed(cell, w) for w in best), *new[:MOST]])

    def confirmation(
        self, cell: Cell, choice: str, times: dict[str, float], wanted: int = 1
    ) -> list[str]:
        """The choice and what by its `times` comes near it once more, where that is not the shipped
        one and was not `wanted` times in such a contest."""
        contests = [one for one in self._journal.of(cell) if one.stage == CONFIRM]
        if choice == SHIPPED or len(contests_with(contests, choice)) >= wanted:
            return []
        limit = NEAR * times.get(choice, 0.0)
        near = [w for w in times if times[w] <= limit and w != NATIVE]
        near.sort(key=lambda words: times[words])
        found = dict.fromkeys([choice, *near])
        return self.with_references(cell, [parsed(cell, words) for words in found][:FINALISTS])

    def _logs(self, cell: Cell) -> dict[str, float]:
        us = merged(self._journal.of(cell), self._shipped[cell].words)
        return {words: own.log for words, own in us.items() if words != NATIVE}

    def _contenders(self, cell: Cell, doubt: float) -> list[Candidate]:
        """Beside the shipped choice."""
        reference = self._shipped[cell]
        every = others(cell, reference, portfolio(cell))
        if reference.algorithm:
            every.append(reference)
        found = contenders(self._corrected.sorted(cell, every), doubt)
        return [one for one in found if one is not reference]

    def with_references(self, cell: Cell, found: list[Candidate]) -> list[str]:
        """The words of a contest: these, the library and the shipped choice."""
        reference = self._shipped[cell].words
        words = dict.fromkeys([NATIVE, reference, *(one.words for one in found)])
        if self._native.dear(cell) and reference != NATIVE:
            del words[NATIVE]
        return [
            KEEP + one if one == reference != NATIVE else one
            for one in words
            if (cell, one) not in self._journal.failed
        ]


def chosen_of(found: dict[Cell, Times]) -> dict[Cell, str]:
    """Each cell's choice."""
    return {one.cell: one.words for own in choices(found).values() for one in own}


def of_sizes(cells: Iterable[Cell], sizes: list[int]) -> list[Cell]:
    """Those of these sizes."""
    wanted = {max(size, 8) for size in sizes}
    return [cell for cell in cells if cell.asked in wanted or cell.asked == 0]
