# SPDX-License-Identifier: BSD-3-Clause
"""What a native library must say about itself to be tuned."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from ...launch.mpi import Mpi


@dataclass(frozen=True)
class Rule:
    """From `least` bytes on, as the driver counts them; None leaves the choice to the library."""

    least: int
    algorithm: str | None


Table = dict[tuple[str, int], list[Rule]]  # by function and number of ranks; the first from 0 on


def ranks_of(table: Table) -> list[int]:
    return sorted({ranks for _, ranks in table})


class Target(ABC):
    """An exporter. What it measures is what it writes: algorithms are forced by its own files."""

    title: str
    # True: where a file names an algorithm for one size of a function, it must for all.
    complete = False

    def __init__(self, mpi: Mpi, commutative: bool = False) -> None:
        """`commutative`: all operators of the programs to come are."""
        self.mpi, self.commutative = mpi, commutative

    @abstractmethod
    def algorithms(self, function: str, ranks: int) -> list[str]:
        """What may be tried; empty where there is no choice."""

    @abstractmethod
    def sized(self, function: str) -> bool:
        """Whether the choice may depend on the size, that is, all ranks know the same one."""

    @abstractmethod
    def write(self, table: Table, folder: Path) -> list[Path]:
        """The library's own tuning files."""

    @abstractmethod
    def variables(self, table: Table, folder: Path, ranks: int) -> dict[str, str]:
        """With them the library obeys what `write` has written, on so many ranks."""

    def option(self, name: str, value: str) -> str:
        """Of mpiexec, for one of the variables."""
        return f"-genv {name} {value}"

    def usage(self, table: Table, folder: Path) -> list[str]:
        """Command lines that use the files."""
        ranks = ranks_of(table)[-1]
        variables = self.variables(table, folder, ranks)
        words = " ".join(self.option(name, value) for name, value in variables.items())
        return [f"mpiexec -n {ranks} {words} ./app"]
