# SPDX-License-Identifier: BSD-3-Clause
"""`stretto run`."""

import os
import shlex
import signal

import click

from .. import version
from ..errors import Error
from ..launch import preload
from ..launch.job import Job, environment_of, job_of
from . import completion
from .options import OF_PROGRAM, mpi_option, say_notes, shared_heap_option
from .terminal import say


def words_of(job: Job, shared_heap: bool = False, learn: bool = False) -> list[str]:
    """The command line that starts `job` with Stretto in it."""
    variables = {"LD_PRELOAD": preload(job.mpi.flavour, shared_heap)}
    if learn:
        asked = os.environ.get("STRETTO_LEARN", "0")
        variables["STRETTO_LEARN"] = "1" if asked in ("", "0") else asked
    if job.hands_on:
        variables["STRETTO_CHILDREN"] = os.environ.get("STRETTO_CHILDREN", version())
    return job.command(variables)


@click.command("run", context_settings=OF_PROGRAM)
@click.option("-n", "--ranks", type=click.IntRange(min=1), help="How many processes.  [default: 2]")
@mpi_option
@click.option(
    "--launcher",
    metavar="COMMAND",
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
    ranks: int | None,
    mpi_wish: str,
    launcher: str | None,
    shared_heap: bool,
    learn: bool,
    dry_run: bool,
    program: tuple[str, ...],
) -> None:
    """Run an MPI program with Stretto in it: stretto run -n 4 -- ./app arguments.

    Finds by itself for which MPI the program was built. PROGRAM may begin with a launcher
    (mpiexec -n 4 ./app, srun ./app). The exit code is the program's.
    """
    job = job_of(list(program), None if launcher else ranks, mpi_wish, launcher)
    words, environment = words_of(job, shared_heap, learn), environment_of(job)
    if job.by_mpi:
        say_notes(job.mpi)
    if job.without_mpi:
        say(
            f"{job.program[0]} is linked to no MPI: unless it loads one while it runs, Stretto has "
            "nothing to do in it"
        )
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
