# SPDX-License-Identifier: BSD-3-Clause
"""What is to be said of an outcome, in plain sentences: the verdict first."""

from ..machine import tuned_here
from ..units import time_in_words
from .outcome import Outcome
from .runs import NATIVE, STRETTO
from .statistics import Ratio

LITTLE = 0.01  # of the program's time
SHORT = 5.0  # seconds
MOSTLY = 0.5  # of the time passes before the first collective
DEAR = 0.02  # of the time is for measuring
OF_NOTE = 0.1  # of the time that tuning could save: a function that has as much is named


def verdict(outcome: Outcome) -> str:
    """One sentence."""
    if outcome.program.ratio is None:
        return "The program calls no collective function: Stretto changes nothing in it."
    return _of_times(outcome.program.ratio, "The program")


def _of_times(ratio: Ratio, what: str) -> str:
    interval = f"(95 % interval {ratio.interval})"
    if ratio.faster:
        return f"{what} is faster with Stretto: {ratio} times as fast {interval}."
    if ratio.slower:
        longer = f"{ratio.inverse} times as long (95 % interval {ratio.inverse.interval})"
        return f"{what} is slower with Stretto: it takes {longer}."
    return f"{what} shows no difference beyond noise: {ratio} times as fast {interval}."


def percent(share: float) -> str:
    """Two digits, and no more than tell something."""
    if share < 0.001:
        return "less than 0.1 %"
    return f"{100 * share:.2g} %" if share < 0.995 else "100 %"


def _collectives(outcome: Outcome) -> list[str]:
    part = outcome.collectives
    if part is None or outcome.program.native <= 0:
        return []
    share = min(part.native / outcome.program.native, 1.0)
    said = f"Collectives take {percent(share)} of its time without Stretto"
    if share < 0.005:
        said += ", so nothing can be gained in them"
    elif share < 0.9:
        said += f": without any it would be {1 / (1 - share):.3g} times as fast, not more"
    found = [said + "."]
    if part.ratio and (part.ratio.faster or part.ratio.slower):
        how = "less" if part.ratio.faster else "more"
        found.append(
            f"In collectives it spends {how} time with Stretto: {time_in_words(part.stretto)} "
            f"instead of {time_in_words(part.native)} per rank, "
            f"{part.ratio} times as fast (95 % interval {part.ratio.interval})."
        )
    elif part.ratio:
        found.append(_of_times(part.ratio, "Their time"))
    return found


def could_save(outcome: Outcome) -> float | None:
    """The share of the time with Stretto that no faster algorithm can save more than."""
    return min(sum(outcome.moving.values()), 1.0) if outcome.moving else None


def _tuning(outcome: Outcome) -> list[str]:
    share = could_save(outcome)
    if share is None:
        return []
    most = f"With Stretto {percent(share)} of its time are collectives that do not just wait for"
    if share < LITTLE:
        return [f"{most} late ranks: tuning could save no more than that."]
    whole = sum(outcome.moving.values())
    names = [name for name, spent in outcome.moving.items() if spent >= OF_NOTE * whole]
    tunable = [name for name in names if not name.startswith("neighbor")]
    said = f"{most} late ranks, the most that tuning could save"
    if path := tuned_here(".rules", "tuned.rules"):
        return [f"{said}; rules tuned on this machine are there already: {path}."]
    if not tunable or not outcome.ranks or outcome.ranks < 2:
        return [f"{said}."]
    command = f"stretto tune --ranks {outcome.ranks} --collectives {','.join(tunable)}"
    return [f"{said}: `{command}` tries."]


def doubts(outcome: Outcome) -> list[str]:
    """Why the times are less certain than they look."""
    found = []
    whole, start = outcome.program.native, outcome.start
    if outcome.repeat and start and whole < SHORT and start > MOSTLY * whole:
        found.append(
            f"It is short: {time_in_words(start)} of {time_in_words(whole)} pass before its first "
            "collective, mostly in the start of its processes; a longer run says more."
        )
    load = outcome.load
    if load and load.disturbs(outcome.ranks or 1):
        found.append(
            f"The machine was busy: in some runs {load}; times are less certain "
            "(`top` shows whose processes)."
        )
    return found


def measuring(outcome: Outcome) -> list[str]:
    """What timing the calls costs."""
    if not outcome.timing_ns or not outcome.measuring:
        return []
    native, stretto = outcome.measuring[NATIVE], outcome.measuring[STRETTO]
    said = f"Timing every call takes {percent(native)} of the time without Stretto and "
    said += f"{percent(stretto)} with it"
    if max(native, stretto) > DEAR:
        said += "; --plain measures the program alone, without that"
    return [said + "."]


def sentences(outcome: Outcome) -> list[str]:
    """All that is to be said, the verdict first."""
    return [
        verdict(outcome),
        *_collectives(outcome),
        *_tuning(outcome),
        *doubts(outcome),
        *measuring(outcome),
        *([f"Standard output: {outcome.output.words}."] if outcome.output else []),
    ]
