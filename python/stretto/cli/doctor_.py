# SPDX-License-Identifier: BSD-3-Clause
"""`stretto doctor`."""

from dataclasses import asdict

import click

from ..diagnosis import diagnose
from ..errors import FailureError
from .options import json_option, write_json
from .terminal import progress, stdout, table

MARKS = {True: "[green]ok[/]", False: "[red]no[/]", None: ""}


@click.command("doctor")
@json_option
def command(as_json: bool) -> None:
    """Say what works on this machine and what to do about the rest.

    Runs two ranks under every MPI found. The exit code is 1 if none works.
    """
    with progress("trying every MPI", None):
        findings, works = diagnose()
    if as_json:
        write_json({"works": works, "findings": list(map(asdict, findings))})
    else:
        from rich.markup import escape

        grid = table("", "", "", show_header=False)
        mark, topic, said = grid.columns
        mark.min_width = 2
        topic.no_wrap = True
        said.overflow = "fold"
        for finding in findings:
            words = escape(finding.words)
            if finding.hint:
                words += f"\n[yellow]hint:[/] {escape(finding.hint)}"
            grid.add_row(MARKS[finding.good], finding.topic, words)
        stdout().print(grid)
    if not works:
        raise FailureError("no MPI works with Stretto here", "the lines above say what to do")
