# SPDX-License-Identifier: BSD-3-Clause
"""Outcomes as a page to read, as `stretto report` writes its page."""

import datetime

from .. import __version__
from ..peers.state import machine_facts
from ..plot import compare as charts
from ..report.cells import Cell, Line, chart, number, rendered, seconds
from .outcome import Outcome, Part
from .statistics import Ratio
from .verdict import percent, sentences


def _ratio(ratio: Ratio | None) -> Cell:
    return Cell(str(ratio), ratio.value) if ratio else Cell("–", -1)


def _line(part: Part, name: str) -> Line:
    return [
        name,
        seconds(part.native),
        seconds(part.stretto),
        _ratio(part.ratio),
        part.ratio.interval if part.ratio else "–",
        number(part.calls) if part.calls else Cell("", 0),
        ", ".join(part.algorithms),
    ]


def _cards(outcome: Outcome) -> list[tuple[str, str]]:
    ratio = outcome.program.ratio
    found = []
    if ratio:
        found.append((str(ratio), f"times as fast with Stretto ({ratio.interval})"))
    part = outcome.collectives
    if part:
        share = part.native / outcome.program.native
        found.append((percent(share), "of the time without Stretto in collectives"))
        share = part.stretto / outcome.program.stretto
        found.append((percent(share), "of the time with Stretto in collectives"))
    return found


def _comparison(outcome: Outcome) -> dict[str, object]:
    first, *more = sentences(outcome)
    said: dict[str, object] = {"mpi": outcome.mpi, "ranks": outcome.ranks, "verdict": first}
    said["more"] = more
    if not outcome.repeat:
        return said
    parts = [_line(outcome.program, "whole program")]
    if outcome.collectives:
        parts.append(_line(outcome.collectives, "in collectives, per rank"))
    parts += [_line(part, part.name) for part in outcome.functions]
    drawn = {"runs": chart(charts.runs(outcome), "Time of each run")}
    if outcome.functions:
        drawn["functions"] = chart(charts.functions(outcome), "Time in collectives by function")
    return {**said, "cards": _cards(outcome), "parts": parts, "charts": drawn}


def page(outcomes: list[Outcome]) -> str:
    """The whole document; the program is the same in all."""
    machine = machine_facts()
    facts = [
        f"{machine['cpu']}, {machine['cores']} cores",
        f"Stretto {__version__}",
        datetime.date.today().isoformat(),
    ]
    comparisons = [_comparison(one) for one in outcomes]
    said = {"title": outcomes[0].job, "facts": facts, "comparisons": comparisons}
    return rendered("compare.html", said)
