# SPDX-License-Identifier: BSD-3-Clause
"""What `stretto bench --overlap` prints: of I… + MPI_Wait, and a computation between the two."""

from ..measure.driver import Results
from ..measure.overlap import LIBRARIES, overlap_of
from ..units import size_in_words, time_in_a_table
from .options import write_json
from .terminal import stderr, stdout, table

SIZES = "64K,1M,4M"


def _print(cells: list[dict], title: str, ranks: int) -> None:
    console = stdout()
    for name in dict.fromkeys(cell["cell"] for cell in cells):
        console.print(f"# {name}, {ranks} ranks, {title}, overlap", markup=False)
        grid = table(">size", ">native", ">overlap", ">Stretto", ">overlap", "algorithm", least=10)
        for cell in (one for one in cells if one["cell"] == name):
            words = [size_in_words(cell["bytes"]) if cell["bytes"] else ""]
            for library in ("native", "stretto"):
                of = cell[library]
                words.append(time_in_a_table(1e-6 * of["call_us"]))
                words.append(f"{100 * of['overlap']:.0f} %{'' if of['clear'] else ' ~'}")
            grid.add_row(*words, cell["algorithm"])
        console.print(grid)
        console.print()
    if any(not cell[library]["clear"] for cell in cells for library in ("native", "stretto")):
        stderr().print("~: other programs got the cores of ranks in most rounds")


def show(race: Results, head: dict, as_json: bool) -> None:
    """Prints JSON that begins with `head`, or tables: with the times of each library instead of
    all its rounds."""
    cells = [
        {**said, **{library: overlap_of(said[library]).as_row() for library in LIBRARIES}}
        for said in race.cells
    ]
    if as_json:
        write_json({**head, "cells": cells})
    else:
        _print(cells, head["mpi"], head["ranks"])
