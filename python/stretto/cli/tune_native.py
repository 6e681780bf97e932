# SPDX-License-Identifier: BSD-3-Clause
"""`stretto tune --target openmpi|mpich|intel`."""

from pathlib import Path
from statistics import geometric_mean

import click

from ..launch import choose_mpi
from ..launch.mpi import Mpi
from ..measure.points import parse_sizes
from ..measure.session import Request
from ..tune.native import target_of
from ..tune.native.journal import Journal
from ..tune.native.session import NativeSession, seconds_for
from ..tune.native.target import Table, Target
from ..units import counted, size_in_words, time_in_a_table
from .options import ranks_of, say_notes, tunable, write_json
from .terminal import say, say_if_busy, stdout, table, tuning


def _head(name: str, mpi: Mpi, requested: Request, commutative: bool) -> dict:
    """What must be equal for one measurement to go on with another."""
    return {
        "target": name,
        "mpi": f"{mpi.title}, {mpi.library}",
        "ranks": requested.ranks,
        "sizes": requested.sizes,
        "collectives": requested.names,
        "commutative": commutative,
    }


def run(
    name: str,
    as_json: bool,
    *,
    mpi: str | None,
    ranks: tuple[int, ...] | None,
    sizes: str,
    collectives: str | None,
    budget: float,
    limit: float,
    commutative: bool,
    output: str | None,
    fresh: bool,
) -> None:
    target = target_of(name, choose_mpi(mpi or name), commutative)
    say_notes(target.mpi)
    functions, numbers = tunable(collectives), parse_sizes(sizes)
    requested = Request(ranks_of(ranks), functions, numbers, budget, limit)
    folder = Path(output or f"stretto-tune-{name}")
    seconds, needed = seconds_for(target, requested)
    journal = Journal(folder, _head(name, target.mpi, requested, commutative), fresh)
    if needed > budget:
        say(
            f"two rounds take some {needed / 60:.0f} min, --budget is {budget:.0f} s: run the same "
            "command again to go on, or tune less at a time"
        )
    session = NativeSession(target, requested, journal, seconds)
    say_if_busy(max(requested.ranks))
    with tuning(f"tuning {target.mpi.title}", session, journal.path) as advance:
        table, gains = session.run(advance)
    _report(session, folder, table, gains, as_json)


def _report(session: NativeSession, folder: Path, table: Table, gains: dict, as_json: bool) -> None:
    target = session.target
    paths = target.write(table, folder) if table else []
    usage = target.usage(table, folder) if table else []
    if as_json:
        _print_json(session, paths, usage, gains)
        return
    for failure in session.journal.failures:
        what = f"{failure.function}, {failure.ranks} ranks, {failure.algorithm}"
        say(f"given up: {what}: {failure.reason}")
    if not table:
        click.echo(
            f"{target.mpi.title}: nothing beats its own choice by more than the noise; no file was "
            "written"
            if session.finished()
            else "nothing is certain yet: run the same command again to go on"
        )
        return
    _print_gains(gains, target)
    click.echo("wrote " + ", ".join(map(str, paths)))
    for line in usage:
        click.echo("use it: " + line)
    faster = [1 / one.ratio for _, one in gains.values()]
    if faster:
        click.echo(
            f"faster than by its own choice: {counted(len(faster), 'point')}, "
            f"{geometric_mean(faster):.2f}x in the geometric mean, {max(faster):.2f}x at most"
        )


def _print_gains(gains: dict, target: Target) -> None:
    numbers = (">ranks", ">size", ">its own", ">tuned", ">faster", ">noise")
    grid = table("function", *numbers, "algorithm", least=6)
    for (function, ranks, size), (algorithm, one) in gains.items():
        grid.add_row(
            function, str(ranks), size_in_words(size),
            time_in_a_table(1e-6 * one.library_us), time_in_a_table(1e-6 * one.us),
            f"{1 / one.ratio:.2f}x", f"{one.noise:.2f}x", algorithm,
        )  # fmt: skip
    console = stdout()
    console.print(f"# {target.mpi.title}: what the file wins over its own choice")
    console.print(grid)


def _print_json(session: NativeSession, paths: list[Path], usage: list[str], gains: dict) -> None:
    cells = []
    for (function, ranks, size), (algorithm, one) in gains.items():
        point = {"function": function, "ranks": ranks, "bytes": size, "algorithm": algorithm}
        times = {"library_us": one.library_us, "tuned_us": one.us}
        cells.append({**point, **times, "ratio": 1 / one.ratio, "noise": one.noise})
    files, failures = list(map(str, paths)), [vars(one) for one in session.journal.failures]
    head = {"mpi": session.target.mpi.title, "files": files, "usage": usage}
    write_json({**head, "cells": cells, "failures": failures})
