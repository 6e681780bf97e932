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


def _needed(binary: Path) -> dict[str, Path | None]:
    """All shared objects that the dynamic linker would load, and from where."""
    found: dict[str, Path | None] = {}
    ldd = shutil.which("ldd") or shutil.which("ldd", path="/usr/bin:/bin")
    done = ask([ldd, binary], 20) if ldd else None
    lines = done.stdout if done else ""
    for name, path in re.findall(r"^\s*(\S+) => (not found|\S+)", lines, re.MULTILINE):
        found[Path(name).name] = None if path == "not found" else Path(path)
    return found


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


def _libmpi_of(program: Path) -> tuple[str, Path | None] | None:
    """(flavour, path of libmpi if it was found) of a binary; None if it needs none."""
    needed = _needed(program)
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


def _mpi4py_of(python: Path) -> Path | None:
    """The extension module of this Python's mpi4py, if it is built for one MPI, as Debian's is."""
    program = (
        "import importlib.util as u; spec = u.find_spec('mpi4py'); "
        "print(*(spec.submodule_search_locations if spec else ()))"
    )
    done = ask([python, "-c", program], 60)
    folder = done.stdout.strip() if done else ""
    modules = sorted(Path(folder).glob("MPI.*so")) if folder else []
    return modules[0] if len(modules) == 1 else None


def _of_environment(program: Path) -> Mpi | None:
    """The MPI in the prefix of a program, as wheels and most installations have it."""
    mpiexec = program.absolute().parent / "mpiexec"
    if not mpiexec.exists() or mpiexec.parent == Path("/usr/bin"):
        return None
    return inspect(mpiexec, f"beside {program.name}")


def _of_library(flavour: str, library: Path | None, program: Path) -> Mpi:
    """The MPI whose library the program loads."""
    candidates = [mpi for mpi in [_of_environment(program)] if mpi]
    if library is not None:
        beside = library.parent.parent / "bin" / "mpiexec"
        if beside.exists():
            candidates += [mpi for mpi in [inspect(beside, f"beside {library}")] if mpi]
    found = [mpi.of_flavour(flavour) for mpi in candidates + all_mpis()]
    candidates = [mpi for mpi in found if mpi]
    for mpi in candidates:
        if library and mpi.library and mpi.library.resolve() == library.resolve():
            return mpi
    return candidates[0] if candidates else choose_mpi("auto", flavour)


def mpi_of_program(name: str, wish: str = "auto") -> tuple[Mpi, dict[str, str]]:
    """The MPI to start a program with, and variables that its ranks need beside Stretto's."""
    program = find_program(name)
    interpreter = _interpreter(program)
    if interpreter is not None:
        program = interpreter
    libmpi = _libmpi_of(program)
    if libmpi is None and _is_python(program):
        module = _mpi4py_of(program)
        libmpi = _libmpi_of(module) if module else None
    if libmpi is None:
        # Scripts load their MPI at run time: for Python it is mostly a wheel beside it.
        found = _of_environment(program) if wish == "auto" and _is_python(program) else None
        return found or choose_mpi(wish), {}
    flavour, library = libmpi
    wished = _of_library(flavour, library, program) if wish == "auto" else choose_mpi(wish)
    mpi = wished.of_flavour(flavour)
    if mpi is None:
        needs = " or ".join(LIBRARIES[flavour])
        raise Error(
            f"{name} needs {needs}, which {wished.title} does not have",
            "leave --mpi out, or build the program with that MPI",
        )
    if library is None and mpi.library is not None:
        return mpi, {"LD_LIBRARY_PATH": _with_folder(mpi.library.parent)}
    return mpi, {}


def _with_folder(folder: Path) -> str:

    return ":".join(filter(None, [str(folder), os.environ.get("LD_LIBRARY_PATH", "")]))
