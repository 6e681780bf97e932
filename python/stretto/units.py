# SPDX-License-Identifier: BSD-3-Clause
"""Sizes, times and lists of numbers in words."""


def size_in_words(count: int) -> str:
    """4096 as "4K": powers of 1024 where they divide."""
    for unit, letter in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if count >= unit and count % unit == 0:
            return f"{count // unit}{letter}"
    return str(count)


def counted(count: int, one: str) -> str:
    """1 and "point" as "1 point", 2 as "2 points"."""
    return f"{count} {one}" if count == 1 else f"{count} {one}s"


def time_in_words(seconds: float, digits: int = 4) -> str:
    """To so many digits; whole seconds from 1000 s on."""
    for unit, name in ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")):
        words = f"{seconds / unit:.{digits}g}"
        if float(words) < 1000:  # as it is rounded: 999.7 µs to three digits are 1 ms
            return f"{words} {name}"
    return f"{seconds:,.0f} s"


def time_in_a_table(seconds: float) -> str:
    """So that a column can be compared: 1.25 s, from 10 ms on 12.50 ms, below 12.50 µs."""
    if seconds >= 1.0:
        return f"{seconds:,.2f} s"
    if seconds >= 1e-2:
        return f"{seconds * 1e3:.2f} ms"
    return f"{seconds * 1e6:.2f} µs"


def intervals(numbers: list[int] | tuple[int, ...], modulus: int = 0) -> str:
    """[0, 1, 2, 5] as "0-2,5"; with a modulus a run may wrap around: "6-1"."""
    runs: list[list[int]] = []
    for n in sorted(set(numbers)):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    if modulus and len(runs) > 1 and runs[0][0] == 0 and runs[-1][1] == modulus - 1:
        runs[0][0] = runs.pop()[0]
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
