# SPDX-License-Identifier: BSD-3-Clause
"""What works on this machine: the facts behind `stretto doctor`."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from . import _core
from .errors import Error
from .launch.cores import autogroups, cores
from .launch.library import FLAVOURS, NAMES, installed_flavours, library_of, session_library
from .launch.mpi import WHEELS, Mpi, all_mpis
from .measure.driver import driver_command
from .measure.process import ended, start, stop

SMOKE_LIMIT = 60.0  # seconds; MPICH with more ranks than cores is slow


@dataclass(frozen=True)
class Finding:
    """`good` is None for a fact that is neither good nor bad."""

    topic: str
    good: bool | None
    words: str
    hint: str = ""


def _machine() -> list[Finding]:
    found = [Finding("cores", None, f"{cores()} of {os.cpu_count()} usable on {platform.node()}")]
    try:
        usage = shutil.disk_usage("/dev/shm")
    except OSError:
        return [*found, Finding("/dev/shm", False, "missing", "mount a tmpfs there")]
    free = usage.free / (1 << 20)
    good = free >= 64 and os.access("/dev/shm", os.W_OK)
    hint = "" if good else "containers: --shm-size=1g"
    return [*found, Finding("/dev/shm", good, f"{free:.0f} MiB free", hint)]


def _flavours() -> Iterator[Finding]:
    again = "install Stretto again with the MPI wheels reachable, "
    again += "or with STRETTO_MPICC=/path/to/mpicc"
    for flavour in FLAVOURS:
        built = flavour in installed_flavours()
        words = (str(library_of(flavour)), "") if built else ("was not built", again)
        yield Finding(f"library for {NAMES[flavour]}", built, *words)


def smoke(mpi: Mpi, limit: float = SMOKE_LIMIT) -> Finding:
    """Two ranks under this MPI with Stretto in them."""
    topic = mpi.title
    try:
        command = driver_command(mpi, 2, ["--sizes", "8,65536", "--budget", "0.01"])
    except Error as error:
        return Finding(topic, False, str(error), error.hint)
    with ended(start(mpi, command, subprocess.STDOUT)) as process:
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            stop(process)
            hint = f"does `{mpi.mpiexec} -n 2 hostname` end?"
            return Finding(topic, False, f"2 ranks did not end within {limit:.0f} s", hint)
    where = f"{mpi.mpiexec} ({mpi.source})"
    if process.returncode == 0:
        return Finding(topic, True, f"2 ranks served by Stretto, {where}")
    last = ([line for line in said.splitlines() if line.strip()] or ["nothing said"])[-1]
    words = f"exit code {process.returncode}: {last.strip()}, {where}"
    return Finding(topic, False, words, f"does `{mpi.mpiexec} -n 2 hostname` work?")


def _mpis() -> list[Finding]:
    mpis = all_mpis()
    if "abi" in installed_flavours():
        mpis += [one for one in (mpi.of_flavour("abi") for mpi in mpis) if one]
    found = [smoke(mpi) for mpi in mpis]
    if autogroups() and any(mpi.name == "MPICH" for mpi in mpis):
        words = "on: where ranks share cores, MPICH ranks that wait take time from those that work"
        hint = "with plain mpiexec: sysctl kernel.sched_autogroup_enabled=0"
        if session_library():
            hint = f"`stretto run -n` avoids it; {hint}"
        found.append(Finding("autogroups", None, words, hint))
    if not mpis:
        hint = f"`{sys.executable} -m pip install {WHEELS['mpich']}` brings one"
        found.append(Finding("MPI", False, f"none in {sys.prefix} and none on PATH", hint))
    return found


def diagnose() -> tuple[list[Finding], bool]:
    """All findings, and whether a program can be run with Stretto under at least one MPI."""
    python = f"Python {platform.python_version()} in {sys.prefix}"
    words = f"{_core.version()}, compiled with {_core.compiler()}, {python}"
    own, mpis = Finding("stretto", None, words), _mpis()
    return [own, *_machine(), *_flavours(), *mpis], any(one.good for one in mpis)
