# SPDX-License-Identifier: BSD-3-Clause
"""Which points are measured: functions at sizes, how they follow one another, in which form."""

from .. import _core
from ..errors import Error

BACK_TO_BACK, SYNCHRONISED = "back-to-back", "synchronised"
MODES = (BACK_TO_BACK, SYNCHRONISED)  # as the race driver calls them

BLOCKING, NONBLOCKING, PERSISTENT = "blocking", "nonblocking", "persistent"
FORMS = (BLOCKING, NONBLOCKING, PERSISTENT)  # of a call, likewise; `all` are those that the MPI has


def modes_of(wish: str) -> list[str]:
    """`both`, or one of MODES."""
    return list(MODES) if wish == "both" else [wish]


def parse_sizes(text: str) -> list[int]:
    """`8-1M` or `8:1M` doubles from 8 B to 1 MiB; `8,4K` is these two."""
    sizes: set[int] = set()
    for part in text.split(","):
        low_text, dash, high_text = part.strip().replace(":", "-").partition("-")
        low = _core.parse_size(low_text)
        high = _core.parse_size(high_text) if dash else low
        if low is None or high is None or low < 1 or high < low:
            raise Error(f"--sizes: '{part}' is not a range of sizes", "write 8-1M or 8,1K,64K")
        while low <= high:
            sizes.add(low)
            low *= 2
    return sorted(sizes)


def benchmark_points(names: list[str], sizes: list[int]) -> list[tuple[str, int]]:
    """Every benchmark point: each name at each size; a barrier has none."""
    pairs = ((name, 0 if name == "barrier" else size) for name in names for size in sizes)
    return list(dict.fromkeys(pairs))
