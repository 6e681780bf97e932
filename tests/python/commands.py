# SPDX-License-Identifier: BSD-3-Clause
"""Runs the command as its users do: as a process."""

import json
import os
import subprocess
import sys


def stretto(*arguments: object, timeout: float = 120, **variables: str):
    """The finished process; `variables` are added to its environment."""
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1", **variables}
    return subprocess.run(
        [sys.executable, "-m", "stretto", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def succeed(*arguments: object, **variables: str) -> str:
    """Its stdout; the exit code must be 0."""
    done = stretto(*arguments, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def json_of(*arguments: object, **variables: str):
    return json.loads(succeed(*arguments, "--json", **variables))


def refuse(*arguments: object, code: int = 2, **variables: str) -> str:
    """Its stderr; the exit code must be `code`, with an error and a hint and no traceback."""
    done = stretto(*arguments, **variables)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert any(line.startswith("error: ") for line in done.stderr.splitlines()), done.stderr
    assert any(line.startswith("hint: ") for line in done.stderr.splitlines()), done.stderr
    assert done.stdout == "" or code == 1
    return done.stderr
