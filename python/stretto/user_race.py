# SPDX-License-Identifier: BSD-3-Clause
"""Races of an algorithm in a file, in a real MPI."""

from pathlib import Path

from .algorithms import function_named
from .errors import Error
from .explain import variable_of
from .measure.driver import Results


def variables_for(path: str | Path, names: list[str]) -> dict[str, str]:
    """What makes these functions take the file; raises Error for a path that no variable holds."""
    absolute = str(Path(path).absolute())
    if "," in absolute:
        raise Error(f"{absolute}: a path with a comma in it", "give the file another name")
    functions = [function_named(name) for name in names]
    return {variable_of(function): f"file:{absolute}" for function in functions}


def check_served(path: str | Path, results: Results) -> None:
    """Raises Error unless the file served every call."""
    for cell in results.cells:
        if not cell["algorithm"].endswith(f"/file:{Path(path).absolute()}"):
            raise Error(
                f"{cell['cell']} of {cell['bytes']} bytes went to {cell['algorithm']}, not to "
                f"{path}",
                "the log above says why; `stretto check --file` tries it alone",
            )
