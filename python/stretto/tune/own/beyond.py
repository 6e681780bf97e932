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
from .campaign import Campaign, Predictor
from .cells import Candidate, Cell, candidate, shipped
from .choice import Choice, Times, words_of
from .corrected import Corrected, Estimate, Like, likes
from .predicted import candidates, promising
from .rules import Where, lines_of, spans

STAGE = "beyond"
SHARE = 0.15  # of the budget, for what is measured to correct predictions
DEPTHS = (2,)
MOST = 12  # candidates of a contest
WARY = 0.5  # by this power of its uncertainty a choice must beat the shipped one
MOST_RANKS = 1024  # more take hours to predict


def rank_counts(known: int, up_to: int) -> dict[bool, list[int]]:
    """More than `known`: the powers of two (True), and odd numbers that stand for all others."""
    powers = [1 << k for k in range(1, up_to.bit_length())]
    found = {
        True: [n for n in powers if known < n <= up_to],
        False: [n for n in (3 * power // 2 + 1 for power in powers) if known < n <= up_to],
    }
    own = found[up_to & (up_to - 1) == 0]
    if up_to not in own:
        own.append(up_to)
    return found


def flat(cell: Cell, one: Candidate) -> Candidate:
    """A radix of all ranks as one that is theirs on more ranks, too."""
    assert one.algorithm
    own = one.params
    if not one.algorithm.parameter or one.algorithm.parameter.name != "radix":
        return one
    if own.value < cell.ranks:
        return one
    params = _core.Params(segment=own.segment, depth=own.depth, value=MOST_RANKS)
    return candidate(one.algorithm, params)


def _doubt(own: Estimate) -> float:
    return own.factor**WARY if own.like == Like.SAME else own.factor


class Beyond:
    """Raises Error where `up_to` is no more than was measured, or too many to be predicted."""

    def __init__(self, campaign: Campaign, up_to: int) -> None:
        self.campaign = campaign
        self.known = max(campaign.wish.ranks)
        if not self.known < up_to <= MOST_RANKS:
            hint = f"give more than {self.known}, {MOST_RANKS} at most"
            raise Error(f"--up-to: {up_to} ranks, and {self.known} are measured", hint)
        self.counts = rank_counts(self.known, up_to)
        place = campaign.places[self.known]
        self._one_node, self._per_node = place.nodes == 1, place.placement.ranks_per_node
        self._cores = place.cores

    def run(self, advance: Callable[..., None]) -> None:
        """The campaign, with a part of its budget kept for what corrects the predictions."""
        whole = self.campaign.wish
        self.campaign.wish = replace(whole, budget=(1 - SHARE) * whole.budget)
        self.campaign.run(advance)
        self.campaign.wish = whole
        if self.campaign.model and self.campaign.elapsed() < whole.budget:
            self.campaign.measure_also(STAGE, self.wanted())

    def lines(self, advance: Callable[..., None] = lambda *_: None) -> list[str]:
        """The rules; none without a model."""
        if self.campaign.model is None:
            return []
        corrected, lines = self._corrected(), []
        for done, name in enumerate(self.campaign.wish.names):
            advance(done, len(self.campaign.wish.names), f"{STAGE}: {name}")
            for power, counts in self.counts.items():
                lines += self._lines(corrected, name, power, counts)
        return lines

    def wanted(self) -> dict[Cell, list[Candidate]]:
        """What may be the fastest on more ranks, and is not known on those that are measured."""
        corrected = self._corrected()
        found: dict[Cell, dict[str, Candidate]] = defaultdict(dict)
        most = [counts[-1] for counts in self.counts.values() if counts]
        for cell in (cell for ranks in most for cell in self.campaign.cells(ranks)):
            if self.campaign.elapsed() > self.campaign.wish.budget:
                break
            pairs = self._estimates(corrected, cell)
            for own, one in pairs:
                if own.like == Like.SAME or not all(own.may_beat(other) for other, _ in pairs):
                    continue
                for small, like in likes(cell, one, self.known):
                    found[self._nearest(small)][like.words] = like
        return {cell: list(own.values())[:MOST] for cell, own in found.items()}

    def _nearest(self, cell: Cell) -> Cell:
        """With a size that is measured."""
        every = [one for one in self.campaign.cells(self.known) if one.name == cell.name]
        return min(every, key=lambda one: abs(math.log2((one.asked + 1) / (cell.asked + 1))))

    def _predictor(self, ranks: int) -> Predictor:
        assert self.campaign.model
        if ranks in self.campaign.places:
            placement = self.campaign.places[ranks].placement
        else:
            placement = _core.Placement(ranks if self._one_node else self._per_node)
        return Predictor(self.campaign.model.machine(), placement)

    def _corrected(self) -> Corrected:
        measured = [
            one for one in self.campaign.journal.measured if one.cell.ranks in self.campaign.places
        ]
        return Corrected(self._predictor, measured)

    def _estimates(self, corrected: Corrected, cell: Cell) -> list[tuple[Estimate, Candidate]]:
        """The fastest first."""
        found: dict[str, Estimate] = {}

        def seconds(one: Candidate) -> float:
            found[one.words] = corrected.estimate(cell, one)
            return found[one.words].seconds

        pairs = [(found[one.words], one) for one, _ in promising(candidates(cell, DEPTHS), seconds)]
        return sorted(pairs, key=lambda pair: pair[0].seconds)

    def _times(self, corrected: Corrected, cell: Cell) -> Times:
        """In µs; all but the shipped choice's with something for what is uncertain."""
        per_node = cell.ranks if self._one_node else self._per_node
        reference = shipped(cell, per_node, self._cores)
        us = {
            flat(cell, one).words: 1e6 * own.seconds * _doubt(own)
            for own, one in self._estimates(corrected, cell)
        }
        if reference.algorithm:
            us[reference.words] = 1e6 * corrected.seconds(cell, reference)
        return Times(us, reference.words)

    def _lines(self, corrected: Corrected, name: str, power: bool, counts: list[int]) -> list[str]:
        cells = {n: [one for one in self.campaign.cells(n) if one.name == name] for n in counts}
        times = {n: [self._times(corrected, cell) for cell in own] for n, own in cells.items()}
        times = {n: own for n, own in times.items() if own and all(t.us for t in own)}
        chosen = {
            n: [
                Choice(cell, words, t.of(words), None, t.of(""))
                for cell, t, words in zip(cells[n], times[n], own, strict=True)
            ]
            for n, own in words_of(times).items()
        }
        where = Where(
            self._one_node, 0 if self._one_node else self._per_node, power,
            f"predicted from {self.known} ranks: ",
        )  # fmt: skip
        return lines_of(chosen, spans(counts, self.known + 1, None), where)
