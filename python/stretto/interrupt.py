# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C and its kin while a command runs: raised where they do no harm."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupt(BaseException):
    """A signal asks this process to end. No KeyboardInterrupt, which libraries make their own of.

    `hint` is for the user: what was kept, and how to go on.
    """

    def __init__(self, number: int, hint: str = "") -> None:
        super().__init__(signal.Signals(number).name)
        self.number, self.hint = number, hint


class _State:
    depth = 0  # of the blocks that may not be left half done
    waiting = 0  # the signal that came in one


def _compiled_module_loads(frame: FrameType | None) -> bool:
    """Whose own code calls Python's: many end the process if that fails before they are ready."""
    while frame is not None:
        loads = frame.f_code.co_name in ("create_module", "exec_module")
        if loads and isinstance(frame.f_locals.get("self"), ExtensionFileLoader):
            return True
        frame = frame.f_back
    return False


def _error_is_made(frame: FrameType | None) -> bool:
    """By compiled code, which then would say that its own error could not be made."""
    made = frame.f_locals.get("self") if frame and frame.f_code.co_name == "__init__" else None
    return isinstance(made, BaseException)


def _again(number: int) -> None:
    """In a moment, for what is raised now would be lost."""
    later = threading.Timer(0.01, os.kill, (os.getpid(), number))
    later.daemon = True
    later.start()


def _came(number: int, frame: FrameType | None) -> None:
    if _State.depth:
        _State.waiting = number
    elif _compiled_module_loads(frame) or _error_is_made(frame):
        _again(number)
    else:
        raise Interrupt(number)


def _lost(unraisable: "sys.UnraisableHookArgs") -> None:
    """Python drops what is raised in a destructor or a callback."""
    if isinstance(unraisable.exc_value, Interrupt):
        _again(unraisable.exc_value.number)
    else:
        sys.__unraisablehook__(unraisable)


def take_over() -> None:
    """From here on signals that would end the process raise Interrupt; those ignored stay so."""
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _came)
    sys.unraisablehook = _lost


def let_go() -> None:
    """Nothing is left to clean up: they end the process at once."""
    for number in SIGNALS:
        if signal.getsignal(number) is _came:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def held() -> Iterator[None]:
    """A signal that comes in the block is raised at its end."""
    if threading.current_thread() is not threading.main_thread():  # where none is raised
        yield
        return
    _State.depth += 1
    try:
        yield
    finally:
        _State.depth -= 1
        if _State.waiting and not _State.depth:
            number, _State.waiting = _State.waiting, 0
            raise Interrupt(number)
