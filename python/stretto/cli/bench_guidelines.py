# SPDX-License-Identifier: BSD-3-Clause
"""`stretto bench --guidelines`."""

import datetime

import click

from .. import __version__
from ..errors import Error, FailureError
from ..guidelines.measure import TOLERANCE, Verdict, measure
from ..guidelines.table import guidelines
from ..launch import choose_mpi
from ..measure.points import parse_sizes
from ..peers.state import machine_facts
from ..units import size_in_words, time_in_a_table
from .options import write_json
from .terminal import progress, say_first, stderr, stdout, table

SIZES = "8,1K,8K,64K,1M"
SECONDS = 0.2  # of all four sides of a pair


def _table(title: str, verdicts: list[Verdict]) -> None:
    console = stdout()
    console.print(f"# {title}", markup=False)
    grid = table(
        "guideline", ">ranks", ">m", ">left", ">right", ">excess", ">interval",
        "algorithms" if verdicts[0].algorithms else "",
    )  # fmt: skip
    for one in sorted(verdicts, key=lambda one: -one.ratio):
        grid.add_row(
            one.guideline.words,
            str(one.ranks),
            size_in_words(one.bytes) if one.bytes else "",
            time_in_a_table(1e-6 * one.left_us),
            time_in_a_table(1e-6 * one.right_us),
            f"{one.ratio:.2f}",
            f"{one.low:.2f}–{one.high:.2f}",
            " against ".join(one.algorithms or ()),
        )
    console.print(grid)
    console.print()


def _print(verdicts: list[Verdict], mpi: str) -> None:
    for library, who in (("stretto", f"Stretto under {mpi}"), ("native", f"{mpi} itself")):
        own = [one for one in verdicts if one.library == library]
        violated = [one for one in own if one.status == "violated"]
        judged = sum(one.status != "not judged" for one in own)
        title = f"{who} violates {len(violated)} of {judged} guidelines"
        if violated:
            _table(title, violated)
        else:
            stdout().print(f"# {title}\n", markup=False)
        for status in ("not repeated", "not judged"):
            if count := sum(one.status == status for one in own):
                stderr().print(f"{who}: {count} {status}", markup=False)


def _judge(verdicts: list[Verdict], wrong: list[dict]) -> None:
    if wrong:
        left, right = map("{}, {}".format, wrong[0]["pair"], wrong[0]["forms"])
        what = f"{left} or {right} of {wrong[0]['bytes'][0]} bytes"
        what += f", {wrong[0]['ranks']} ranks: wrong result"
        raise FailureError(what, "`stretto bench --collectives` races a function alone")
    if not any(one.status != "not judged" for one in verdicts):
        raise Error("nothing could be judged", "give it more time: --time-per-size 1")
    if any(one.library == "stretto" and one.status == "violated" for one in verdicts):
        raise click.exceptions.Exit(1)


def command(
    ranks: tuple[int, ...],
    mpi_wish: str,
    functions: list[str],
    sizes: str | None,
    budget: float | None,
    as_json: bool,
) -> None:
    """Measures, prints Stretto's violations and then the MPI's; the exit code is Stretto's."""
    if min(ranks) < 2:
        raise Error("--ranks: guidelines need 2 ranks or more", "write 2,4")
    numbers, seconds = parse_sizes(sizes or SIZES), budget or SECONDS
    mpi = choose_mpi(mpi_wish)
    say_first(mpi.notes(), max(ranks))
    verdicts: list[Verdict] = []
    wrong: list[dict] = []
    for n in ranks:
        with progress(f"comparing under {mpi.title}, {n} ranks", None) as advance:
            found, wrong_here = measure(mpi, n, guidelines(functions), numbers, seconds, advance)
        verdicts += found
        wrong += wrong_here
    if as_json:
        write_json(
            {
                "date": datetime.date.today().isoformat(),
                "version": __version__,
                "machine": machine_facts(),
                "tolerance": TOLERANCE,
                "mpi": mpi.title,
                "flavour": mpi.flavour,
                "ranks": ranks,
                "sizes": numbers,
                "time_per_size": seconds,
                "verdicts": [one.as_row() for one in verdicts],
            }
        )
    else:
        _print(verdicts, mpi.title)
    _judge(verdicts, wrong)
