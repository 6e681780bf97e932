# SPDX-License-Identifier: BSD-3-Clause
"""The one error that a user may see; the C++ core raises it too."""


class Error(Exception):
    """Misuse or a fault outside of Stretto: what was wrong and where, and what to do about it."""

    status = 2  # of the process that it ends

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class FailureError(Error):
    """What was asked for was done, and found something that must not be."""

    status = 1
