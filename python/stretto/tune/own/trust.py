# SPDX-License-Identifier: BSD-3-Clause
"""Which choices rest on no more than noise: of a busy machine, or of more ranks than cores."""

import math
from collections.abc import Sequence
from itertools import groupby
from statistics import fmean

from ...measure.busy import Load
from ...measure.points import BACK_TO_BACK
from ...units import size_in_words
from .choice import CONFIRM, SHIPPED, Choice, variance_of, variance_of_all
from .journal import Journal, Measured
from .points import NATIVE, Point

BEYOND = 2.0  # standard errors that a gain must have
COARSE = math.log(1.1)  # an error of more may hide a better choice


def gain_of(benchmarks: list[Measured], words: str, reference: str) -> tuple[float, float] | None:
    """What a candidate gains on another in the mean over the modes, as a logarithm, and how far
    that may be off."""
    modes = dict.fromkeys(one.mode for one in benchmarks)
    by_mode = [[one for one in benchmarks if one.mode == mode] for mode in modes]
    found = [gain for own in by_mode if (gain := _gain_in_a_mode(own, words, reference))]
    if not found:
        return None
    return fmean(gain for gain, _ in found), math.hypot(*(off for _, off in found)) / len(found)


def _gain_in_a_mode(
    benchmarks: list[Measured], words: str, reference: str
) -> tuple[float, float] | None:
    pairs = []
    for one in benchmarks:
        timed = {each.words: each for each in one.entries if each.counts and each.us > 0}
        if words in timed and reference in timed:
            pairs.append((one.stage == CONFIRM, timed[words], timed[reference]))
    pairs = [pair for pair in pairs if pair[0]] or pairs  # confirmed: that counts alone
    if not pairs:
        return None
    gains = [math.log(other.us / own.us) for _, own, other in pairs]
    each = [variance_of(own) + variance_of(other) for _, own, other in pairs]
    return fmean(gains), BEYOND * math.sqrt(variance_of_all(gains, each))


def _within_noise(benchmarks: list[Measured], words: str, shipped: str) -> bool:
    if words != SHIPPED:
        found = gain_of(benchmarks, words, shipped)
        return found is not None and found[0] < found[1]
    # The shipped choice stays where nothing better was found: was it hidden?
    others = {each.words for one in benchmarks for each in one.entries} - {shipped, NATIVE}
    gains = [gain for other in others if (gain := gain_of(benchmarks, other, shipped))]
    return any(error > COARSE and gain > -error / BEYOND for gain, error in gains)


def within_noise(
    journal: Journal,
    chosen: dict[tuple[str, int], list[Choice]],
    shipped: dict[Point, str],
    modes: Sequence[str] = (BACK_TO_BACK,),
) -> set[Point]:
    """The points whose choice another measurement could overturn."""
    return {
        one.point
        for own in chosen.values()
        for one in own
        if _within_noise(
            [each for mode in modes for each in journal.of(one.point, mode)],
            one.words,
            shipped[one.point],
        )
    }


def _spans(asked: list[int], doubtful: set[int]) -> list[str]:
    """`64K..1M`: neighbours of those that were measured."""
    spans = [[*run] for doubted, run in groupby(asked, doubtful.__contains__) if doubted]
    ends = [dict.fromkeys((size_in_words(one[0]), size_in_words(one[-1]))) for one in spans]
    return ["..".join(one) for one in ends]


def in_words(
    chosen: dict[tuple[str, int], list[Choice]], doubtful: set[Point], load: Load | None
) -> list[str]:
    """For people, in a file and on the terminal; nothing where all can be trusted."""
    lines = [f"measured on a busy machine: {load}"] if load else []
    for (name, ranks), own in chosen.items():
        sizes = {one.point.asked for one in own if one.point in doubtful}
        spans = _spans([one.point.asked for one in own], sizes)
        if spans:
            where = "" if name == "barrier" else " for " + ", ".join(spans)
            lines.append(f"{name}, {ranks} ranks: choices{where} are within noise")
    return lines
