# SPDX-License-Identifier: BSD-3-Clause
"""Makes docs/results/nonblocking.md of what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING

from stretto.measure.overlap import LIBRARIES, overlap_of
from stretto.measure.points import FORMS
from stretto.peers.state import machine_facts
from stretto.units import size_in_words

if TYPE_CHECKING:
    from stretto.measure.overlap import Parts

    from measure import Found, Point, Side

OWN = {form: ("stretto", form) for form in FORMS}
NATIVE = {form: ("native", form) for form in OWN}
LEAST_OVERLAP = 0.005  # less is printed as nothing

HEAD = """\
<!-- Written by benchmarks/nonblocking/run. -->

# What nonblocking and persistent collectives take

How long do nonblocking and persistent collectives take, compared with blocking ones and with the
MPI's own? "I… + `MPI_Wait`" stands for a nonblocking call such as `MPI_Iallreduce` and its wait.
{finding}

`benchmarks/nonblocking/run` repeats this. Measured on {day}, 2 ranks: {mpis}; Stretto {version}.

Machine: {cpu}, {cores} cores, {system}; load average at the beginning {load:.1f}.

The driver of `stretto bench` makes all calls in the same processes: each function, by the MPI and
by Stretto, as a blocking call, as I… + `MPI_Wait`, and as `MPI_Start` + `MPI_Wait`. Blocks of these
six take turns in rounds, and each round begins with another one. A time is the median over
{rounds} or more rounds of the mean time of a call on the slowest rank. A ratio is the median of the
ratios within a round. All results are compared with the native ones. {passed}

In bcast, reduce, allreduce, scan, exscan and reduce_scatter, bytes are those of the vector (all
ranks' parts together, at least one element each); in the others, those of one part. A barrier has
no bytes and counts once.

The cores are shared with other programs. Blocks in which a rank lost its core do not count, and a
point is measured up to four times as long to get enough other blocks; {interrupted} of the blocks
were lost. If fewer than {enough} rounds are left, all count, and the cell is marked ~ and not
judged. The quartiles of what counts are, in the median over all times, {spread} of a time apart.

"""

BROKEN = """\
Persistent collectives of {names} cannot be measured: even without Stretto, those of 2021.18 give
wrong results (gather and scatter send what the buffer held when the request was made) or crash
(allgather).

"""

NUMBERS = """\
## Numbers to reach

These numbers are for sizes up to 1 KiB. Means are geometric, over all functions and sizes. The
other numbers are those of the worst point, followed in brackets by how many points miss. The bounds
allow for measurement errors of 5 %.

"""

OVERLAP = """\
## Overlap without a test

This is measured by `stretto bench --overlap`, in the same way as by OSU's benchmarks and IMB-NBC:
first I… + `MPI_Wait` alone, then with a computation of the same length between the two, which makes
no MPI calls. Overlap is the share of the call that the computation hides: 1 - (both - computation
alone) / call alone, from 0 to 1. "Thread" is with `STRETTO_PROGRESS=thread`. A cell has the
overlap, then the call's own time in µs.

A computation needs all of its core, and here each core has a rank. A thread that moves data
therefore takes the time that it needs from the computation. For a thread to overlap, cores must be
free.

"""


@dataclass(frozen=True)
class Goal:
    """A ratio that has to be reached, in the mean or in every point."""

    words: str
    over: Side
    under: Side
    target: float
    at_most: bool
    mean: bool = False

    def value(self, found: Found) -> float:
        if self.mean:
            return found.mean(self.over, self.under)
        worst = max if self.at_most else min
        return worst(
            (found.ratio(one, self.over, self.under) for one in self.judged(found)), default=nan
        )

    def judged(self, found: Found) -> list[Point]:
        return [one for one in found.points if found.judged(one, self.over, self.under)]

    def reached(self, value: float) -> bool:
        value = round(value, 2)
        return value <= self.target if self.at_most else value >= self.target

    def misses(self, found: Found) -> list[tuple[float, Point]]:
        """The worst first; of a mean none."""
        if not found.has(self.over, self.under):
            return []
        ratios = [(found.ratio(one, self.over, self.under), one) for one in self.judged(found)]
        missed = [each for each in ratios if not self.mean and not self.reached(each[0])]
        return sorted(missed, reverse=self.at_most)


IMMEDIATE = "I… + Wait against native I… + Wait"
GOALS = (
    Goal(
        "I… + Wait over Stretto's own blocking call",
        OWN["nonblocking"], OWN["blocking"], 1.3, True,
    ),
    Goal(f"{IMMEDIATE}, mean", NATIVE["nonblocking"], OWN["nonblocking"], 2.0, False, mean=True),
    Goal(f"{IMMEDIATE}, slowest point", NATIVE["nonblocking"], OWN["nonblocking"], 0.95, False),
    Goal(
        "Start + Wait over Stretto's own blocking call",
        OWN["persistent"], OWN["blocking"], 1.05, True,
    ),
    Goal(
        "Start + Wait against native Start + Wait, slowest point",
        NATIVE["persistent"], OWN["persistent"], 0.95, False,
    ),
)  # fmt: skip


def table(head: list[str], lines: list[list[str]]) -> str:
    rows = [head, ["---", *["---:"] * (len(head) - 1)], *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def microseconds(value: float) -> str:
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def name_of(point: Point) -> str:
    function, size = point
    return f"{function}, {size_in_words(size)}" if size else function


def goals_table(results: list[Found]) -> str:
    lines = []
    for goal in GOALS:
        cells = []
        for found in results:
            if not found.has(goal.over, goal.under):
                cells.append("")
                continue
            value, missed = goal.value(found), len(goal.misses(found))
            if isnan(value):
                cells.append("not judged")
                continue
            said = "" if goal.reached(value) else " **missed**"
            cells.append(f"{value:.2f}{said}" + (f" ({missed})" if missed else ""))
        bound = f"{'at most' if goal.at_most else 'at least'} {goal.target:.2f}"
        lines.append([goal.words, bound, *cells])
    return table(["number", "to reach", *(found.mpi.name for found in results)], lines)


def misses(results: list[Found]) -> str:
    lines = []
    for goal in GOALS:
        for found in results:
            missed = [f"{name_of(point)} ({ratio:.2f})" for ratio, point in goal.misses(found)]
            if missed:
                lines.append(f"- {goal.words}, {found.mpi.name}: {'; '.join(missed)}\n")
    return "".join(lines) or "None.\n"


COMPARED = (
    (OWN["nonblocking"], OWN["blocking"]),
    (OWN["persistent"], OWN["blocking"]),
    *((NATIVE[form], OWN[form]) for form in OWN),
)


def ratios(found: Found, point: Point) -> list[str]:
    cells = []
    for pair in COMPARED:
        mark = "" if found.has(*pair) and found.judged(point, *pair) else " ~"
        cells.append(f"{found.ratio(point, *pair):.2f}{mark}" if found.has(*pair) else "")
    return cells


def mean_ratios(found: Found, size: int | None = None) -> list[str]:
    return [f"{found.mean(*pair, size):.2f}" if found.has(*pair) else "" for pair in COMPARED]


def points_table(found: Found) -> str:
    head = ["function, bytes"]
    for name in ("Stretto", "native"):
        head += [f"{name} blocking", "I… + Wait", "Start + Wait"]
    head += ["I… : blocking", "Start : blocking"]
    head += ["native : Stretto, blocking", "I… + Wait", "Start + Wait"]
    lines = []
    for point in found.points:
        times = [
            microseconds(found.us(point, side)) if found.has(side) else ""
            for side in (*OWN.values(), *NATIVE.values())
        ]
        lines.append([name_of(point), *times, *ratios(found, point)])
    for size in sorted({size for _, size in found.points if size}):
        of_size = mean_ratios(found, size)
        lines.append([f"**mean of {size_in_words(size)}**", *[""] * 6, *of_size])
    lines.append(["**mean of all**", *[""] * 6, *mean_ratios(found)])
    return table(head, lines)


def overlap_cell(parts: Parts) -> str:
    one = overlap_of(parts)
    said = f"{100 * one.share:.0f} %" if one.share > LEAST_OVERLAP else "0"
    return f"{said} of {microseconds(one.call_us)}{'' if one.clear else ' ~'}"


def overlap_table(results: list[Found]) -> str:
    head = ["function, bytes"]
    for found in results:
        head += [f"{found.mpi.name}, µs", "Stretto", "thread"]
    lines = []
    for point in results[0].overlaps:
        cells = []
        for found in results:
            cells += [overlap_cell(found.overlaps[point][library]) for library in LIBRARIES]
            cells.append(overlap_cell(found.threaded[point]["stretto"]))
        lines.append([f"i{name_of(point)}", *cells])
    return table(head, lines)


def passed_on(results: list[Found]) -> str:
    said = [
        f"{found.mpi.name}: {', '.join(dict.fromkeys(found.passed_on))}"
        for found in results
        if found.passed_on
    ]
    passed = f"Stretto passed on these to the MPI: {'; '.join(said)}."
    return passed if said else "Stretto served all calls."


def finding(results: list[Found]) -> str:
    def means(over: Side, under: Side) -> str:
        return ", ".join(f"{one.mean(over, under):.2f} ({one.mpi.name})" for one in results)

    form = "nonblocking"
    return (
        "In the geometric mean over functions and sizes up to 1 KiB, Stretto's I… + `MPI_Wait` "
        "takes\n"
        f"{means(OWN[form], OWN['blocking'])} times as long as\nStretto's blocking call, and the "
        f"MPI's own I… + `MPI_Wait` takes {means(NATIVE[form], OWN[form])} times as\nlong as "
        "Stretto's."
    )


def text(results: list[Found], day: str, load: float, enough: int) -> str:
    from stretto import version

    broken = [one.mpi.name for one in results if not one.has(NATIVE["persistent"])]
    facts = machine_facts()
    parts = [
        HEAD.format(
            finding=finding(results), day=day, enough=enough, load=load, version=version(),
            passed=passed_on(results),
            mpis=", ".join(found.mpi.title for found in results),
            rounds=min(
                len(times[OWN["blocking"]]) for one in results for times in one.points.values()
            ),
            spread=", ".join(
                f"{100 * found.spread():.0f} % ({found.mpi.name})" for found in results
            ),
            interrupted=", ".join(
                f"{100 * found.interrupted():.0f} % ({found.mpi.name})" for found in results
            ),
            **{name: facts[name] for name in ("cpu", "cores", "system")},
        ),
        BROKEN.format(names=" and ".join(broken)) if broken else "",
        NUMBERS,
        goals_table(results),
        "\n## Points that miss\n\n",
        misses(results),
    ]  # fmt: skip
    for found in results:
        parts += [f"\n## {found.mpi.title}\n\nµs of a call, and ratios.\n\n", points_table(found)]
    return "".join([*parts, "\n", OVERLAP, overlap_table(results)])
