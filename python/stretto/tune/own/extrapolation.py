# SPDX-License-Identifier: BSD-3-Clause
"""Rules for more ranks than were measured: what the model predicts for them, corrected.

The ranks are placed as the largest number that was measured: all on one node, or as many on each.
"""

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

from ... import _core
from ...errors import Error
from .choice import Choice, Times, words_of
from .points import Candidate, Point, Predictor, shipped
from .predicted import candidates, promising
from .residual_correction import Estimate, Nearness, ResidualCorrection, nearest_measured
from .rules import Where, lines_of, spans
from .session import OwnSession

STAGE = "beyond"
SHARE = 0.15  # of the budget, for what is measured to correct predictions
DEPTHS = (2,)
MOST = 12  # candidates of a paired benchmark
SAFETY_MARGIN = 0.5  # by this power of its uncertainty a choice must beat the shipped one
MOST_RANKS = 1024  # more take hours to predict


def rank_counts(known: int, up_to: int) -> dict[bool, list[int]]:
    """More than `known`: the powers of two (True), and odd numbers that stand for all others."""
    powers = [1 << k for k in range(1, up_to.bit_length())]
    found = {
        True: [n for n in powers if known < n <= up_to],
        False: [n for n in (3 * power // 2 | 1 for power in powers) if known < n <= up_to],
    }
    own = found[up_to & (up_to - 1) == 0]
    if up_to not in own:
        own.append(up_to)
    return found


def flat(point: Point, one: Candidate) -> Candidate:
    """A radix of all ranks as one that is theirs on more ranks, too."""
    own = one.algorithm.parameter if one.algorithm else None
    is_flat = own and own.name == "radix" and one.params.value >= point.ranks
    return one.changed(value=MOST_RANKS) if is_flat else one


def _doubt(own: Estimate) -> float:
    return own.factor**SAFETY_MARGIN if own.nearness == Nearness.SAME else own.factor


class Extrapolation:
    """Raises Error where `up_to` is no more than was measured, or too many to be predicted."""

    def __init__(self, session: OwnSession, up_to: int) -> None:
        self.session = session
        self.known = max(session.request.ranks)
        if not self.known < up_to <= MOST_RANKS:
            hint = f"give more than {self.known}, {MOST_RANKS} at most"
            raise Error(f"--up-to: {up_to} ranks, and {self.known} are measured", hint)
        self.counts = rank_counts(self.known, up_to)
        place = session.places[self.known]
        self._one_node, self._per_node = place.nodes == 1, place.placement.ranks_per_node
        self._cores = place.cores

    def run(self, advance: Callable[..., None]) -> None:
        """The session, with a part of its budget kept for what corrects the predictions."""
        whole = self.session.request
        self.session.request = replace(whole, budget=(1 - SHARE) * whole.budget)
        self.session.run(advance)
        self.session.request = whole
        if self.session.model and self.session.left() > 0:
            self.session.measure_also(STAGE, self.wanted())

    def lines(self, advance: Callable[..., None] = lambda *_: None) -> list[str]:
        """The rules; none without a model."""
        if self.session.model is None:
            return []
        correction, lines = self.session.correction(self._predictor), []
        for done, name in enumerate(self.session.request.names):
            advance(done, len(self.session.request.names), f"{STAGE}: {name}")
            for power, counts in self.counts.items():
                lines += self._lines(correction, name, power, counts)
        return lines

    def wanted(self) -> dict[Point, list[Candidate]]:
        """What may be the fastest on more ranks, and is not known on those that are measured."""
        correction = self.session.correction(self._predictor)
        found: dict[Point, dict[str, Candidate]] = defaultdict(dict)
        most = [counts[-1] for counts in self.counts.values() if counts]
        for point in (point for ranks in most for point in self.session.points(ranks)):
            if self.session.left() < 0:
                break
            pairs = self._estimates(correction, point)
            for own, one in pairs:
                if own.nearness != Nearness.SAME and all(own.may_beat(o) for o, _ in pairs):
                    for small, near in nearest_measured(point, one, self.known):
                        found[self._with_measured_size(small)][near.words] = near
        return {point: list(own.values())[:MOST] for point, own in found.items()}

    def _with_measured_size(self, point: Point) -> Point:
        """With the nearest size that is measured."""
        every = [one for one in self.session.points(self.known) if one.name == point.name]
        return min(every, key=lambda one: abs(math.log2((one.asked + 1) / (point.asked + 1))))

    def _predictor(self, ranks: int) -> Predictor | None:
        model = self.session.model
        if ranks in self.session.places or model is None:
            return self.session.predictor(ranks)
        placement = _core.Placement(ranks if self._one_node else self._per_node)
        return Predictor(model.machine(), placement)

    def _estimates(
        self, correction: ResidualCorrection, point: Point
    ) -> list[tuple[Estimate, Candidate]]:
        """The fastest first."""
        found: dict[str, Estimate] = {}

        def seconds(one: Candidate) -> float:
            found[one.words] = correction.estimate(point, one)
            return found[one.words].seconds

        pairs = [
            (found[one.words], one) for one, _ in promising(candidates(point, DEPTHS), seconds)
        ]
        return sorted(pairs, key=lambda pair: pair[0].seconds)

    def _times(self, correction: ResidualCorrection, point: Point) -> Times:
        """In µs; all but the shipped choice's with something for what is uncertain."""
        per_node = point.ranks if self._one_node else self._per_node
        reference = shipped(point, per_node, self._cores)
        us = {
            flat(point, one).words: 1e6 * own.seconds * _doubt(own)
            for own, one in self._estimates(correction, point)
        }
        if reference.algorithm:
            us[reference.words] = 1e6 * correction.seconds(point, reference)
        return Times(us, reference.words)

    def _lines(
        self, correction: ResidualCorrection, name: str, power: bool, counts: list[int]
    ) -> list[str]:
        points = {n: [one for one in self.session.points(n) if one.name == name] for n in counts}
        times = {n: [self._times(correction, point) for point in own] for n, own in points.items()}
        times = {n: own for n, own in times.items() if own and all(t.us for t in own)}
        chosen = {
            n: [
                Choice(point, words, t.of(words), None, t.of(""))
                for point, t, words in zip(points[n], times[n], own, strict=True)
            ]
            for n, own in words_of(times).items()
        }
        where = Where(
            self._one_node, 0 if self._one_node else self._per_node, power,
            f"predicted from {self.known} ranks: ",
        )  # fmt: skip
        return lines_of(chosen, spans(counts, self.known + 1, None), where)
