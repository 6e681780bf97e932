# SPDX-License-Identifier: BSD-3-Clause
"""`stretto env`."""

import shlex

import click

from .options import json_option, mpi_option, write_json


@click.command("env")
@mpi_option
@click.option(
    "--for",
    "program",
    metavar="PROGRAM",
    default=None,
    help="Find the MPI that this program was built for.",
)
@click.option("--shell", is_flag=True, help='Print export commands: eval "$(stretto env --shell)".')
@json_option
def command(mpi_wish: str, program: str | None, shell: bool, as_json: bool) -> None:
    """Print the variables that put Stretto into a program, for srun and the like.

    For example: srun -n 64 env $(stretto env --mpi /opt/mpich) ./app
    """
    from ..launch import choose_mpi, mpi_of_program, preload

    mpi, variables = mpi_of_program(program, mpi_wish) if program else (choose_mpi(mpi_wish), {})
    variables["LD_PRELOAD"] = preload(mpi.flavour)
    if as_json:
        write_json({"mpi": mpi.title, "flavour": mpi.flavour, "variables": variables})
        return
    for name, value in variables.items():
        click.echo(f"export {name}={shlex.quote(value)}" if shell else f"{name}={value}")
