# SPDX-License-Identifier: BSD-3-Clause
"""Starts MPI programs with Stretto in them, under the MPIs that tests/run has set up."""

import os
import re
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import pytest
from stretto import all_functions, facts
from stretto.cli.run_ import words_of
from stretto.launch import Mpi, library_of
from stretto.launch.cores import cores
from stretto.launch.job import environment_of, job_of
from stretto.launch.mpi import inspect
from stretto.measure.process import stop

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "mpi" / "programs"
PREFIXES = {
    "mpich": "STRETTO_TEST_MPICH",
    "openmpi": "STRETTO_TEST_OPENMPI",
    "intel": "STRETTO_TEST_INTEL",
}
# Of all ranks of a communicator.
COLLECTIVES = {
    facts(function).name
    for function in all_functions()
    if not facts(facts(function).collective).neighbourhood
}
# Programs built for the MPI 5 standard ABI, under the libmpi_abi of these MPIs.
ABI = {"mpich-abi": "mpich", "intel-abi": "intel"}
DEBIAN = {"debian-mpich": "mpich", "debian-openmpi": "openmpi"}  # the suffix of their compilers
# For more ranks than cores, where MPICH spins through whole time slices. Not for measuring.
PATIENT = {
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16",
}


def from_environment(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} is not set: tests/run sets it")
    return Path(value)


def installed(name: str) -> Mpi:
    """The MPI of this name; skips the test if there is none."""
    mpiexec = from_environment(PREFIXES[ABI.get(name, name)]) / "bin" / "mpiexec"
    mpi = inspect(mpiexec, "tests")
    if mpi is not None and name in ABI:
        mpi = mpi.of_flavour("abi")
    assert mpi is not None and mpi.library is not None, mpiexec
    return mpi


@dataclass
class Line:
    """What the summary says of one collective."""

    served: dict[str, int] = field(default_factory=dict)
    passed: dict[str, int] = field(default_factory=dict)


@dataclass
class Finished:
    """A program that has ended."""

    code: int
    out: str
    err: str

    @property
    def summary(self) -> dict[str, Line]:
        """By collective. The sums must be right."""
        lines: dict[str, Line] = {}
        pattern = (
            r"^stretto: summary: rank \d+ (\w+) "
            r"served (\d+)(?: \((.*?)\))?, passed on (\d+)(?: \((.*?)\))?$"
        )
        for name, served, by, passed, why in re.findall(pattern, self.err, re.MULTILINE):
            line = Line(_counts(by), _counts(why))
            assert sum(line.served.values()) == int(served)
            assert sum(line.passed.values()) == int(passed)
            lines[name] = line
        return lines

    def served(self, collective: str) -> int:
        return sum(self.summary.get(collective, Line()).served.values())

    def passed(self, collective: str) -> dict[str, int]:
        return self.summary.get(collective, Line()).passed

    def succeeded(self) -> "Finished":
        assert self.code == 0, f"exit code {self.code}\n{self.out[-4000:]}\n{self.err[-8000:]}"
        return self

    def said(self, text: str) -> bool:
        return any(text in line for line in self.err.splitlines())


def all_right(done: Finished) -> Finished:
    assert done.succeeded().out.strip().splitlines()[-1:] == ["all right"], done.out
    return done


def said(done: Finished) -> list[str]:
    """Stretto's lines, without hints, the summary and the note on root."""
    lines = [line for line in done.err.splitlines() if line.startswith("stretto: ")]
    return [line for line in lines if "summary:" not in line and "as root" not in line]


def _counts(text: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item in filter(None, text.split(", ")):
        name, _, n = item.rpartition(" ")
        counts[name] = int(n)
    return counts


def finish(words: list, environment: dict[str, str], timeout: float, cwd: Path | None = None):
    """Runs a command; after `timeout` it and all that it has started are killed."""
    process = subprocess.Popen(
        [str(word) for word in words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment,
        cwd=cwd,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        stop(process)  # and its ranks, which may be in sessions of their own
        out, err = process.communicate()
        pytest.fail(f"no end within {timeout} s: {words}\n{out[-4000:]}\n{err[-8000:]}")
    return Finished(process.returncode, out, err)


def launch(mpi: Mpi, ranks: int, program: list, timeout: float = 120, **variables: str) -> Finished:
    """Under the MPI's own launcher, without preloading anything."""
    if mpi.name == "MPICH":
        variables = {**PATIENT, **variables}
    words = mpi.command(ranks, [str(word) for word in program], variables)
    return finish(words, mpi.environment(), timeout)


def preloaded(mpi: Mpi, ranks: int, program: list, *before: Path, **variables: str) -> Finished:
    """With Stretto, behind these libraries, but without `stretto run`; prints the summary."""
    libraries = ":".join(map(str, (*before, library_of(mpi.flavour))))
    return launch(mpi, ranks, program, LD_PRELOAD=libraries, STRETTO_LOG="summary", **variables)


ONE_ENVIRONMENT = threading.Lock()  # that of this process


def stretto_words(ranks: int, program: list, mpi: Mpi | None = None) -> list:
    """The command line of `stretto run`."""
    wish = ["--mpi", mpi.mpiexec] if mpi else []
    return [sys.executable, "-m", "stretto", "run", "-n", ranks, *wish, "--", *program]


def stretto_run(
    ranks: int,
    program: list,
    *,
    mpi: Mpi | None = None,
    timeout: float = 120,
    cwd: Path | None = None,
    **variables: str,
) -> Finished:
    """As `stretto run` does it; prints the summary unless STRETTO_LOG is given."""
    environment = {**os.environ, **PATIENT, "STRETTO_LOG": "summary", **variables}
    if cwd:
        return finish(stretto_words(ranks, program, mpi), environment, timeout, cwd)
    # In this process: to start Python and to look at the MPI takes longer than most programs.
    with ONE_ENVIRONMENT, mock.patch.dict(os.environ, environment, clear=True):
        job = job_of([str(word) for word in program], ranks, str(mpi.mpiexec) if mpi else "auto")
        words, environment = words_of(job), environment_of(job)
    return finish(words, environment, timeout)


def ranks_in_log(ranks: int) -> str:
    """As a line of STRETTO_LOG=select calls the ranks of a job on this machine."""
    return f"{ranks} ranks" + " sharing cores" * (ranks > cores())


def needed(name: str) -> str:
    """The path of a command; skips the test if there is none."""
    found = shutil.which(name)
    if found is None:
        packages = "gfortran lammps libmpich-dev libopenmpi-dev eztrace otf2-tools"
        pytest.skip(f"there is no {name}: apt-get install {packages}")
    return found


def compile_for(mpi: str, source: Path, target: Path, flags: tuple[str, ...]) -> None:
    fortran = source.suffix == ".F90"
    if mpi in DEBIAN:
        compiler = needed(("mpif90." if fortran else "mpicc.") + DEBIAN[mpi])
        # Its mpif.h and mpi module leave the types of buffers open; gfortran compares the calls.
        extra = ["-fallow-argument-mismatch", "-w"] if fortran else []
    elif mpi in ("intel", "intel-abi"):
        # Its mpicc wants variables that a script of oneAPI sets.
        prefix = from_environment(PREFIXES["intel"])
        compiler = needed("cc")
        library = prefix / "lib"
        extra = [f"-I{prefix}/include", f"-L{library}", f"-Wl,-rpath,{library}"]
        # The standard's header does not say whose it is: its programs know by these.
        extra += ["-DMPI_ABI", "-DI_MPI_VERSION", "-lmpi_abi"] if mpi in ABI else ["-lmpi"]
    elif mpi == "mpich-abi":
        compiler = str(from_environment(PREFIXES["mpich"]) / "bin" / "mpicc_abi")
        extra = ["-DMPICH_VERSION"]
    else:
        compiler, extra = str(from_environment(PREFIXES[mpi]) / "bin" / "mpicc"), []
    finish([compiler, source, *flags, "-o", target, *extra], dict(os.environ), 120).succeeded()


def mpi_of(name: str) -> Mpi | None:
    """None for Debian's: `stretto run` must find them."""
    return None if name in DEBIAN else installed(name)
