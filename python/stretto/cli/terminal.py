# SPDX-License-Identifier: BSD-3-Clause
"""Data to stdout, the rest to stderr; rich respects NO_COLOR and pipes by itself."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..interrupt import Interrupt
from ..measure import busy
from ..measure.session import Advance, TuningSession

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def stdout() -> "Console":
    """For tables: as wide as the terminal; into a file or a pipe as wide as they like."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else max(500, shutil.get_terminal_size().columns)
    return Console(width=width, highlight=False, emoji=False, soft_wrap=False)


def table(*headings: str, least: int | None = None, **looks: Any) -> "Table":
    """Columns whose headings begin with ">" are numbers, no narrower than `least`."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False, header_style="bold", **looks)
    for heading in headings:
        number = heading.startswith(">")
        made.add_column(
            heading.removeprefix(">"),
            justify="right" if number else "left",
            min_width=least if number else None,
        )
    return made


def stderr() -> "Console":
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False)


def say(note: str) -> None:
    """What to know beside the data, in one line on stderr."""
    click.echo(f"stretto: {note}", err=True)


def say_busy(load: busy.Load) -> None:
    say(f"this machine is busy: {load}; times are less certain (`top` shows whose processes)")


def say_if_busy(ranks: int) -> None:
    """Whether others disturb so many ranks on this machine, now."""
    load = busy.look()
    if load and load.disturbs(ranks):
        say_busy(load)


def say_first(notes: list[str], ranks: int) -> None:
    """What to know about an MPI and about times of so many ranks on this machine, now."""
    cores = len(os.sched_getaffinity(0))
    for note in notes:
        say(note)
    if ranks > cores:
        say(
            f"{ranks} ranks on {cores} cores: these times are mostly the scheduler's, "
            "of functions after which ranks need not meet above all"
        )
    say_if_busy(ranks)


@contextmanager
def progress(title: str, total: float | None) -> Iterator:
    """Yields advance(done, of=None, what=""): the bar on stderr, none unless that is a terminal."""
    # Here, for it is half of what importing rich takes, and most commands are over before that.
    import rich.progress as bars

    console = stderr()
    bar = bars.Progress(
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task(title, total=total)

        def advance(done: float, of: float | None = None, what: str = "") -> None:
            bar.update(
                task, completed=done, total=total if of is None else of, description=what or title
            )

        yield advance


@contextmanager
def tuning(title: str, session: TuningSession, journal: Path) -> Iterator[Advance]:
    """The same in whole seconds of the session's budget; Ctrl-C says how to go on."""
    budget = int(session.request.budget)
    with progress(title, budget) as advance:

        def whole_seconds(done: float, of: float | None = None, what: str = "") -> None:
            advance(min(int(done), budget), budget, what)

        try:
            yield whole_seconds
        except Interrupt as stopped:
            stopped.hint = f"what was measured is in {journal}; run again to go on"
            raise
