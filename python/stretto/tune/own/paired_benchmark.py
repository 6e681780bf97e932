# SPDX-License-Identifier: BSD-3-Clause
"""Starts the driver with a plan: points, each with candidates."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ... import _core
from ...errors import Error
from ...files import naming
from ...launch.mpi import Mpi
from ...measure.driver import Ratios, Results, SilenceError, drive
from .points import Point

PATIENCE = 30.0  # seconds for a candidate's first calls, or beyond all that the others may take


@dataclass(frozen=True)
class Place:
    """Where ranks ran: what a probe has found."""

    ranks: int
    nodes: int
    cores: int  # of a node
    title: str  # what stands in a machine line

    @property
    def placement(self) -> _core.Placement:
        return _core.Placement(-(-self.ranks // self.nodes))


Plan = list[tuple[Point, str, list[str]]]  # points in modes, with candidates


def refuse_variables() -> None:
    """Variables stand above info keys: with them every candidate would be the same one."""
    names = [f"STRETTO_{_core.facts(one).name.upper()}" for one in _core.all_functions()]
    for name in [*names, "STRETTO_DISABLE"]:
        if name in os.environ:
            raise Error(f"{name} is set: nothing else can be measured", f"unset {name}")


def probe(mpi: Mpi, ranks: int, limit: float = PATIENCE) -> Place:
    words = ["--cells", "barrier:0", "--native-only"]
    said = drive(mpi, ranks, words, 0.001, limit, Results()).machine
    if "title" not in said:
        raise Error("the driver did not say where it ran", "`stretto doctor` shows what works")
    return Place(said["ranks"], said["nodes"], said["cores"], said["title"])


def measured_reductions(mpi: Mpi) -> Ratios:
    """How long they take by operator and type, on the core of rank 0; raises Error."""
    return drive(mpi, 1, ["--reductions"], 0.0, PATIENCE, Results()).reductions


def measure(
    mpi: Mpi, ranks: int, plan: Plan, seconds: float, folder: Path, heard: Callable[[dict], None]
) -> str:
    """Gives each point's row to `heard` as it comes. What was begun when the driver fell silent."""
    results, told = Results(), 0

    def advance(done: float, of: float | None = None, what: str = "") -> None:
        nonlocal told
        while told < len(results.cells):
            told += 1
            heard(results.cells[told - 1])

    # Rank 0 reads it, which may be on another node.
    with tempfile.NamedTemporaryFile("w", suffix=".plan", dir=folder, encoding="utf-8") as file:
        with naming(file.name):
            for point, mode, words in plan:
                file.write(f"{point.name}:{point.asked}:{mode} {' '.join(words)}\n")
            file.flush()
        try:
            patience = PATIENCE + 10 * seconds
            drive(mpi, ranks, ["--plan", file.name], seconds, patience, results, advance)
        except SilenceError:
            return results.stage or "start"
    return ""
