# SPDX-License-Identifier: BSD-3-Clause
"""Chooses on a simulated network for more ranks than were ever measured there.

The model predicts, and what it predicts is corrected by what the same candidates take on 16 ranks.
"""

from dataclasses import dataclass, field

from fit import Fitted, levels, measured, point_of, spread
from smpi import Network, Time
from stretto import _core
from stretto.tune.own.points import Candidate, Point, Predictor, portfolio
from stretto.tune.own.residual_correction import ResidualCorrection, nearest_measured
from stretto.tune.own.topology_aware import best_few

KNOWN = 16  # ranks
FAR = 5.0  # times the best prediction: not looked at
BEST = 6  # candidates beside the best of each algorithm, by the model and corrected


@dataclass(frozen=True)
class Considered:
    """A candidate; its seconds by the model alone, and corrected."""

    one: Candidate
    model: float
    seconds: float


@dataclass
class Chooser:
    """Keeps what it has measured."""

    network: Network
    fitted: Fitted
    _predictors: dict[int, Predictor] = field(default_factory=dict)
    _times: dict[tuple[Point, str], Time] = field(default_factory=dict)

    def switches(self, ranks: int) -> int:
        """On which so many ranks are: all, or few enough for others to be on the same."""
        return min(levels(self.network), 2) if ranks == KNOWN else levels(self.network)

    def hosts(self, ranks: int) -> list[str]:
        return spread(self.network, ranks, self.switches(ranks))

    def nodes(self, ranks: int) -> list[int]:
        """Of each rank: its switch, where there are several."""
        each = 1 if levels(self.network) == 1 else ranks // self.switches(ranks)
        return [rank // each for rank in range(ranks)]

    def _predictor(self, ranks: int) -> Predictor:
        if ranks not in self._predictors:
            placement = _core.Placement(self.nodes(ranks).count(0))
            self._predictors[ranks] = Predictor(self.fitted.machine, placement)
        return self._predictors[ranks]

    def considered(self, point: Point) -> list[Considered]:
        """The best first: one of each algorithm, more of the best, one of what does the same."""
        every = self._predictor(point.ranks).sorted(point, portfolio(point))
        predicted = {one.words: seconds for seconds, one in every}
        found = best_few(every, len(every), BEST, FAR)
        corrected = self._correction(point, found)
        near = [one for seconds, one in every if seconds <= FAR * every[0][0]]
        near.sort(key=lambda one: corrected.seconds(point, one))
        found += [one for one in near[:BEST] if one not in found]
        corrected = self._correction(point, found)
        same: dict[tuple, Considered] = {}
        for one in found:
            own = Considered(one, predicted[one.words], corrected.seconds(point, one))
            same.setdefault((f"{own.model:.9e}", f"{own.seconds:.9e}"), own)
        return sorted(same.values(), key=lambda own: own.seconds)

    def _correction(self, point: Point, found: list[Candidate]) -> ResidualCorrection:
        """By what these and others take on 16 ranks."""
        todo: dict[Point, list[str]] = {}
        for one in found:
            for small, like in nearest_measured(point, one, KNOWN):
                if (small, like.words) not in self._times:
                    todo.setdefault(small, []).append(like.words)
        for small, words in todo.items():
            plan = [(f"{small.name}:{small.asked}", list(dict.fromkeys(words)))]
            for time in self.network.run(self.hosts(KNOWN), plan, nodes=self.nodes(KNOWN)):
                self._times[point_of(time), time.words] = time
        own = [time for (small, _), time in self._times.items() if small.name == point.name]
        return ResidualCorrection(self._predictor, measured(own))
