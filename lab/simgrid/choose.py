# SPDX-License-Identifier: BSD-3-Clause
"""Chooses on a simulated network for more ranks than were ever measured there.

The model predicts, and what it predicts is corrected: the same candidates run on 8 and on 16 ranks,
and what the model was off by there, and how that grew, it is taken to be off by on more.
"""

from dataclasses import dataclass, field

from fit import Fitted, levels, spread
from smpi import Network
from stretto import _core
from stretto.tune.own.campaign import Predictor
from stretto.tune.own.cells import Candidate, Cell, candidate, in_parts, portfolio

KNOWN = (8, 16)  # ranks
FAR = 5.0  # times the best prediction: not looked at
BEST = 6  # candidates that are looked at beside the best of each algorithm
GROWTH = 0.5  # share of a doubling's growth that goes on


@dataclass
class Chooser:
    """Keeps what it has measured."""

    network: Network
    fitted: Fitted
    _predictors: dict[int, Predictor] = field(default_factory=dict)
    _factors: dict[tuple[Cell, str], float] = field(default_factory=dict)

    def switches(self, ranks: int) -> int:
        """On which so many ranks are: all, or few enough for others to be on the same."""
        return min(levels(self.network), 2) if ranks in KNOWN else levels(self.network)

    def hosts(self, ranks: int) -> list[str]:
        return spread(self.network, ranks, self.switches(ranks))

    def _predictor(self, ranks: int) -> Predictor:
        if ranks not in self._predictors:
            one_level = levels(self.network) == 1
            placement = _core.Placement(1 if one_level else ranks // self.switches(ranks))
            self._predictors[ranks] = Predictor(self.fitted.machine, placement)
        return self._predictors[ranks]

    def candidates(self, cell: Cell) -> list[tuple[float, Candidate]]:
        """With their predicted seconds, the best first: of each algorithm one, of the best more."""
        every = self._predictor(cell.ranks).sorted(cell, portfolio(cell))
        first: dict[str, Candidate] = {}
        for _, one in every:
            first.setdefault(one.id, one)
        limit = FAR * every[0][0]
        best = [one for _, one in every[:BEST]]
        return [
            (seconds, one)
            for seconds, one in every
            if seconds <= limit and (one in best or first[one.id] is one)
        ]

    def corrected(self, cell: Cell) -> list[tuple[float, Candidate]]:
        """The same, corrected."""
        found = self.candidates(cell)
        self._measure(cell, [one for _, one in found])
        pairs = [(seconds * self._factor(cell, one), one) for seconds, one in found]
        return sorted(pairs, key=lambda pair: pair[0])

    def _measure(self, cell: Cell, found: list[Candidate]) -> None:
        """On few ranks, what is not known there."""
        for ranks in KNOWN:
            todo: dict[Cell, list[Candidate]] = {}
            for one in found:
                small = _like(cell, one, ranks)
                if small and (small[0], small[1].words) not in self._factors:
                    todo.setdefault(small[0], []).append(small[1])
            for small_cell, own in todo.items():
                by_words = {one.words: one for one in own}
                plan = [(f"{small_cell.name}:{small_cell.asked}", list(by_words))]
                for time in self.network.run(self.hosts(ranks), plan):
                    seconds = self._predictor(ranks).seconds(small_cell, by_words[time.words])
                    ratio = time.us * 1e-6 / max(seconds, 1e-12)
                    self._factors[small_cell, time.words] = ratio

    def _factor(self, cell: Cell, one: Candidate) -> float:
        """Measured over predicted, as it is to be expected on so many ranks."""
        few, more = self.known(cell, one)
        if more is None:
            return few or 1.0
        return more * ((more / few) ** (GROWTH * _doublings(cell.ranks)) if few else 1.0)

    def known(self, cell: Cell, one: Candidate) -> list[float | None]:
        """The factors on few ranks and on more."""
        like = [_like(cell, one, ranks) for ranks in KNOWN]
        return [small and self._factors.get((small[0], small[1].words)) for small in like]


def _like(cell: Cell, one: Candidate, ranks: int) -> tuple[Cell, Candidate] | None:
    """On so few ranks, the cell and the candidate that are most like these: parts as large or, where
    the vector is cut into segments, a vector as large; a parameter that is no more than the ranks."""
    assert one.algorithm
    cut = one.params.segment < cell.bytes and one.params.segment > 0
    parts = in_parts(cell.function) and cut
    small = Cell(cell.name, ranks, cell.asked * cell.ranks // ranks if parts else cell.asked)
    value = one.params.value
    for tried in dict.fromkeys((value, min(value, ranks))):
        params = _core.Params(segment=one.params.segment, depth=one.params.depth, value=tried)
        shape = small.call(_core.Placement(ranks)).shape(one.algorithm)
        if not _core.unsuitable(one.algorithm, cell.function, shape, True, params):
            return small, candidate(one.algorithm, params)
    return None


def _doublings(ranks: int) -> int:
    return max(0, (ranks // KNOWN[-1]).bit_length() - 1)
