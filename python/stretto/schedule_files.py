# SPDX-License-Identifier: BSD-3-Clause
"""Files of schedules (docs/schedules.md), and plans for GPUs that are read as such."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import _core
from .errors import Error, FailureError
from .files import read_text, write_text
from .units import intervals

HINT = "`stretto show --text` prints schedules, `save` of an algorithm in Python writes them"


def is_plan(text: str) -> bool:
    """XML or JSON, as no file of schedules begins."""
    return text.lstrip()[:1] in ("<", "{")


def refuse_program(path: str | Path) -> None:
    """Raises Error for an algorithm as its author wrote it, which says what to run instead."""
    if Path(path).suffix == ".py":
        hint = f'`python {path}`, with .save("FILE.stretto") in it, writes a file to read here'
        raise Error(f"{path}: a Python program, not the schedules that it makes", hint)


def read_algorithm(path: str | Path) -> _core.AlgorithmFile:
    """The algorithm whose schedules stand in a file, or that a plan says (docs/plans.md); raises
    Error that names file and line."""
    refuse_program(path)
    text = read_text(path, HINT)
    if is_plan(text):
        from .plans.file import read_plan

        return read_plan(text, str(path))
    return _core.AlgorithmFile(text, str(path))


@contextmanager
def as_schedules(path: str | Path) -> Iterator[str | Path]:
    """A file that the library can read: this one, or for a plan one of its schedules."""
    text = read_text(path, HINT)
    if not is_plan(text):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="stretto-") as folder:
        written = Path(folder) / f"{Path(path).stem}.stretto"
        write_text(written, read_algorithm(path).text())
        yield written


def roots_in(file: _core.AlgorithmFile, ranks: int) -> list[int]:
    return sorted(root for p, root in file.cases if p == ranks)


def case_in(
    file: _core.AlgorithmFile, path: str | Path, ranks: int | None, root: int | None
) -> _core.Shape:
    """The shape that is asked for, or the first that there is; raises Error if there is no such."""
    numbers = sorted({p for p, _ in file.cases})
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
    if getattr(file, "others", None):
        raise Error(
            f"{file.algorithm.id}: the chunks of a pair of ranks go different ways",
            "`stretto check` proves such a plan; it cannot be one schedule",
        )
    if why := file.proof(shape.ranks, shape.root).refused:
        raise FailureError(why.message, "ranks and blocks count from 0, rounds from 1")
    return file.algorithm


def variables_for(path: str | Path, functions: list[str]) -> dict[str, str]:
    """What makes these functions take the file; raises Error for a path that no variable holds."""
    absolute = str(Path(path).absolute())
    if "," in absolute:
        raise Error(f"{absolute}: a path with a comma in it", "give the file another name")
    return {f"STRETTO_{name.upper()}": f"file:{absolute}" for name in functions}


def check_served(path: str | Path, cells: list[dict]) -> None:
    """Raises Error unless the file served every call of a race's cells."""
    for cell in cells:
        if not cell["algorithm"].endswith(f"/file:{Path(path).absolute()}"):
            raise Error(
                f"{cell['cell']} of {cell['bytes']} bytes went to {cell['algorithm']}, not to "
                f"{path}",
                "the log above says why; `stretto check --file` tries it alone",
            )
