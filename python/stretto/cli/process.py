# SPDX-License-Identifier: BSD-3-Clause
"""The process: whatever ends a command becomes a line on stderr and an exit status."""

import errno
import os
import signal
import sys
import threading

from ..interrupt import Interrupt, let_go, take_over
from . import streams

WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}


def fail(message: str, hint: str = "") -> None:
    """An error for people, on stderr."""
    lines = [f"error: {message}", *([f"hint: {hint}"] if hint else [])]
    print("\n".join(lines), file=sys.stderr, flush=True)


def _command() -> int:
    import click

    from ..errors import Error
    from ..files import NO_ROOM, hint_of
    from .group import cli

    try:
        return cli.main(prog_name="stretto", standalone_mode=False) or 0
    except Error as error:
        fail(str(error), error.hint)
        return error.status
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "stretto"
        fail(error.format_message().rstrip("."), f"`{command} --help` shows how it is used")
        return 2
    except click.ClickException as error:
        fail(error.format_message(), "`stretto --help` shows the commands")
        return error.exit_code
    except click.Abort:
        raise Interrupt(signal.SIGINT) from None
    except OSError as error:
        words = (error.strerror or str(error)).lower()
        if error.filename is None:
            fail(words, "`stretto doctor` shows what works")
        else:
            fail(f"{os.fsdecode(error.filename)}: {words}", hint_of(error))
        return 1 if error.errno in NO_ROOM else 2


def _lost(error: OSError) -> int:
    from ..files import NO_ROOM

    if error.errno == errno.EPIPE:  # the reader had enough: `stretto list | head`
        return 128 + signal.SIGPIPE
    hint = "free some space, or write elsewhere" if error.errno in NO_ROOM else "is it closed?"
    fail(f"standard output: {(error.strerror or str(error)).lower()}", hint)
    return 1


def _clean_up() -> None:
    """What was launched: the module is there only if something was."""
    process = sys.modules.get("stretto.measure.process")
    if process is not None and hasattr(process, "stop_all"):  # it may be half imported
        process.stop_all()


def _interrupt_in(error: BaseException | None) -> Interrupt | None:
    """The one that this error came from: compiled modules make others of it while they load."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return Interrupt(signal.SIGINT)
        if isinstance(error, Interrupt):
            return error
        error = error.__cause__ or error.__context__
    return None


def run() -> int:
    """The exit status, when all is cleaned up and written."""
    try:
        take_over()
        streams.take_over()
        status = _command()
        sys.stdout.flush()
        let_go()
    except streams.LostError as lost:
        _clean_up()
        status = _lost(lost.error)
    except BaseException as error:
        _clean_up()
        let_go()
        stopped = _interrupt_in(error)
        if stopped is None:
            raise
        fail(WORDS[stopped.number], stopped.hint)
        status = 128 + stopped.number
        if threading.active_count() > 1:  # Python would wait for what they are still computing
            os._exit(status)
    return status
