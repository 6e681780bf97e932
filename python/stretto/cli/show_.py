# SPDX-License-Identifier: BSD-3-Clause
"""`stretto show`."""

import shutil
import sys

import click

from ..errors import Error


def _arrows() -> tuple[str, str]:
    from ..picture import ARROWS, PLAIN_ARROWS

    try:
        "".join(ARROWS).encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return PLAIN_ARROWS
    return ARROWS


@click.command("show")
@click.argument("algorithm")
@click.option("--ranks", "-p", type=click.IntRange(min=1, max=4096), default=8, show_default=True)
@click.option("--root", type=int, default=0, show_default=True)
@click.option("--rank", type=int, default=None, help="With --text: of this rank only.")
@click.option("--text", is_flag=True, help="Print the text form of the schedules.")
@click.option(
    "-o",
    "--output",
    "--svg",
    "--png",
    metavar="FILE",
    default=None,
    help="Draw into FILE: .svg, .png or .pdf.",
)
def command(
    algorithm: str, ranks: int, root: int, rank: int | None, text: bool, output: str | None
) -> None:
    """Print or draw the schedule of ALGORITHM, for example allreduce/ring.

    Ranks across, steps down: which blocks are sent where, and what each rank holds afterwards.
    """
    from .. import Shape, algorithm_named, build_schedule, facts

    found = algorithm_named(algorithm)
    shape = Shape(ranks, root)
    if root and not facts(found.collective).rooted:
        raise Error(f"{found.id} has no root", "leave --root out")
    if rank is not None and not text:
        raise Error("--rank needs --text", "a picture always shows all ranks")
    if text:
        for one in range(ranks) if rank is None else [rank]:
            click.echo(str(build_schedule(found, shape, one)), nl=False)
        return
    from ..replay import replay

    if output is None:
        from ..picture import as_text

        width = shutil.get_terminal_size((120, 24)).columns
        click.echo(as_text(replay(found, shape), width, _arrows()), nl=False)
        return
    from ..plot.files import format_of, save

    format_of(output)  # before the work
    from ..plot.schedule import draw

    save(draw(replay(found, shape)), output)
    click.echo(f"wrote {output}", err=True)
