# SPDX-License-Identifier: BSD-3-Clause
"""`stretto topology discover`."""

from dataclasses import replace

import click

from ..errors import Error
from ..files import refuse_unwritable, write_text
from ..launch import choose_mpi
from ..measure.probe import probing
from ..topology.discover import discover as discovered
from .group import help_if_alone
from .options import say_notes
from .terminal import progress, say


@click.group("topology", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """The network that ranks are on (docs/topology.md)."""
    help_if_alone(ctx)


@command.command("discover")
@click.option(
    "-n", "--ranks", type=click.IntRange(min=1), help="How many processes, without a launcher."
)
@click.option("--mpi", "mpi_wish", default="auto", metavar="PATH|NAME", help="The MPI.")
@click.option("--output", "-o", metavar="FILE", help="Write the topology there.  [default: stdout]")
@click.argument("launcher", nargs=-1, type=click.UNPROCESSED)
def discover(
    ranks: int | None, mpi_wish: str, output: str | None, launcher: tuple[str, ...]
) -> None:
    """Find machines, their sockets and caches, and the tree of switches between them.

    `stretto topology discover -n 8`, or `stretto topology discover -- srun -n 64` where another
    launcher than mpiexec starts the ranks: one on each machine is enough. Transfers between the
    machines are measured alone and together, for minutes at most; nothing else should be running.
    What is written is a file for --topology of other commands.
    """
    if not ranks and not launcher:
        raise Error("neither ranks nor a launcher", "write -n 8, or -- srun -n 8")
    if ranks and launcher:
        raise Error("--ranks does not go with a launcher", "let the launcher say it: -- srun -n 8")
    if output:
        refuse_unwritable(output)
    mpi = replace(choose_mpi(mpi_wish), launcher=launcher)
    say_notes(mpi)
    with progress("starting", None) as advance, probing(mpi, ranks or 1) as probe:
        found = discovered(probe, probe.machines, advance)
    for remark in found.remarks:
        say(remark)
    text = found.toml([f"By `stretto topology discover`: {found.asked} measurements."])
    if not output:
        click.echo(text, nl=False)
        return
    try:
        write_text(output, text)
    except OSError:
        click.echo(text, nl=False)  # it took minutes to find
        raise
    click.echo(f"wrote {output}", err=True)
