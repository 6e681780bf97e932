# SPDX-License-Identifier: BSD-3-Clause
"""Files of schedules (docs/schedules.md)."""

from pathlib import Path

from . import _core
from .errors import Error
from .files import read_text
from .units import intervals

HINT = "`stretto show --text` prints schedules, `save` of an algorithm in Python writes them"


def read_algorithm(path: str | Path) -> _core.AlgorithmFile:
    """The algorithm whose schedules stand in a file; raises Error that names file and line."""
    return _core.AlgorithmFile(read_text(path, HINT), str(path))


def ranks_in(file: _core.AlgorithmFile) -> list[int]:
    """The numbers of ranks that it holds schedules for."""
    return sorted({ranks for ranks, _ in file.cases})


def roots_in(file: _core.AlgorithmFile, ranks: int) -> list[int]:
    return sorted(root for p, root in file.cases if p == ranks)


def case_in(
    file: _core.AlgorithmFile, path: str | Path, ranks: int | None, root: int | None
) -> _core.Shape:
    """The shape that is asked for, or the first that there is; raises Error if there is no such."""
    numbers = ranks_in(file)
    p = numbers[0] if ranks is None else ranks
    if p not in numbers:
        raise Error(f"{path}: no schedules for {p} ranks", f"it holds {intervals(numbers)}")
    roots = roots_in(file, p)
    r = roots[0] if root is None else root
    if r not in roots:
        raise Error(f"{path}: none for root {r} of {p} ranks", f"it holds {intervals(roots)}")
    return _core.Shape(p, r)


def proved(file: _core.AlgorithmFile, shape: _core.Shape) -> _core.Algorithm:
    """Its record; raises FailureError if the schedules for this shape are refused."""
    from .errors import FailureError

    if why := file.proof(shape.ranks, shape.root).refused:
        raise FailureError(why.message, "ranks and blocks count from 0, rounds from 1")
    return file.algorithm
