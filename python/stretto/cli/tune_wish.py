# SPDX-License-Identifier: BSD-3-Clause
"""What all targets of `stretto tune` read from the command line."""

import click

from ..algorithms import near
from ..errors import Error


def functions_wished(wish: str | None) -> list[str]:
    from .. import all_functions, facts

    known = [facts(function).name for function in all_functions()]
    names = [name.strip() for name in wish.split(",")] if wish else known
    for name in names:
        if name not in known:
            raise Error(f"--collectives: no function is called '{name}'", near(name, known))
    return names


def ranks_wished(wish: tuple[int, ...] | None) -> list[int]:
    from ..launch.mpi import cores

    ranks = list(wish) if wish else sorted({2, max(2, cores())})
    if ranks[0] < 2:
        raise Error("--ranks: one rank has no collectives to tune", "write 2 or more")
    if ranks[-1] > cores():
        click.echo(
            f"stretto: {ranks[-1]} ranks on {cores()} cores: these times are mostly the "
            "scheduler's; such a file is good for nothing but trying this command",
            err=True,
        )
    return ranks
