# SPDX-License-Identifier: BSD-3-Clause
"""An MPI in a folder, for programs that are compiled and started without and with Stretto."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class InstalledMpi:
    """Has bin/mpiexec, include/mpi.h or bin/mpicc, and lib/libmpi.so.*."""

    prefix: Path

    @property
    def is_openmpi(self) -> bool:
        return (self.prefix / "lib" / "libmpi.so.40").exists()

    def stretto(self, build: Path) -> Path:
        """The library of a build folder."""
        library = build.resolve() / f"libstretto-{'openmpi' if self.is_openmpi else 'mpich'}.so"
        if not library.exists():
            sys.exit(f"there is no {library}")
        return library

    def compiled(self, source: Path, target: Path) -> Path:
        wrapper = self.prefix / "bin" / "mpicc"
        libraries = [f"-I{self.prefix}/include", f"-L{self.prefix}/lib", "-lmpi"]
        compiler = [wrapper] if wrapper.exists() else ["cc"]
        words = [*compiler, source, "-O2", "-o", target, *(() if wrapper.exists() else libraries)]
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"cannot compile {source} for the MPI in {self.prefix}: {done.stderr}")
        return target

    def output(
        self, ranks: int, program: list[str], library: Path | None, openmpi: tuple[str, ...]
    ) -> str:
        """What the program prints; `openmpi`: options of mpiexec, if it is Open MPI's."""
        environment = dict(os.environ)
        paths = [f"{self.prefix}/lib", *filter(None, [environment.get("LD_LIBRARY_PATH")])]
        environment["LD_LIBRARY_PATH"] = ":".join(paths)
        words = [str(self.prefix / "bin" / "mpiexec"), "-n", str(ranks)]
        if self.is_openmpi:
            environment |= {f"OMPI_ALLOW_RUN_AS_ROOT{end}": "1" for end in ("", "_CONFIRM")}
            words += [*openmpi, *(["-x", f"LD_PRELOAD={library}"] if library else [])]
        elif library:
            words += ["-genv", "LD_PRELOAD", str(library)]
            session = library.with_name("libstretto-session.so")
            if ranks > len(os.sched_getaffinity(0)) and session.exists():  # as `stretto run` does
                words = ["env", f"LD_PRELOAD={session}", *words]
        words += program
        done = subprocess.run(words, env=environment, timeout=300, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(words)} failed:\n{done.stderr}")
        return done.stdout
