# SPDX-License-Identifier: BSD-3-Clause
"""stdout and stderr that may fail: a full disk, a reader that went away, a closed descriptor."""

import io
import os
import sys
from typing import Any


class LostError(Exception):
    """stdout cannot be written. No OSError, which libraries make their own of."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror)
        self.error = error


class _Stdout(io.FileIO):
    """The first failure is raised; what comes after it, Python's own last flush too, is dropped."""

    lost = False

    def write(self, data: Any) -> int:
        if self.lost:
            return len(data)
        try:
            return super().write(data)
        except OSError as error:
            self.lost = True
            raise LostError(error) from None


class _Stderr(io.FileIO):
    """Notes that nobody can read are no reason to end."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


def _text(raw: io.FileIO, encoding: str, errors: str, lines: bool) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=lines)


def take_over() -> None:
    """From here on writing to stdout raises LostError, and names of any bytes can be printed."""
    for number in range(3):  # closed ones: or the next file that is opened would be stdout
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)
    if sys.stdout is None or sys.stdout.fileno() == 1:
        encoding = getattr(sys.stdout, "encoding", "utf-8")
        unicode = encoding.lower().replace("-", "") == "utf8"
        errors = "surrogateescape" if unicode else "backslashreplace"
        sys.stdout = _text(_Stdout(1, "w", closefd=False), encoding, errors, os.isatty(1))
    if sys.stderr is None or sys.stderr.fileno() == 2:
        encoding = getattr(sys.stderr, "encoding", "utf-8")
        sys.stderr = _text(_Stderr(2, "w", closefd=False), encoding, "backslashreplace", True)
