# SPDX-License-Identifier: BSD-3-Clause
"""What `stretto explain --topology` adds: the lower bound, and how far from it algorithms are."""

import click

from .. import Choice, Params, Topology
from ..explain import Question, of_collective
from ..simulation import suitable
from ..topology.study import against_bound
from ..units import time_in_words
from .terminal import stdout, table


def study(question: Question, choice: Choice, topology: Topology, name: str) -> dict:
    """What `--json` prints of it."""
    call = question.call
    own = suitable(call, of_collective(call.function))
    tried = {a.id: (a, call.shape(a), Params()) for a in own}
    chosen = choice.algorithm
    if chosen:
        params = Params(value=choice.params.value, list=choice.params.list)
        tried[chosen.id] = (chosen, call.shape(chosen), params)
    bound, rows, refused = against_bound(topology, call, tried.values())
    for row in rows:
        row["chosen"] = bool(chosen) and row["algorithm"] == chosen.id and not row["order"]
    return {
        "name": name,
        "bound": {"seconds": bound.seconds, "reason": bound.reason},
        "rows": rows,
        "left_out": refused,
    }


def write(document: dict, mark: str) -> None:
    bound = document["bound"]
    click.echo(f"\non {document['name']}, where messages share links")
    click.echo(f"at least    {time_in_words(bound['seconds'])}: {bound['reason']}\n")
    numbers = (">time", ">segments", ">times the bound", ">messages on a link")
    grid = table(" ", "algorithm", *numbers)
    for column in grid.columns[:2]:
        column.no_wrap = True
    for row in document["rows"]:
        name = row["algorithm"].partition("/")[2]
        times = row["times_bound"]
        grid.add_row(
            mark if row["chosen"] else "",
            f"{name}, {row['order']}" if row["order"] else name,
            time_in_words(row["seconds"]),
            str(row["segments"]),
            f"{times:.3g}" if times else "-",
            str(row["most"]),
            style="bold" if row["chosen"] else None,
        )
    stdout().print(grid)
    for why in document["left_out"].values():
        click.echo(f"left out: {why}", err=True)
