# SPDX-License-Identifier: BSD-3-Clause
"""`stretto rules`."""

from dataclasses import asdict
from pathlib import Path

import click

from .. import learned
from ..launch import choose_mpi
from ..units import time_in_a_table
from .group import help_if_alone
from .options import functions_of, json_option, mpi_option, write_json
from .terminal import stdout, table

path_argument = click.argument("path", required=False, type=click.Path(path_type=Path))


def _path(path: Path | None, mpi_wish: str) -> Path:
    """The one that is named, or what programs with this MPI learned here."""
    return path or learned.learned_path(choose_mpi(mpi_wish).title)


def _time(us: float | None) -> str:
    return time_in_a_table(1e-6 * us) if us is not None else "-"


@click.group("rules", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show, compare and forget the rules that are kept for this machine (docs/learning.md).

    What programs learned with `stretto run --learn` stands in one file for each machine and MPI, in
    ~/.config/stretto/learned; what `stretto tune` measured, beside it in tuned.
    """
    help_if_alone(ctx)


@command.command("list")
@json_option
def list_files(as_json: bool) -> None:
    """The files of the user and of the site, and whether they can be read."""
    found = learned.kept_files()
    if as_json:
        write_json([{**asdict(one), "path": str(one.path)} for one in found])
        return
    if not found:
        click.echo("nothing is kept yet: `stretto run --learn` or `stretto tune` makes files")
        return
    grid = table("kind", "of the", ">rules", "machine", "file")
    for one in found:
        what = one.problem or one.machine or "any"
        grid.add_row(one.kind, one.owner, str(one.rules), what, str(one.path))
    stdout().print(grid, markup=False)


@command.command("show")
@path_argument
@mpi_option
@json_option
def show(path: Path | None, mpi_wish: str, as_json: bool) -> None:
    """What a file says of each class of calls: choice, time, the native function's time.

    PATH is what programs learned here with --mpi, if it is not given.
    """
    path = _path(path, mpi_wish)
    found = learned.read_learned(path)
    if as_json:
        write_json({"path": str(path), "rules": [asdict(one) for one in found]})
        return
    click.echo(str(path))
    grid = table("calls", "choice", ">time", ">native", ">ratio", ">pairs")
    for one in found:
        ratio = f"{one.native_us / one.us:.2f}" if one.us and one.native_us else "-"
        times = (_time(one.us), _time(one.native_us))
        grid.add_row(one.conditions, one.choice, *times, ratio, str(one.pairs))
    stdout().print(grid, markup=False)


@command.command("diff")
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("other", required=False, type=click.Path(path_type=Path))
@json_option
def diff(path: Path, other: Path | None, as_json: bool) -> None:
    """The classes of calls that PATH and OTHER serve differently; OTHER: the shipped rules."""
    if other:
        found = learned.differences(learned.read_learned(path), learned.read_learned(other))
    else:
        found = learned.from_shipped(path)
    if as_json:
        write_json([asdict(one) for one in found])
        return
    if not found:
        click.echo("they serve all of them alike")
        return
    grid = table("calls", path.name, other.name if other else "shipped")
    for one in found:
        grid.add_row(one.conditions, one.one or "-", one.other or "-")
    stdout().print(grid, markup=False)


@command.command("forget")
@path_argument
@click.option("--collectives", help="Of these only: allreduce,bcast.")
@mpi_option
def forget_rules(path: Path | None, collectives: str | None, mpi_wish: str) -> None:
    """Take the file PATH away, or what it says of some functions."""
    path = _path(path, mpi_wish)
    if collectives is None:
        learned.forget_all(path)
        click.echo(f"{path} is gone")
        return
    names = set(functions_of(collectives))
    gone = learned.forget(path, lambda one: one.function in names)
    click.echo(f"{gone} {'class' if gone == 1 else 'classes'} forgotten, of {path}")
