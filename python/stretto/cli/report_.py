# SPDX-License-Identifier: BSD-3-Clause
"""`stretto report`."""

from pathlib import Path

import click

from ..files import write_text
from ..plot.files import need_matplotlib
from ..report.read import read


@click.command("report")
@click.argument("profile", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("report.html"),
    show_default=True,
    help="The page to write.",
)
def command(profile: Path, output: Path) -> None:
    """Turn PROFILE, which a program has written with STRETTO_PROFILE, into a page to read.

    One HTML file that fetches nothing: what the program spent in which collectives, how large they
    were, where it waited and where it moved data, by which algorithms, and what went to the native
    library.
    """
    need_matplotlib()
    found = read(profile)
    from ..report.page import page

    write_text(output, page(found))
    click.echo(f"wrote {output}", err=True)
