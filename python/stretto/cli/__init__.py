# SPDX-License-Identifier: BSD-3-Clause
"""The command `stretto`."""

import sys


def main() -> None:
    """Entry point; ends the process. Ctrl-C may come at any moment, so all imports are in here."""
    try:
        from .process import run

        status = run()
    except KeyboardInterrupt:  # before `run` has taken over the signals
        if sys.stderr:
            sys.stderr.write("error: interrupted\n")
        status = 130
    sys.exit(status)
