# SPDX-License-Identifier: BSD-3-Clause
"""Intel MPI: variables I_MPI_ADJUST_…, as a shell file.

Tried with 2021.18, see docs/native-tuning.md: a list of sizes works without numbers of ranks
only, hence a branch of the file for each; a variable that is set at all replaces the library's own
tuning of that function, hence all sizes are named; and lists are read as thresholds.
"""

import os
import re
import shlex
from functools import cache
from pathlib import Path

from ...errors import Error
from ...files import write_text
from ...launch.ask import ask
from .target import Rule, Table, Target, ranks_of

SIZED = (
    "allgather", "allreduce", "alltoall", "bcast", "exscan", "reduce", "reduce_scatter",
    "reduce_scatter_block", "scan",
)  # fmt: skip
NAME = "stretto-intel.sh"


@cache
def _presets(program: Path, library: Path | None, function: str) -> int:
    """How many the library has for a function, as its `impi_info` says; raises Error."""
    path = str(library.parent) if library else ""
    words = [program, "-v", f"I_MPI_ADJUST_{function.upper()}"]
    done = ask(words, 60, {**os.environ, "LD_LIBRARY_PATH": path})
    match = re.search(r"range: *0-(\d+)", done.stdout if done else "")
    if not match:
        raise Error(
            f"{program} does not say which presets {function} has",
            "it comes with the library: `pip install impi-devel`, or oneAPI's",
        )
    return int(match[1]) + 1


class IntelMpi(Target):
    title = "Intel MPI"
    complete = True

    def algorithms(self, function: str, ranks: int) -> list[str]:
        program = self.mpi.mpiexec.parent / "impi_info"
        count = _presets(program, self.mpi.library, function)
        return [f"preset {number}" for number in range(count)]

    def sized(self, function: str) -> bool:
        return function in SIZED

    def _value(self, function: str, ranks: int, rules: list[Rule]) -> str:
        """`3:0-63;1` is preset 3 up to 63 bytes and 1 from there on."""
        ends = [rule.least - 1 for rule in rules[1:]]
        if function == "reduce_scatter_block":
            ends = [end // ranks for end in ends]  # here of a part, elsewhere as the driver counts
        words = []
        for rule, end in zip(rules, [*ends, None], strict=True):
            assert rule.algorithm is not None, function
            number = rule.algorithm.removeprefix("preset ")
            words.append(number if end is None else f"{number}:0-{end}")
        return ";".join(words)

    def variables(self, table: Table, folder: Path, ranks: int) -> dict[str, str]:
        return {
            f"I_MPI_ADJUST_{function.upper()}": self._value(function, ranks, rules)
            for (function, one), rules in sorted(table.items())
            if one == ranks and any(rule.algorithm for rule in rules)
        }

    def write(self, table: Table, folder: Path) -> list[Path]:
        lines = ["# The first argument is the number of ranks in MPI_COMM_WORLD.", 'case "$1" in']
        for ranks in ranks_of(table):
            lines.append(f"  {ranks})")
            for name, value in self.variables(table, folder, ranks).items():
                lines.append(f"    export {name}={shlex.quote(value)}")
            lines.append("    ;;")
        measured = " ".join(map(str, ranks_of(table)))
        lines += [f"  *) echo \"{NAME}: made for {measured} ranks, not for '$1'\" >&2 ;;", "esac"]
        path = folder / NAME
        write_text(path, "\n".join(lines) + "\n")
        return [path]

    def usage(self, table: Table, folder: Path) -> list[str]:
        n = ranks_of(table)[-1]
        path = shlex.quote(str((folder / NAME).absolute()))
        return [f"bash -c '. {path} {n} && mpiexec -n {n} ./app'"]
