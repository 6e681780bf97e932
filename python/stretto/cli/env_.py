# SPDX-License-Identifier: BSD-3-Clause
"""`stretto env`."""

import shlex

import click

from ..errors import Error
from ..launch import choose_mpi, folder_of, link_flags, mpi_of_program, preload
from ..launch.library import FOLDERS
from . import completion
from .options import json_option, mpi_option, shared_heap_option, write_json


@click.command("env")
@mpi_option
@click.option(
    "--for",
    "program",
    metavar="PROGRAM",
    shell_complete=completion.files,
    help="Find the MPI that this program was built for.",
)
@shared_heap_option
@click.option("--shell", is_flag=True, help='Print export commands: eval "$(stretto env --shell)".')
@click.option(
    "--link", is_flag=True, help="Print linker flags instead: mpicc app.c $(stretto env --link)."
)
@click.option(
    "--folder",
    type=click.Choice(list(FOLDERS)),
    help="Print where the libraries are, or what pkg-config, CMake or `module use` looks for.",
)
@json_option
def command(
    mpi_wish: str,
    program: str | None,
    shared_heap: bool,
    shell: bool,
    link: bool,
    folder: str | None,
    as_json: bool,
) -> None:
    """Print the variables that put Stretto into a program, for srun and the like.

    For example: srun -n 64 env $(stretto env --mpi /opt/mpich) ./app
    """
    if sum(map(bool, (shell, link, folder, as_json))) > 1:
        raise Error("--shell, --link, --folder and --json exclude each other", "leave one of them")
    if folder:
        click.echo(str(folder_of(folder)))
        return
    mpi, variables = mpi_of_program(program, mpi_wish) if program else (choose_mpi(mpi_wish), {})
    if link:
        click.echo(shlex.join(link_flags(mpi.flavour)))
        return
    variables["LD_PRELOAD"] = preload(mpi.flavour, shared_heap)
    if as_json:
        write_json({"mpi": mpi.title, "flavour": mpi.flavour, "variables": variables})
        return
    for name, value in variables.items():
        click.echo(f"export {name}={shlex.quote(value)}" if shell else f"{name}={value}")
