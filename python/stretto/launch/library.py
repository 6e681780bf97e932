# SPDX-License-Identifier: BSD-3-Clause
"""What the package brings: one library and one race driver per MPI flavour."""

import os
import re
from pathlib import Path

from .. import _core
from ..errors import Error

FLAVOURS = ("mpich", "openmpi", "abi")
NAMES = {"mpich": "MPICH", "openmpi": "Open MPI", "abi": "MPI 5 standard"}
AN_MPI = re.compile(r"libp?mpi(ch|_mt|_abi)?\.so\b")


def _folder() -> Path:
    # Beside the extension module: in an editable install the Python files lie elsewhere.
    return Path(_core.__file__).resolve().parent / "lib"


def installed_flavours() -> list[str]:
    return [flavour for flavour in FLAVOURS if _library_path(flavour).is_file()]


def _library_path(flavour: str) -> Path:
    return _folder() / f"libstretto-{flavour}.so"


def library_of(flavour: str) -> Path:
    """The library to preload; raises Error if this flavour was not built."""
    return _existing(_library_path(flavour), flavour)


FOLDERS = {
    "lib": "",
    "pkgconfig": "pkgconfig",
    "cmake": "cmake/stretto",
    "modulefiles": "modulefiles",
}


def folder_of(what: str) -> Path:
    """Where one of FOLDERS is: what the linker, pkg-config, CMake or `module use` looks for."""
    return _folder() / FOLDERS[what]


def link_flags(flavour: str) -> list[str]:
    """For the linker, before the MPI's own library; raises Error if this flavour was not built."""
    folder = library_of(flavour).parent
    return [f"-L{folder}", f"-Wl,-rpath,{folder}", f"-lstretto-{flavour}"]


def program_of(what: str, flavour: str) -> Path:
    """The executable `race`, native against Stretto, or `probe`, which discovers networks; raises
    Error if it was not built."""
    return _existing(_folder() / f"stretto-{what}-{flavour}", flavour)


def machine_program() -> Path:
    """The executable that measures the state of the machine; raises Error if it was not built."""
    return _existing(_folder() / "stretto-machine")


def _existing(path: Path, flavour: str | None = None) -> Path:
    if path.is_file():
        return path
    if flavour is None:
        raise Error(f"Stretto was built without MPI: there is no {path}", "install it again")
    built = ", ".join(NAMES[one] for one in installed_flavours()) or "none"
    raise Error(
        f"Stretto was not built for the {NAMES[flavour]} ABI: there is no {path}",
        f"built flavours: {built}; install again with the MPI wheels reachable, "
        "or with STRETTO_MPICC=/path/to/mpicc",
    )


def heap_library() -> Path:
    """The allocator of `--shared-heap`; raises Error if it was not built."""
    return _existing(_folder() / "libstretto-heap.so")


def session_library() -> Path | None:
    """What keeps MPICH's ranks in one session; None if it was not built."""
    path = _folder() / "libstretto-session.so"
    return path if path.is_file() else None


def preload(flavour: str, shared_heap: bool = False) -> str:
    """LD_PRELOAD's value for the ranks: what the user preloads already, then Stretto.

    Tools that look for the next definition of a function find it then. An MPI must come behind.
    """
    ours = [str(library_of(flavour)), *([str(heap_library())] if shared_heap else [])]
    libraries = re.split(r"[: ]+", os.environ.get("LD_PRELOAD", "").strip(": "))
    before = [one for one in libraries if one and not AN_MPI.match(Path(one).name)]
    behind = [one for one in libraries if AN_MPI.match(Path(one).name)]
    return ":".join([*before, *ours, *behind])
