# SPDX-License-Identifier: BSD-3-Clause
"""Calibrates, predicts, measures what the prediction cannot tell apart; as the budget lasts."""

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from ... import _core
from ...launch.mpi import Mpi
from ...topology.predict import OnTree
from .cells import (
    NATIVE,
    Candidate,
    Cell,
    candidate,
    cells_of,
    chosen,
    others,
    parsed,
    portfolio,
    shipped,
)
from .choice import CONTESTS, SHIPPED, choices, contests_with, times_of
from .journal import Journal, read_measured
from .model import (
    Parameters,
    Quality,
    calibration,
    fit_crowd,
    fit_pair,
    quality,
    samples_of,
)
from .trial import Place, Plan, measure, probe

MODEL_SHARE = 0.15  # of the budget
ALGORITHMS_SHARE = 0.5  # what the first stage may end at
VARIANTS_SHARE = 0.75  # what the second; the rest confirms what was found
SECONDS = (0.02, 1.0)  # of a contest
WHOLE = "all candidates"  # given up together
KEEP = "+"  # before the words of a candidate that the driver must not drop
TRIES = 3  # what was not confirmed makes way for the next best
LEAST_CALLS = 12  # a fit from fewer means nothing
MOST = 12  # candidates of a contest, beside the library and the shipped choice
NEAR = 1.25  # times the best algorithm's time: its variants are tried as well
OVERHEAD = 1.3  # a contest takes so many times its seconds


@dataclass(frozen=True)
class Wish:
    """What is to be tuned."""

    ranks: list[int]
    names: list[str]
    sizes: list[int]
    budget: float


class OverError(Exception):
    """The time is up."""


@dataclass
class Model:
    """What the fit has found."""

    parameters: Parameters
    network: bool
    cores: int
    found: dict[int, Quality] = field(default_factory=dict)  # by ranks

    def machine(self) -> _core.Machine:
        return self.parameters.machine(self.cores, self.network)


class Predictor:
    """Keeps simulators: they serve all sizes. On a topology a call takes no less than that says."""

    def __init__(
        self,
        machine: _core.Machine,
        placement: _core.Placement,
        topology: _core.Topology | None = None,
    ) -> None:
        self._machine, self._placement = machine, placement
        self._tree = OnTree(topology) if topology else None
        self._simulators: dict[tuple, _core.Simulator] = {}

    def seconds(self, cell: Cell, one: Candidate) -> float:
        assert one.algorithm
        own = one.params
        key = (cell.function, one.algorithm.id, cell.ranks, own.value, tuple(own.list))
        call = cell.call(self._placement)
        shape = call.shape(one.algorithm)
        if key not in self._simulators:
            params = _core.Params(value=one.params.value, list=one.params.list)
            self._simulators[key] = call.simulator(one.algorithm, params)
        load = _core.Load(call.bytes, one.params.segment, one.params.depth, call.operation)
        seconds = self._simulators[key].run(load, self._machine).seconds
        if self._tree:
            on_tree = self._tree.seconds(one.algorithm, shape, one.params, call.bytes)
            seconds = max(seconds, on_tree)
        return seconds

    def sorted(self, cell: Cell, found: list[Candidate]) -> list[tuple[float, Candidate]]:
        pairs = [(self.seconds(cell, one), one) for one in found]
        return sorted(pairs, key=lambda pair: pair[0])


def inseparable(
    predicted: list[tuple[float, Candidate]], error: float, most: int = MOST
) -> list[Candidate]:
    """The best of each algorithm, where both its and the best's prediction may be off by `error`.

    `predicted` begins with the best.
    """
    first: dict[str, tuple[float, Candidate]] = {}
    for seconds, one in predicted:
        first.setdefault(one.id, (seconds, one))
    limit = predicted[0][0] * error**2
    return [one for seconds, one in first.values() if seconds <= limit][:most]


class Campaign:
    """Fills the journal."""

    def __init__(self, mpi: Mpi, wish: Wish, journal: Journal, places: dict[int, Place]) -> None:
        self.mpi, self.wish, self.journal, self.places = mpi, wish, journal, places
        self.model: Model | None = None
        self.portfolio_size = self.measured_size = 0  # candidates, over all cells
        self.measuring = 0.0  # seconds in this run
        self.wrong: set[tuple[Cell, str]] = set()  # whose results were, in this run
        self._found: dict[Cell, str] | None = None  # to be confirmed
        self._begun = time.monotonic()
        self._advance: Callable[..., None] = lambda done, of=None, what="": None

    @property
    def one_node(self) -> bool:
        return all(place.nodes == 1 for place in self.places.values())

    def _per_node(self, ranks: int) -> int:
        return self.places[ranks].placement.ranks_per_node

    def elapsed(self) -> float:
        return time.monotonic() - self._begun

    def run(self, advance: Callable[..., None]) -> None:
        """Until all is measured or the budget is used up."""
        self._advance = advance
        self._stage("model", lambda cell: dict(calibration(cell.ranks)).get(cell, []), MODEL_SHARE)
        self.fit()
        known = -1
        while self.elapsed() < self.wish.budget and known < len(self.journal.measured):
            known = len(self.journal.measured)
            begun = self.elapsed()
            self._stage("algorithms", self._algorithms, ALGORITHMS_SHARE, begun)
            self._stage("variants", self._variants, VARIANTS_SHARE, begun)
            for _ in range(TRIES):
                self._found = None
                self._stage("confirm", self._confirmation, 1.0, begun)

    def _stage(
        self, stage: str, plan_of: Callable[[Cell], list[str]], share: float, begun: float = 0.0
    ) -> None:
        """On all numbers of ranks, each with its part of what is left of the share."""
        for i, ranks in enumerate(self.wish.ranks):
            left = share * (self.wish.budget - begun) + begun - self.elapsed()
            end = self.elapsed() + left / (len(self.wish.ranks) - i)
            model = stage == "model"
            cells = [cell for cell, _ in calibration(ranks)] if model else self.cells(ranks)
            again = stage == "confirm"  # until the choice does not change
            todo = [cell for cell in cells if again or not self.journal.has(cell, stage)]
            todo = [cell for cell in todo if (cell, WHOLE) not in self.journal.failed]
            todo = todo if left > 0 else []
            plan = [(cell, words) for cell in todo if (words := plan_of(cell))]
            with suppress(OverError):
                self._measure(ranks, stage, plan, end)

    def cells(self, ranks: int) -> list[Cell]:
        return cells_of(self.wish.names, ranks, self.wish.sizes)

    def shipped(self) -> dict[Cell, str]:
        """What the shipped rules choose."""
        cells = [cell for ranks in self.wish.ranks for cell in self.cells(ranks)]
        return {cell: shipped(cell, self._per_node(cell.ranks)).words for cell in cells}

    # --- the plans

    def fit(self) -> None:
        """From what the journal has; no model where it has too little."""
        model: Model | None = None
        for ranks, place in sorted(self.places.items()):
            measured = [
                one
                for one in self.journal.measured
                if one.stage == "model" and one.cell.ranks == ranks
            ]
            samples = samples_of(measured, place.placement)
            if len(samples) < LEAST_CALLS:
                continue
            network = place.nodes > 1
            if model is None:
                model = Model(fit_pair(samples, place.cores, network), network, place.cores)
            else:
                model.parameters = fit_crowd(model.parameters, ranks, samples, place.cores, network)
            model.found[ranks] = quality(samples, model.machine())
        self.model = model

    def predictor(self, ranks: int) -> Predictor | None:
        if self.model is None:
            return None
        return Predictor(self.model.machine(), self.places[ranks].placement)

    def _sorted(self, cell: Cell, found: list[Candidate]) -> list[tuple[float, Candidate]]:
        predictor = self.predictor(cell.ranks)
        return predictor.sorted(cell, found) if predictor else [(1.0, one) for one in found]

    def _with_references(self, cell: Cell, found: list[Candidate]) -> list[str]:
        reference = shipped(cell, self._per_node(cell.ranks))
        words = [one.words for one in others(cell, reference, found) if one.algorithm]
        return [
            KEEP + one if one == reference.words != NATIVE else one
            for one in dict.fromkeys([NATIVE, reference.words, *words])
            if (cell, one) not in self.journal.failed
        ]

    def _algorithms(self, cell: Cell) -> list[str]:
        """The best variant of every algorithm that may be the fastest."""
        every = portfolio(cell, depths=(2,))
        if not every:
            return []
        error = math.inf
        if self.model and cell.ranks in self.model.found:
            error = self.model.found[cell.ranks].usual
        found = inseparable(self._sorted(cell, every), error)
        self.portfolio_size += len({one.id for one in every})
        self.measured_size += len(found)
        return self._with_references(cell, found)

    def _variants(self, cell: Cell) -> list[str]:
        """Of the algorithms that were near the best."""
        contests = self.journal.of(cell)
        times = {
            e.words: e.us for one in contests for e in one.entries if e.counts and e.words != NATIVE
        }
        if not times:
            return []
        least = min(times.values())
        near = [parsed(cell, words) for words, us in times.items() if us <= NEAR * least]
        ids = {one.id for one in near}
        new = [one for one in portfolio(cell) if one.id in ids and one.words not in times]
        if not new:
            return []
        best = sorted(near, key=lambda one: times[one.words])[:2]
        return self._with_references(
            cell, [*best, *(one for _, one in self._sorted(cell, new)[:MOST])]
        )

    def _confirmation(self, cell: Cell) -> list[str]:
        """What was found, once more, where it is not the shipped choice."""
        if self._found is None:
            chosen = choices(times_of(self.journal, self.shipped(), confirmed=False))
            self._found = {one.cell: one.words for own in chosen.values() for one in own}
        words = self._found.get(cell, SHIPPED)
        if words == SHIPPED or len(contests_with(self.journal.of(cell), words)) >= CONTESTS:
            return []
        return self._with_references(cell, [parsed(cell, words)])

    # --- measuring

    def _measure(self, ranks: int, stage: str, plan: Plan, end: float) -> None:
        left = dict(plan)
        seconds = (end - self.elapsed()) / OVERHEAD / max(len(left), 1)
        seconds = min(max(seconds, SECONDS[0]), SECONDS[1] if stage != "model" else 0.1)

        def heard(said: dict) -> None:
            one = read_measured(stage, said)
            self.journal.add(one)
            self.wrong |= {(one.cell, e.words) for e in one.entries if not e.correct}
            left.pop(one.cell, None)
            self._advance(self.elapsed(), self.wish.budget, f"{stage}: {one.cell}")
            if self.elapsed() > end:
                raise OverError

        folder = self.journal.path.parent
        while left:
            begun = time.monotonic()
            try:
                silent = measure(self.mpi, ranks, list(left.items()), seconds, folder, heard)
            finally:
                self.measuring += time.monotonic() - begun
            if not silent:
                return
            cell, words = next(iter(left.items()))
            tried = [one for one in words if one.removeprefix(KEEP) == silent != NATIVE]
            if tried:
                self.journal.fail(cell, silent)
                left[cell] = [one for one in words if one not in tried]
            else:  # nobody knows whose call it was, or the native one's
                self.journal.fail(cell, WHOLE)
                del left[cell]


def probed(mpi: Mpi, ranks: list[int]) -> dict[int, Place]:
    return {place.ranks: place for place in (probe(mpi, one) for one in ranks)}


def chosen_words(rules: _core.Rules, cell: Cell, per_node: int) -> str:
    """What the rules say of a cell, as a candidate's words."""
    choice = chosen(rules, cell, per_node)
    return candidate(choice.algorithm, choice.params).words
