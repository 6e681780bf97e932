# SPDX-License-Identifier: BSD-3-Clause
"""The race driver of one peer, which waits between cells: others measure meanwhile."""

import os
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from ..errors import Error
from ..interrupt import held
from ..launch.mpi import Mpi
from .driver import Results, driver_command, take
from .process import Silence, start, stop

END = 10.0  # seconds that a driver has to end when it has no more to do


class CellError(Error):
    """A cell was not measured. `side` is whose calls had begun: Stretto, native or both."""

    def __init__(self, what: str, side: str) -> None:
        super().__init__(what, "`stretto doctor` shows whether this MPI works at all")
        self.side = side


class WaitingDriver:
    """Starts when it is first asked, and again after a failure.

    Every rank reads its orders from a pipe of its own: those that wait leave the cores alone.
    """

    def __init__(self, mpi: Mpi, ranks: int, budget: float, limit: float) -> None:
        self.mpi, self.ranks, self.budget, self.limit = mpi, ranks, budget, limit
        self._process: subprocess.Popen | None = None
        self._pipes: list[int] = []
        self._folder: tempfile.TemporaryDirectory | None = None

    def __enter__(self) -> "WaitingDriver":
        return self

    def __exit__(self, *_: object) -> None:
        with held():
            self._end()

    def ask(self, cell: str, size: int, mode: str) -> dict:
        """What the driver says of the cell in that mode; raises CellError."""
        process = self._process or self._start()
        results, whole = Results(), False
        try:
            with Silence(process, self.limit) as silence:
                for pipe in self._pipes:
                    os.write(pipe, f"{cell}:{max(size, 1)}:{mode}\n".encode())
                for line in process.stdout or ():
                    take(line, results)
                    whole = '"progress"' in line
                    if whole:
                        break
        except BaseException:
            stop(process)
            raise
        if whole and silence.expired:  # just in time; but the driver is gone
            self._end()
        if whole:
            return results.cells[0]
        reason = f"the driver under {self.mpi.title} ended with exit code {process.wait()}"
        if silence.expired:
            names = {"native": self.mpi.title, "Stretto": "Stretto"}
            whose = names.get(results.stage, "one of both")
            reason = f"{whose} took more than {self.limit:.0f} s"
        self._end()
        raise CellError(reason, results.stage)

    def _start(self) -> subprocess.Popen:
        # New ones: a rank of before that has not ended yet must not read these orders.
        self._folder = tempfile.TemporaryDirectory(prefix="stretto-")
        folder = Path(self._folder.name)
        for rank in range(self.ranks):
            os.mkfifo(folder / str(rank))
            self._pipes.append(os.open(folder / str(rank), os.O_RDWR))
        arguments = ["--orders", str(folder), "--budget", str(self.budget)]
        self._process = start(self.mpi, driver_command(self.mpi, self.ranks, arguments))
        return self._process

    def _end(self) -> None:
        for pipe in self._pipes:
            os.close(pipe)
        self._pipes = []
        if self._process:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END)
            if self._process.poll() is None:
                stop(self._process)
            if self._process.stdout:
                self._process.stdout.close()
            self._process = None
        if self._folder:
            self._folder.cleanup()
            self._folder = None
