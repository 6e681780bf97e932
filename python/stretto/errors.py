# SPDX-License-Identifier: BSD-3-Clause
"""The one error that a user may see; the C++ core raises it too."""

import sys
from collections.abc import Callable


class Error(Exception):
    """Misuse or a fault outside of Stretto: what was wrong and where, and what to do about it."""

    status = 2  # of the process that it ends

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class FailureError(Error):
    """What was asked for was done, and found something that must not be."""

    status = 1


def run_script(main: Callable[[], None]) -> None:
    """Of a program beside `stretto`: an Error ends it with two lines on stderr and its status."""
    try:
        main()
    except Error as error:
        print(f"error: {error}\nhint: {error.hint}", file=sys.stderr)
        sys.exit(error.status)
