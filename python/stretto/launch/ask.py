# SPDX-License-Identifier: BSD-3-Clause
"""What other programs say of themselves."""

import subprocess
import sys
from collections.abc import Iterable

Said = subprocess.CompletedProcess[str]


def ask(words: Iterable[object], seconds: float, env: dict[str, str] | None = None) -> Said | None:
    """Of a program that gets no input; None where it cannot be started or does not end in time."""
    try:
        return subprocess.run(
            [str(word) for word in words],
            capture_output=True,
            encoding=sys.getfilesystemencoding(),
            errors="surrogateescape",  # names of files are any bytes
            timeout=seconds,
            stdin=subprocess.DEVNULL,
            check=False,
            env=env,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
