# SPDX-License-Identifier: BSD-3-Clause
"""`stretto run`."""

import os
import shlex
import signal
from dataclasses import replace

import click

from ..errors import Error
from . import completion
from .options import mpi_option, ranks_option, say_notes, shared_heap_option


@click.command(
    "run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@ranks_option
@mpi_option
@click.option(
    "--launcher",
    metavar="COMMAND",
    default=None,
    help="Start with this instead of mpiexec: 'srun -n 4'. -n is then ignored.",
)
@shared_heap_option
@click.option(
    "--learn",
    is_flag=True,
    help="Let the program learn which algorithms serve its calls best here (docs/learning.md).",
)
@click.option("--dry-run", is_flag=True, help="Print the command line and do not run it.")
@click.argument(
    "program", nargs=-1, required=True, type=click.UNPROCESSED, shell_complete=completion.files
)
def command(
    ranks: int, mpi_wish: str, launcher: str | None, shared_heap: bool, learn: bool, dry_run: bool,
    program: tuple[str, ...],
) -> None:  # fmt: skip
    """Run an MPI program with Stretto in it: stretto run -n 4 -- ./app arguments.

    Finds by itself for which MPI the program was built. The exit code is the program's.
    """
    from .. import version
    from ..launch import mpi_of_program, preload
    from ..launch.job import split_launcher
    from ..launch.program import is_without_mpi

    mpi, variables = mpi_of_program(program[0], mpi_wish)
    variables["LD_PRELOAD"] = preload(mpi.flavour, shared_heap)
    if learn:
        variables["STRETTO_LEARN"] = os.environ.get("STRETTO_LEARN") or "1"
    if launcher is not None:
        mpi, environment = replace(mpi, launcher=split_launcher(launcher)), dict(os.environ)
    else:
        # What the job spawns gets these variables, too: from the launcher, or from Stretto.
        variables["STRETTO_CHILDREN"] = version()
        environment = mpi.environment()
        say_notes(mpi)
    if is_without_mpi(list(program)):
        click.echo(
            f"stretto: {program[0]} is linked to no MPI: unless it loads one while it runs, "
            "Stretto has nothing to do in it",
            err=True,
        )
    words = mpi.command(ranks, list(program), variables)
    if dry_run:
        click.echo(shlex.join(words))
        return
    # The launcher takes this process's place: signals, terminal and exit code are its own.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and the program would, too
    try:
        os.execvpe(words[0], words, environment)
    except OSError as error:
        raise Error(
            f"{words[0]}: {(error.strerror or str(error)).lower()}", "is the launcher on PATH?"
        ) from error
