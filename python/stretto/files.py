# SPDX-License-Identifier: BSD-3-Clause
"""Files that users name: whatever goes wrong with one, the error says which."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import Error

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """An OSError of the block names this file; those of reading and writing name none."""
    try:
        yield
    except OSError as error:
        words = error.strerror or str(error)
        raise OSError(error.errno or errno.EIO, words, str(path)) from error


def expanded(path: str | Path) -> Path:
    """With the home folder for `~`; raises Error."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise Error(f"{path}: that home folder is not known", "write the whole path") from None


def read_text(path: str | Path, hint: str) -> str:
    """A file in UTF-8, without its byte-order mark; raises OSError that names it, or Error."""
    try:
        with naming(path):
            return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise Error(f"{path}: not a text file", hint) from None


def write_text(path: str | Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, data: bytes) -> None:
    """All of it, or the file stays as it was: a disk may be full; raises OSError that names it."""
    path = Path(path)
    with naming(path):
        target = path.resolve()
        if not _may_be_replaced(path, target):
            path.write_bytes(data)
            return
        beside = target.with_name(f".{target.name[:200]}.{os.getpid()}")
        try:
            beside.write_bytes(data)
            if target.exists():
                beside.chmod(target.stat().st_mode)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)


def refuse_unwritable(path: str | Path) -> None:
    """Before work whose result it is to hold; raises OSError that names it."""
    path = Path(path)
    with naming(path):
        where = path if path.exists() else path.resolve().parent
        if path.is_dir():
            wrong = errno.EISDIR
        elif not where.exists():
            wrong = errno.ENOENT
        elif where != path and not where.is_dir():
            wrong = errno.ENOTDIR
        elif not os.access(where, os.W_OK):
            wrong = errno.EACCES
        else:
            return
        raise OSError(wrong, os.strerror(wrong))


def _may_be_replaced(path: Path, target: Path) -> bool:
    """Not a device or a pipe, nor what another process has open as its output."""
    if path.exists() and not path.is_file():
        return False
    if path.absolute().parts[:2] in (("/", "dev"), ("/", "proc")):
        return False
    may = not target.exists() or os.access(target, os.W_OK)
    return may and os.access(target.parent, os.W_OK | os.X_OK)


def hint_of(error: OSError) -> str:
    """What to do about it."""
    if error.errno in NO_ROOM:
        return "free some space, or write elsewhere"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "is it yours to read or write? --output names another place, where there is one"
    if error.errno == errno.EISDIR:
        return "it is a folder: name a file"
    return "is the path right?"
