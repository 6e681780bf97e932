# SPDX-License-Identifier: BSD-3-Clause
"""Calibrates, predicts, measures what the prediction cannot tell apart; as the budget lasts."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

from ... import _core
from ...launch.mpi import Mpi
from ...measure import busy
from ...measure.points import BACK_TO_BACK
from ...measure.session import Request, TuningSession
from .choice import CONFIRM, choices, times_of
from .journal import Journal, read_measured
from .learned import Learned, learned_here
from .model import Parameters, Quality, calibration, fit_crowd, fit_pair, quality, samples_of
from .paired_benchmark import Place, Plan, measure, probe
from .points import (
    NATIVE,
    Candidate,
    Point,
    Predictor,
    points_of,
    portfolio,
    shipped,
    ways_to_copy,
)
from .residual_correction import ResidualCorrection
from .search import KEEP, Search, levels

MODEL_SHARE = 0.15  # of the budget
FIRST_SHARE = 0.45  # what one paired benchmark of every point may end at
SEARCH_SHARE = 0.7  # what the search may end at; the rest confirms what was found
SECONDS = (0.02, 1.0)  # of a paired benchmark
WHOLE = "all candidates"  # given up together
PROCESSES = 3  # in which a choice is confirmed, as the budget lasts: where memory lies matters
TRIES = 3  # what was not confirmed makes way for the next best
LEAST_CALLS = 12  # a fit from fewer means nothing
OVERHEAD = 1.3  # a paired benchmark takes so many times its seconds
LOOK_EVERY = 20.0  # seconds: how busy the machine is


Task = tuple[Point, str]  # a point in a mode


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


class OwnSession(TuningSession):
    """Fills the journal."""

    def __init__(
        self,
        mpi: Mpi,
        request: Request,
        journal: Journal,
        places: dict[int, Place],
        modes: Sequence[str] = (BACK_TO_BACK,),
        say: Callable[[str], None] = lambda words: None,
    ) -> None:
        super().__init__(request)
        self._note = say
        self.mpi, self.journal, self.places, self.modes = mpi, journal, places, modes
        self.models: dict[bool, Model] = {}  # of ranks on one node; True: on several
        self._predictors: dict[int, Predictor] = {}
        self.wrong: set[tuple[Point, str]] = set()  # whose results were, in this run
        self._looked, self._worst = float("-inf"), 0.0  # when, and the cores that others used

    @property
    def apart(self) -> list[int]:
        """The numbers of ranks that are on several nodes: a launcher may put few on one."""
        return [ranks for ranks, place in self.places.items() if place.nodes > 1]

    @property
    def cores(self) -> int:
        """Of a node."""
        return next(iter(self.places.values())).cores

    def copies(self, ranks: int) -> tuple[_core.Copy, ...]:
        """How they may copy long messages, beside staging them."""
        return () if ranks in self.apart else ways_to_copy(ranks, self.cores)

    def run(self, advance: Callable[..., None]) -> None:
        """Until all is measured or the budget is used up."""
        self.begin(advance)
        self._calibrate()
        self.fit()
        known = -1
        while self.left() > 0 and known < len(self.journal.measured):
            known = len(self.journal.measured)
            self._search()
            for times in range(1, PROCESSES + 1):
                for _ in range(TRIES):
                    self._confirm(times)

    def _calibrate(self) -> None:
        end = MODEL_SHARE * self.request.budget
        todo = {
            ranks: [
                (point, BACK_TO_BACK, words)
                for point, words in calibration(ranks)
                if not self.journal.has(point, "model")
            ]
            for ranks in self.request.ranks
        }
        for ranks, plan in todo.items():
            waiting = sum(len(own) for other, own in todo.items() if other >= ranks)
            self._measure(ranks, "model", plan, end, waiting)

    def _search(self) -> None:
        """The points of few sizes first: from them the others are told."""
        begin, left = self.elapsed(), self.left()
        every = self._tasks(self._shipped)
        for sizes in levels(self.request.sizes):
            new = [task for task in every if not self.journal.has(task[0], "search", task[1])]
            wanted = {0, *(max(size, 8) for size in sizes)}
            own = [task for task in new if task[0].asked in wanted]
            self._stage("search", Search.first, own, begin + FIRST_SHARE * left, waiting=len(new))
        self._stage("search", Search.more, every, begin + SEARCH_SHARE * left)

    def _tasks(self, points: Iterable[Point]) -> list[Task]:
        """In all modes: those of a point side by side, as only what is timed in all can serve."""
        return [(point, mode) for point in points for mode in self.modes]

    def _confirm(self, times: int) -> None:
        found = times_of(self.journal, self.shipped(), self.modes, confirmed=False)
        chosen = {one.point: one.words for own in choices(found).values() for one in own}

        def again(search: Search, point: Point, mode: str) -> list[str]:
            return search.confirmation(point, mode, chosen[point], found[point].us, times)

        self._stage(CONFIRM, again, self._tasks(chosen), self.request.budget)

    def _stage(
        self,
        stage: str,
        plan_of: Callable[[Search, Point, str], list[str]],
        tasks: list[Task],
        end: float,
        waiting: int = 0,
    ) -> None:
        """On one number of ranks after the other, each told from what those before have found.

        `waiting` paired benchmarks of all of them have the time until the `end`; if that is not
        known, each number of ranks has as large a part of it.
        """
        of_ranks = {point.ranks for point, _ in tasks}
        numbers = [ranks for ranks in self.request.ranks if ranks in of_ranks]
        for left in range(len(numbers), 0, -1):
            ranks, seconds = numbers[-left], end - self.elapsed()
            if seconds < 0:
                return
            search = self._next()
            own = [task for task in tasks if task[0].ranks == ranks]
            own = [task for task in own if (task[0], WHOLE) not in self.journal.failed]
            plan = [(*task, words) for task in own if (words := plan_of(search, *task))]
            done = sum(self.journal.has(point, stage, mode) for point, mode in tasks)
            own_end = end if waiting else self.elapsed() + seconds / left
            self._measure(ranks, stage, plan, own_end, max(waiting - done, 0))

    def _next(self) -> Search:
        correction, known = self.correction(self.predictor), self.learned.candidate
        return Search(self.journal, correction, self._shipped, self.copies, known)

    @cached_property
    def learned(self) -> Learned:
        machine = next(iter(self.places.values())).title
        return learned_here(machine, self._shipped, self.places, self._note)

    def correction(self, predictor: Callable[[int], Predictor | None]) -> ResidualCorrection:
        """Of what it predicts, by all that was measured in one of the modes, back to back if it is
        among them: a call takes longer in the other."""
        mode = BACK_TO_BACK if BACK_TO_BACK in self.modes else self.modes[0]
        measured = [
            one
            for one in self.journal.measured
            if one.point.ranks in self.places and one.mode == mode
        ]
        return ResidualCorrection(predictor, measured)

    def points(self, ranks: int) -> list[Point]:
        return points_of(self.request.names, ranks, self.request.sizes)

    def shipped(self) -> dict[Point, str]:
        """What the shipped rules choose."""
        return {point: one.words for point, one in self._shipped.items()}

    @cached_property
    def _shipped(self) -> dict[Point, Candidate]:
        return {
            point: shipped(point, place.placement.ranks_per_node, place.cores)
            for ranks, place in ((n, self.places[n]) for n in self.request.ranks)
            for point in self.points(ranks)
        }

    def measure_also(self, stage: str, wanted: dict[Point, list[Candidate]]) -> None:
        """What another module wants to know, in what is left of the budget."""

        def plan_of(search: Search, point: Point, mode: str) -> list[str]:
            return search.with_references(point, wanted[point])

        todo = [
            task for task in self._tasks(wanted) if not self.journal.has(task[0], stage, task[1])
        ]
        self._stage(stage, plan_of, todo, self.request.budget)

    def fit(self) -> None:
        """From what the journal has; no model where it has too little."""
        models: dict[bool, Model] = {}
        for ranks, place in sorted(self.places.items()):
            measured = [
                one
                for one in self.journal.measured
                if one.stage == "model" and one.point.ranks == ranks
            ]
            samples = samples_of(measured, place.placement)
            if len(samples) < LEAST_CALLS:
                continue
            network = ranks in self.apart
            if model := models.get(network):
                model.parameters = fit_crowd(model.parameters, ranks, samples, place.cores, network)
            else:
                model = Model(fit_pair(samples, place.cores, network), network, place.cores)
                models[network] = model
            model.found[ranks] = quality(samples, model.machine())
        self.models, self._predictors = models, {}

    def model_of(self, ranks: int) -> Model | None:
        """Of ranks that are on as many nodes, one or several; of the others if there is no such."""
        return self.models.get(ranks in self.apart) or next(iter(self.models.values()), None)

    @property
    def model(self) -> Model | None:
        """Of the most ranks."""
        return self.model_of(max(self.places))

    @property
    def qualities(self) -> dict[int, Quality]:
        """Of what the models predict, by ranks."""
        return dict(sorted(pair for one in self.models.values() for pair in one.found.items()))

    def predictor(self, ranks: int) -> Predictor | None:
        """None without a model. It is kept: it has simulators."""
        model = self.model_of(ranks)
        if model and ranks not in self._predictors:
            placement = self.places[ranks].placement
            self._predictors[ranks] = Predictor(model.machine(), placement)
        return self._predictors.get(ranks)

    def candidates(self) -> tuple[int, int]:
        """Of all points that were measured: how many there are, and how many were timed."""
        timed = {
            point: {e.words for one in self.journal.of(point) for e in one.entries}
            for point in self._shipped
        }
        every = sum(
            len(portfolio(point, copies=self.copies(point.ranks)))
            for point, words in timed.items()
            if words
        )
        return every, sum(len(words - {NATIVE}) for words in timed.values())

    def look(self, say: Callable[[busy.Load], None] = lambda load: None) -> None:
        """Now and then: says and keeps what others use of the cores, if it disturbs and is more
        than ever in this run."""
        here = [ranks for ranks in self.request.ranks if ranks not in self.apart]
        if not here or self.mpi.launcher:
            return  # ranks run on nodes of which this one knows nothing
        if time.monotonic() - self._looked < LOOK_EVERY:
            return
        found, self._looked = busy.look(), time.monotonic()
        if found and found.disturbs(max(here)) and found.others > self._worst:
            self._worst = found.others
            self.journal.disturbed(found)
            say(found)

    # --- measuring

    def _measure(self, ranks: int, stage: str, plan: Plan, end: float, waiting: int) -> None:
        left = {(point, mode): words for point, mode, words in plan}
        seconds = (end - self.elapsed()) / OVERHEAD / max(waiting, len(left), 1)
        seconds = min(max(seconds, SECONDS[0]), SECONDS[1] if stage != "model" else 0.1)
        with suppress(OverError):
            self._hold(ranks, stage, left, seconds, end)

    def _hold(
        self, ranks: int, stage: str, left: dict[Task, list[str]], seconds: float, end: float
    ) -> None:
        def heard(said: dict) -> None:
            one = read_measured(stage, said)
            self.journal.add(one)
            self.wrong |= {(one.point, e.words) for e in one.entries if not e.correct}
            left.pop((one.point, one.mode), None)
            self.say(f"{stage}: {one.point}")
            if self.elapsed() > end:
                raise OverError

        folder = self.journal.path.parent
        while left:
            self.look()
            plan = [(*task, words) for task, words in left.items()]
            silent = measure(self.mpi, ranks, plan, seconds, folder, heard)
            if not silent:
                return
            (point, _), words = next(iter(left.items()))
            same = [task for task in left if task[0] == point]
            tried = [one for one in words if one.removeprefix(KEEP) == silent != NATIVE]
            if tried:
                self.journal.fail(point, silent)
                for task in same:
                    left[task] = [one for one in left[task] if one not in tried]
            else:  # nobody knows whose call it was, or the native one's
                self.journal.fail(point, WHOLE)
                for task in same:
                    del left[task]


def probed(mpi: Mpi, ranks: list[int]) -> dict[int, Place]:
    return {place.ranks: place for place in (probe(mpi, one) for one in ranks)}
