# SPDX-License-Identifier: BSD-3-Clause
"""Runs the command as a process: forked from one that has imported the package, which takes longer
than most commands. How a process of the user's begins and ends, test_ends.py looks at.
"""

import atexit
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

SERVER = Path(__file__).parents[1] / "support" / "command_server.py"


def of_python(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith("PYTHON")}


STARTED_WITH = of_python(os.environ)


@cache
def server() -> subprocess.Popen:
    """Ends with this process."""
    started = subprocess.Popen(
        [sys.executable, SERVER], bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    atexit.register(started.communicate)
    return started


def end_server() -> None:
    """What it has not answered yet would be taken for the answer to another request."""
    server().kill()
    server.cache_clear()


def answer(timeout: float) -> int | None:
    """Of the server; None: there is none in time."""
    stream = server().stdout
    if not select.select([stream], [], [], timeout)[0]:
        return None
    line = stream.readline()
    assert line, "tests/support/command_server.py has ended"
    return int(line)


def stretto(*arguments: object, timeout: float = 120, **variables: str):
    """The finished process; `variables` are added to its environment."""
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1", **variables}
    words = [sys.executable, "-m", "stretto", *map(str, arguments)]
    if of_python(environment) != STARTED_WITH:  # another Python than the server's
        return subprocess.run(
            words, capture_output=True, text=True, timeout=timeout, env=environment,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        request = [words[3:], environment, str(Path.cwd()), str(out), str(err)]
        try:
            server().stdin.write(json.dumps(request).encode() + b"\n")
            process = answer(60)
            code = answer(timeout)
        except BaseException:
            end_server()
            raise
        if code is None:
            end_server()
            if process:
                os.killpg(process, signal.SIGKILL)
            raise subprocess.TimeoutExpired(words, timeout)
        return subprocess.CompletedProcess(
            words, code, out.read_text("utf-8"), err.read_text("utf-8")
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


def on_terminal(columns: int, *arguments: object) -> str:
    """What the command writes on a terminal of so many columns."""
    ours, its = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm"}
    command = [sys.executable, "-m", "stretto", *map(str, arguments)]
    with subprocess.Popen(
        command, stdout=its, stderr=subprocess.STDOUT, env=environment
    ) as process:
        os.close(its)
        said = b""
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # so Linux says that nobody writes any more
                break
            if not part:
                break
            said += part
    os.close(ours)
    assert process.returncode == 0
    return re.sub(r"\x1b\[[\d;]*m", "", said.decode("utf-8")).replace("\r\n", "\n")
