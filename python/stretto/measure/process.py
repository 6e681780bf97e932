# SPDX-License-Identifier: BSD-3-Clause
"""Launchers and their ranks: started apart from us, and ended with all that they started."""

import json
import os
import signal
import subprocess
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..interrupt import held
from ..launch.mpi import Mpi


def object_in(line: str) -> dict:
    """The JSON object that a line of output is; empty if it is none, as the MPI's own words."""
    try:
        said = json.loads(line)
    except json.JSONDecodeError:
        return {}
    return said if isinstance(said, dict) else {}


def stop(process: subprocess.Popen) -> None:
    """Ends the launcher that we started, and its ranks; a second Ctrl-C waits for that."""
    with held():
        family = _family(process.pid) if process.poll() is None else {}
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
        # A launcher that does not answer, and ranks, in groups of their own, that it forgot.
        for one, begun in family.items():
            if _stat(one)[1] == begun:
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)


def _stat(process: int) -> tuple[int, int]:
    """Its parent, and when it was started, which tells it from a later one of that number."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0, 0
    after_name = text.rpartition(")")[2].split()
    return int(after_name[1]), int(after_name[19])


def _family(ancestor: int) -> dict[int, int]:
    """The process and what descends from it, with the times of their starts."""
    every = {int(path.name): _stat(int(path.name)) for path in Path("/proc").glob("[0-9]*")}
    children = defaultdict(list)
    for process, (parent, _) in every.items():
        children[parent].append(process)
    found = [ancestor]
    for one in found:  # grows meanwhile
        found += children[one]
    return {one: every[one][1] for one in found if one in every}


_started: list[subprocess.Popen] = []


def start(
    mpi: Mpi, command: list[str], stderr: int | None = None, stdin: int = subprocess.DEVNULL
) -> subprocess.Popen:
    """A launcher in a session of its own, for `stop`."""
    pipes = {"stdout": subprocess.PIPE, "stderr": stderr, "stdin": stdin}
    return start_apart(command, mpi.environment(), **pipes, text=True, errors="replace")


def start_apart(
    command: list[str], environment: dict[str, str], **of_popen: Any
) -> subprocess.Popen:
    """The same with anything for its input and output."""
    with held():  # or a signal could come between the start and our knowing of it
        process = subprocess.Popen(command, env=environment, start_new_session=True, **of_popen)
        _started[:] = [one for one in _started if one.poll() is None] + [process]
    return process


def stop_all() -> None:
    """Whatever was started and runs on: of a command that a signal ended at a bad moment."""
    for process in _started:
        if process.poll() is None:
            stop(process)


@contextmanager
def ended(process: subprocess.Popen) -> Iterator[subprocess.Popen]:
    """What was started, and its ranks, do not outlive a block that fails."""
    try:
        yield process
    except BaseException:
        stop(process)
        raise
    finally:
        if process.stdout:
            process.stdout.close()
        if process.stdin:
            with suppress(BrokenPipeError):  # what it had not read
                process.stdin.close()


class Silence:
    """Ends a process that says nothing for too long."""

    def __init__(self, process: subprocess.Popen, patience: float) -> None:
        self.expired = False
        self._process, self.patience = process, patience
        self._timer: threading.Timer | None = None

    def _expire(self) -> None:
        self.expired = True
        stop(self._process)

    def __enter__(self) -> "Silence":
        self.heard()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer:
            self._timer.cancel()
        if self._timer and self.expired:
            self._timer.join()  # it is still at the ranks that the launcher forgot

    def heard(self) -> None:
        self.__exit__()
        self._timer = threading.Timer(min(self.patience, threading.TIMEOUT_MAX), self._expire)
        self._timer.daemon = True
        self._timer.start()
