# SPDX-License-Identifier: BSD-3-Clause
"""`stretto report`."""

from pathlib import Path

import click

from ..errors import Error
from ..files import write_text
from ..plot.files import need_matplotlib
from ..report.read import read
from . import options


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
@options.picture_option("Only draw what the program has learned into FILE: .svg, .png or .pdf.")
def command(profile: Path, output: Path, plot: str | None) -> None:
    """Turn PROFILE, which a program has written with STRETTO_PROFILE, into a page to read.

    One HTML file that fetches nothing: what the program spent in which collectives, how large they
    were, where it waited and where it moved data, by which algorithms, and what went to the native
    library.
    """
    need_matplotlib()
    found = read(profile)
    if not plot:
        from ..report.page import page

        write_text(output, page(found))
        click.echo(f"wrote {output}", err=True)
        return
    from ..plot.learned import compared, draw

    if not compared(found):
        raise Error(
            f"{profile}: nothing was compared with the native function",
            "`STRETTO_PROFILE=FILE stretto run --learn …` writes a profile with what was learned, "
            "where each rank has a core",
        )
    options.save_picture(draw(found), plot)
