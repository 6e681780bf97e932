# SPDX-License-Identifier: BSD-3-Clause
"""`stretto bench --overlap`."""

from ..errors import Error, FailureError
from ..launch import choose_mpi
from ..measure.driver import run_benchmark
from ..measure.overlap import LIBRARIES, overlap_of
from ..measure.points import parse_sizes
from ..units import size_in_words, time_in_a_table
from .options import write_json
from .terminal import progress, say_first, stderr, stdout, table

SIZES = "64K,1M,4M"
SECONDS = 0.3


def _print(cells: list[dict], title: str, ranks: int) -> None:
    console = stdout()
    for name in dict.fromkeys(cell["cell"] for cell in cells):
        console.print(f"# {name}, {ranks} ranks, {title}, overlap", markup=False)
        grid = table(">size", ">native", ">overlap", ">Stretto", ">overlap", "algorithm", least=10)
        for cell in (one for one in cells if one["cell"] == name):
            words = [size_in_words(cell["bytes"]) if cell["bytes"] else ""]
            for library in ("native", "stretto"):
                of = cell[library]
                words += [
                    time_in_a_table(1e-6 * of["call_us"]),
                    f"{100 * of['overlap']:.0f} %{'' if of['clear'] else ' ~'}",
                ]
            grid.add_row(*words, cell["algorithm"])
        console.print(grid)
        console.print()
    if any(not cell[library]["clear"] for cell in cells for library in ("native", "stretto")):
        stderr().print("~: other programs got the cores of ranks in most rounds")


def command(
    ranks: int,
    mpi_wish: str,
    functions: list[str],
    sizes: str | None,
    seconds: float | None,
    as_json: bool,
) -> None:
    """I… + MPI_Wait with a computation between the two that calls no MPI."""
    numbers = parse_sizes(sizes or SIZES)
    mpi = choose_mpi(mpi_wish)
    say_first(mpi.notes(), ranks)
    with progress(f"racing under {mpi.title}", len(functions) * len(numbers)) as advance:
        budget = seconds or SECONDS
        race = run_benchmark(mpi, ranks, functions, numbers, budget, advance, overlap=True)
    cells = [  # with the times of each library instead of all its rounds
        {**said, **{library: overlap_of(said[library]).as_row() for library in LIBRARIES}}
        for said in race.cells
    ]
    if as_json:
        facts = {"mpi": mpi.title, "flavour": mpi.flavour, "ranks": ranks, "machine": race.machine}
        write_json({**facts, "cells": cells})
    else:
        _print(cells, mpi.title, ranks)
    if race.wrong:
        first = race.wrong[0]
        what = f"{first['cell']} of {first['bytes']} bytes by {first['algorithm']}: wrong result"
        raise FailureError(what, f"STRETTO_{first['function'].upper()}=native goes around it")
    if not cells:
        raise Error("the race measured nothing", "`stretto doctor` shows what works")
