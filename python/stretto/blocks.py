# SPDX-License-Identifier: BSD-3-Clause
"""Ranges of blocks for `stretto.Builder`: `blocks.output(0, 4)`; `+` makes one message of two."""

from ._core import input, output, scratch, wrapped  # noqa: A004 - named as in the text form

__all__ = ["input", "output", "scratch", "wrapped"]
