# SPDX-License-Identifier: BSD-3-Clause
"""`stretto report`."""

from pathlib import Path

import click

from ..errors import Error
from ..files import write_text
from ..plot.files import need_matplotlib
from ..report.read import Profile, read
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
@click.option(
    "--plot",
    type=options.picture,
    metavar="FILE",
    help="Only draw what the program has learned into FILE: .svg, .png or .pdf.",
)
def command(profile: Path, output: Path, plot: str | None) -> None:
    """Turn PROFILE, which a program has written with STRETTO_PROFILE, into a page to read.

    One HTML file that fetches nothing: what the program spent in which collectives, how large they
    were, where it waited and where it moved data, by which algorithms, and what went to the native
    library.
    """
    need_matplotlib()
    found = read(profile)
    if plot:
        _plot(found, profile, plot)
    else:
        from ..report.page import page

        write_text(output, page(found))
        click.echo(f"wrote {output}", err=True)


def _plot(found: Profile, profile: Path, plot: str) -> None:
    from ..plot.learned import compared, draw

    if not compared(found):
        what = f"{profile}: nothing was compared with the native function"
        raise Error(
            what,
            "`STRETTO_PROFILE=FILE stretto run --learn …` writes a profile with what was learned, "
            "where each rank has a core",
        )
    options.save_picture(draw(found), plot)
