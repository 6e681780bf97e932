# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands of tests, each in a process forked from one that has imported the package:
to do so takes longer than most commands.

Reads from stdin a JSON list in a line for each command: its words, its environment, its working
directory, and files for its stdout and stderr. Writes the number of its process and, when that has
ended, its exit code, as Popen.returncode.
"""

import importlib
import io
import json
import os
import signal
import sys

# What commands import when they need it.
MODULES = ("numpy", "matplotlib.figure", "stretto._core", "stretto.cli.process")


def open_standard_streams(out: str, err: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, (path, how) in enumerate([(os.devnull, os.O_RDONLY), (out, flags), (err, flags)]):
        opened = os.open(path, how, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), "utf-8")
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)), "utf-8")
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(2, "w", closefd=False)),
        "utf-8", "backslashreplace", line_buffering=True,
    )  # fmt: skip


def run(words: list[str], environment: dict[str, str], folder: str, out: str, err: str) -> int:
    """In the forked process; its exit code."""
    open_standard_streams(out, err)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["stretto", *words]
    from stretto.cli import main

    code = 1
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def serve() -> None:
    answers = os.fdopen(os.dup(1), "w")
    for module in MODULES:
        importlib.import_module(module)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os.setsid()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            code = 1
            try:
                code = run(*json.loads(line))
            except BaseException:  # as Python does it at the end of a program
                sys.excepthook(*sys.exc_info())
                sys.stderr.flush()
            os._exit(code)
        print(child, file=answers, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)


if __name__ == "__main__":
    serve()
