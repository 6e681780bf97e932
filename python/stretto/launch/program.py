# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI a program was built for."""

import os
import re
import shutil
from pathlib import Path

from ..errors import Error
from .ask import ask
from .mpi import LIBRARIES, Mpi, all_mpis, choose_mpi, inspect

STANDARD_ABI = re.compile(r"^libmpi_abi\.so")


def _needed(binary: Path, variables: dict[str, str]) -> dict[str, Path | None]:
    """All shared objects that the dynamic linker would load, and from where."""
    ldd = shutil.which("ldd") or shutil.which("ldd", path="/usr/bin:/bin")
    done = ask([ldd, binary], 20, {**os.environ, **variables}) if ldd else None
    lines = done.stdout if done else ""
    pairs = re.findall(r"^\s*(\S+) => (not found|\S+)", lines, re.MULTILINE)
    return {Path(name).name: None if path == "not found" else Path(path) for name, path in pairs}


def _interpreter(program: Path) -> Path | None:
    """Of a script that begins with #!."""
    with program.open("rb") as file:
        head = file.readline(256)
    if not head.startswith(b"#!"):
        return None
    words = head[2:].decode(errors="replace").split()
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    found = shutil.which(words[0]) if words else None
    return Path(found) if found else None


def _is_python(program: Path) -> bool:
    return re.fullmatch(r"(python|pypy)[\d.]*", program.name) is not None


def find_program(name: str) -> Path:
    """Its path; raises Error."""
    found = shutil.which(name)
    if found is None:
        if Path(name).is_dir():
            raise Error(f"{name} is a folder", "name a program in it")
        if Path(name).is_file():
            raise Error(
                f"{name} may not be executed",
                f"`chmod +x {name}`, or start it by its interpreter: python {name}",
            )
        raise Error(f"no program is called '{name}'", "is it on PATH? else name its folder: ./app")
    return Path(found)


def _libmpi_of(
    program: Path, variables: dict[str, str] | None = None
) -> tuple[str, Path | None] | None:
    """(flavour, path of libmpi if it was found) of a binary; None if it needs none."""
    needed = _needed(program, variables or {})
    for flavour, names in LIBRARIES.items():
        for name in names:
            if name in needed:
                return flavour, needed[name]
    for name in needed:
        if STANDARD_ABI.match(name):
            raise Error(
                f"{program} was built for another version of the MPI 5 standard ABI ({name})",
                f"build it with an mpicc_abi whose library is {LIBRARIES['abi'][0]}",
            )
    return None


def _mpi4py_of(python: Path) -> list[Path]:
    """The extension modules of this Python's mpi4py: one for each ABI that it can run on."""
    program = (
        "import importlib.util as u; spec = u.find_spec('mpi4py'); "
        "print(*(spec.submodule_search_locations if spec else ()))"
    )
    done = ask([python, "-c", program], 60)
    folder = done.stdout.strip() if done else ""
    return sorted(Path(folder).glob("MPI.*so")) if folder else []


def _of_environment(program: Path) -> Mpi | None:
    """The MPI in the prefix of a program, as wheels and most installations have it."""
    mpiexec = program.absolute().parent / "mpiexec"
    if not mpiexec.exists() or mpiexec.parent == Path("/usr/bin"):
        return None
    return inspect(mpiexec, f"beside {program.name}")


def _of_library(flavour: str, library: Path | None, program: Path) -> Mpi:
    """The MPI whose library the program loads."""
    near = [_of_environment(program)]
    if library is not None:
        beside = library.parent.parent / "bin" / "mpiexec"
        if beside.exists():
            near.append(inspect(beside, f"beside {library}"))
    candidates = [own for mpi in (*near, *all_mpis()) if mpi and (own := mpi.of_flavour(flavour))]
    for mpi in candidates:
        if library and mpi.library and mpi.library.resolve() == library.resolve():
            return mpi
    return candidates[0] if candidates else choose_mpi("auto", flavour)


def mpi_of_program(name: str, wish: str = "auto") -> tuple[Mpi, dict[str, str]]:
    """The MPI to start a program with, and variables that its ranks need beside Stretto's."""
    program = find_program(name)
    program = _interpreter(program) or program
    binary, libmpi, modules = program, _libmpi_of(program), []
    if libmpi is None and _is_python(program):
        modules = _mpi4py_of(program)
        if len(modules) == 1:  # built for one MPI, as Debian's is
            binary, libmpi = modules[0], _libmpi_of(modules[0])
    if libmpi is None:
        # Scripts load their MPI at run time: for Python it is mostly a wheel beside it.
        found = _of_environment(program) if wish == "auto" and _is_python(program) else None
        mpi = found or choose_mpi(wish)
        return mpi, _for_mpi4py(mpi) if modules and found is None else {}
    flavour, library = libmpi
    wished = _of_library(flavour, library, program) if wish == "auto" else choose_mpi(wish)
    mpi = wished.of_flavour(flavour)
    if mpi is None:
        needs = " or ".join(LIBRARIES[flavour])
        raise Error(
            f"{name} needs {needs}, which {wished.title} does not have",
            "leave --mpi out, or build the program with that MPI",
        )
    return mpi, _for_library(mpi, binary, library, wish)


def _for_mpi4py(mpi: Mpi) -> dict[str, str]:
    """By which an mpi4py for several ABIs loads this MPI, and not the one beside its Python."""
    chosen = {"MPI4PY_LIBMPI", "MPI4PY_MPIABI"} & os.environ.keys()
    return {} if chosen or mpi.library is None else {"MPI4PY_LIBMPI": str(mpi.library)}


def _for_library(mpi: Mpi, binary: Path, library: Path | None, wish: str) -> dict[str, str]:
    """By which the dynamic linker finds this MPI where it finds none, or another than is wished."""
    if mpi.library is None:
        return {}
    folders = [str(mpi.library.parent), os.environ.get("LD_LIBRARY_PATH", "")]
    variables = {"LD_LIBRARY_PATH": ":".join(filter(None, folders))}
    if library is None:
        return variables
    if wish == "auto" or library.resolve() == mpi.library.resolve():
        return {}
    _, then = _libmpi_of(binary, variables) or ("", None)
    return variables if then and then.resolve() == mpi.library.resolve() else {}


SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "fish", "csh", "tcsh")


def is_without_mpi(words: list[str]) -> bool:
    """Is it a program, and no script or starter of others, that is linked to no MPI?

    It may still load one while it runs.
    """
    found = shutil.which(words[0])
    if found is None:
        return False
    program = Path(found)
    with program.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return False
    if _is_python(program) or program.name in SHELLS or _libmpi_of(program) is not None:
        return False
    return not any(shutil.which(word) or Path(word).is_file() for word in words[1:])
