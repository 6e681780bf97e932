# SPDX-License-Identifier: BSD-3-Clause
"""Races of an algorithm in a file, in a real MPI."""

from pathlib import Path

from .algorithms import function_named
from .errors import Error
from .explain import variable_of
from .launch import choose_mpi
from .measure.driver import Results, run_benchmark
from .measure.points import parse_sizes
from .measure.session import Advance, unseen


def variables_for(path: str | Path, names: list[str]) -> dict[str, str]:
    """What makes these functions take the file; raises Error for a path that no variable holds."""
    absolute = str(Path(path).absolute())
    if "," in absolute:
        raise Error(f"{absolute}: a path with a comma in it", "give the file another name")
    functions = [function_named(name) for name in names]
    return {variable_of(function): f"file:{absolute}" for function in functions}


def race_file(
    path: str | Path,
    names: list[str],
    ranks: int,
    sizes: str,
    mpi_wish: str,
    seconds: float,
    advance: Advance = unseen,
) -> tuple[str, Results]:
    """Functions by the file against the native ones: a title, and rows; raises Error if a call was
    served by anything else."""
    mpi = choose_mpi(mpi_wish)
    variables = variables_for(path, names)
    results = run_benchmark(
        mpi, ranks, names, parse_sizes(sizes), seconds, advance, variables=variables
    )
    check_served(path, results)
    return f"{', '.join(names)}, {ranks} ranks, {mpi.title}", results


def check_served(path: str | Path, results: Results) -> None:
    """Raises Error unless the file served every call."""
    for cell in results.cells:
        if not cell["algorithm"].endswith(f"/file:{Path(path).absolute()}"):
            raise Error(
                f"{cell['cell']} of {cell['bytes']} bytes went to {cell['algorithm']}, not to "
                f"{path}",
                "the log above says why; `stretto check --file` tries it alone",
            )
