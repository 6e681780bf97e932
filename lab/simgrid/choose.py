# SPDX-License-Identifier: BSD-3-Clause
"""Chooses on a simulated network for more ranks than were ever measured there.

The model predicts, and what it predicts is corrected: the same candidates run on 16 ranks, and what
the model was off by there it is taken to be off by on more.
"""

from dataclasses import dataclass, field
from itertools import chain
from statistics import geometric_mean

from fit import Fitted, levels, spread
from smpi import Network
from stretto import _core
from stretto.tune.own.campaign import Predictor
from stretto.tune.own.cells import Candidate, Cell, candidate, in_parts, portfolio

KNOWN = 16  # ranks
FAR = 5.0  # times the best prediction: not looked at
OF_RANKS = ("radix", "group")  # parameters that go by the number of ranks
BEST = 6  # candidates that are looked at beside the best of each algorithm


@dataclass
class Chooser:
    """Keeps what it has measured."""

    network: Network
    fitted: Fitted
    _predictors: dict[int, Predictor] = field(default_factory=dict)
    _factors: dict[tuple[Cell, str], float] = field(default_factory=dict)

    def switches(self, ranks: int) -> int:
        """On which so many ranks are: all, or few enough for others to be on the same."""
        return min(levels(self.network), 2) if ranks == KNOWN else levels(self.network)

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
        """On 16 ranks, what is not known there."""
        todo: dict[Cell, dict[str, Candidate]] = {}
        for small, one in chain.from_iterable(_likes(cell, each) for each in found):
            if (small, one.words) not in self._factors:
                todo.setdefault(small, {})[one.words] = one
        for small, own in todo.items():
            plan = [(f"{small.name}:{small.asked}", list(own))]
            for time in self.network.run(self.hosts(KNOWN), plan):
                seconds = self._predictor(KNOWN).seconds(small, own[time.words])
                self._factors[small, time.words] = time.us * 1e-6 / max(seconds, 1e-12)

    def _factor(self, cell: Cell, one: Candidate) -> float:
        """Measured over predicted."""
        likes = _likes(cell, one)
        return geometric_mean(self._factors[s, o.words] for s, o in likes) if likes else 1.0


def _likes(cell: Cell, one: Candidate) -> list[tuple[Cell, Candidate]]:
    """On 16 ranks, the cell and the candidates that are most like these.

    Parts are as large or, where the vector is cut into segments, the vector is. Radices and groups
    are the same, or the same share of the ranks.
    """
    assert one.algorithm
    cut = one.params.segment < cell.bytes and one.params.segment > 0
    parts = in_parts(cell.function) and cut
    small = Cell(cell.name, KNOWN, cell.asked * cell.ranks // KNOWN if parts else cell.asked)
    values = [one.params.value]
    if one.algorithm.parameter and one.algorithm.parameter.name in OF_RANKS:
        values = [min(one.params.value, KNOWN), one.params.value * KNOWN // cell.ranks]
    found = []
    for value in dict.fromkeys(values):
        params = _core.Params(segment=one.params.segment, depth=one.params.depth, value=value)
        shape = small.call(_core.Placement(KNOWN)).shape(one.algorithm)
        if not _core.unsuitable(one.algorithm, cell.function, shape, True, params):
            found.append((small, candidate(one.algorithm, params)))
    return found
