# SPDX-License-Identifier: BSD-3-Clause
"""A program as its user starts it: by its name, or behind a launcher."""

import os
import re
import shlex
import shutil
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from ..errors import Error
from .mpi import Mpi, inspect
from .program import find_program, is_without_mpi, mpi_of_program

LAUNCHERS = re.compile(r"(mpiexec|mpirun|orterun|prterun)([.\-]\w+)?|srun|aprun|jsrun|ibrun|flux")
OF_MPI = re.compile(r"mpiexec|mpirun|orterun|prterun")
# Options of launchers whose value, a word of its own, may be the name of some program.
OF_SRUN = re.compile(
    r"-[pAJqwCNncM]|--(partition|account|job-name|qos|nodelist|constraint|reservation|clusters|"
    r"comment|distribution|cpu-bind)"
)
OF_OTHERS = re.compile(
    r"-(n|np|N|H|f|ppn)|--?(hosts?|hostfile|machinefile|wdir|map-by|rank-by|bind-to|launcher|"
    r"bootstrap)"
)


@dataclass(frozen=True)
class Job:
    """`variables` are for the ranks, whoever is to be in them."""

    mpi: Mpi
    ranks: int
    program: list[str]
    variables: dict[str, str] = field(default_factory=dict)
    more: list[list[str]] = field(default_factory=list)  # words behind each ":" of the launcher

    def command(self, variables: dict[str, str]) -> list[str]:
        """The command line; these variables reach the ranks as well."""
        everything = {**self.variables, **variables}
        words = self.mpi.command(self.ranks, self.program, everything)
        for part in self.more:
            at = _program_in(part, self.mpi.launcher[0])
            assignments = [f"{name}={value}" for name, value in everything.items()]
            words += [":", *part[:at], "env", *assignments, *part[at:]]
        return words

    @property
    def own_launcher(self) -> bool:
        return bool(self.mpi.launcher)

    @property
    def by_mpi(self) -> bool:
        """Is its launcher the MPI's own, whichever that is?"""
        return not self.own_launcher or bool(OF_MPI.match(Path(self.mpi.launcher[0]).name))

    @property
    def hands_on(self) -> bool:
        """Do processes that it spawns get these variables, by its launcher or by Stretto?"""
        return not self.own_launcher or self.mpi.name == "Open MPI"

    @property
    def known_ranks(self) -> int | None:
        """None: its launcher alone knows."""
        return None if self.own_launcher else self.ranks

    @property
    def without_mpi(self) -> bool:
        return is_without_mpi(self.program)

    def __str__(self) -> str:
        """As its user would write it, without what stands in front."""
        return shlex.join([Path(self.program[0]).name, *self.program[1:]])


def split_launcher(launcher: str) -> tuple[str, ...]:
    """`srun -n 4`; raises Error."""
    try:
        return tuple(shlex.split(launcher))
    except ValueError as error:
        raise Error(f"--launcher: {str(error).lower()}", "write 'srun -n 4'") from None


def _is_launcher(words: list[str]) -> bool:
    name = Path(words[0]).name
    if name == "flux":  # a program may be called so
        return words[1:2] in (["run"], ["submit"], ["mini"])
    return LAUNCHERS.fullmatch(name) is not None


def _program_in(words: list[str], launcher: str) -> int:
    """Where the launcher's options end: at the first word that can be executed and is not the value
    of an option, if there is one."""
    with_value = OF_SRUN if Path(launcher).name == "srun" else OF_OTHERS
    found = []
    for at, word in enumerate(words):
        path = None if word.startswith("-") or "=" in word else shutil.which(word)
        if path and not Path(path).is_dir():
            found.append(at)
    apart = [at for at in found if at == 0 or not with_value.fullmatch(words[at - 1])]
    if not found:
        where = f" in: {shlex.join(words)}" if words else f" behind {Path(launcher).name}"
        hint = "is its path right? Or put the launcher apart: --launcher 'srun -n 4' -- ./app"
        raise Error(f"no program was found{where}", hint)
    return (apart or found)[0]


def job_of(words: list[str], ranks: int | None, wish: str, launcher: str | None = None) -> Job:
    """Of a command line as its user writes it; raises Error. 2 ranks where nobody says."""
    more: list[list[str]] = []
    front: tuple[str, ...] = ()
    if launcher is not None:
        front = split_launcher(launcher)
    elif _is_launcher(words):
        # What stands between the colons of `mpiexec -n 1 ./a : -n 2 ./b`.
        colons = [-1, *(at for at, word in enumerate(words) if word == ":"), len(words)]
        first, *more = (words[a + 1 : b] for a, b in pairwise(colons))
        at = 1 + _program_in(first[1:], words[0])
        front, words = tuple(first[:at]), first[at:]
    if front and ranks is not None:
        raise Error(f"{Path(front[0]).name} says how many ranks there are", "leave -n out")
    if front and wish == "auto" and OF_MPI.match(Path(front[0]).name):
        mpiexec = find_program(front[0]).absolute()
        wish = str(mpiexec) if inspect(mpiexec, "launcher") else wish
    mpi, variables = mpi_of_program(words[0], wish)
    if front:
        mpi = replace(mpi, launcher=front)
    return Job(mpi, ranks or 2, words, variables, more)


def environment_of(job: Job) -> dict[str, str]:
    """For the launcher: where it is the MPI's own, root may use it."""
    return job.mpi.environment() if job.by_mpi else dict(os.environ)
