# SPDX-License-Identifier: BSD-3-Clause
"""Sizes and times in words."""


def size_in_words(count: int) -> str:
    """4096 as "4K": powers of 1024 where they divide."""
    for unit, letter in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if count >= unit and count % unit == 0:
            return f"{count // unit}{letter}"
    return str(count)


def time_in_words(seconds: float) -> str:
    """To four digits."""
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.4g} {name}"
    return f"{seconds / 1e-9:.4g} ns"
