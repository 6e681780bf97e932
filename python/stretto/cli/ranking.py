# SPDX-License-Identifier: BSD-3-Clause
"""The table of `stretto simulate` and `stretto explain`: predicted times, the fastest first."""

from ..units import time_in_words
from .calls import shortened
from .terminal import stdout, table

PARTS = ("latency", "bandwidth", "reduction", "waiting")
LEAST_WIDTH = 112  # of a terminal that has room for a column for each share


def _columns(row: dict, wide: bool) -> list[str]:
    words = shortened(row["parameters"]).replace(",", " ")
    name = row["algorithm"].partition("/")[2]
    seconds = time_in_words(row["seconds"])
    shares = [f"{row[part] / (row['seconds'] or 1.0):.0%}" for part in PARTS]
    behind = f"+{row['behind']:.1%}" if row["behind"] < 10 else f"×{row['behind'] + 1:.3g}"
    if row["behind"] <= 0:
        behind = "best"
    if wide:
        return [name, words or "-", seconds, *shares, behind]
    return [f"{name} {words}", seconds, "/".join(s.rstrip("%") for s in shares), behind]


def print_ranking(rows: list[dict], mark: str = "") -> None:
    """Of `simulation.compare`; a row that is "chosen" has the mark. On a narrow terminal the four
    shares stand in one column, and parameters fold below the algorithm's name."""
    console = stdout()
    wide = console.width >= LEAST_WIDTH
    shares = PARTS if wide else ("% latency/bandwidth/\nreduction/waiting",)
    numbers = [f">{name}" for name in ("time", *shares, "behind")]
    names = ["algorithm", *(["parameters"] if wide else [])]
    grid = table(*([" "] if mark else []), *names, *numbers)
    for column in grid.columns:
        column.no_wrap = wide or column.header != "algorithm"
    for row in rows:
        chosen = row.get("chosen", False)
        marks = [mark if chosen else ""] if mark else []
        grid.add_row(*marks, *_columns(row, wide), style="bold" if chosen else None)
    console.print(grid, markup=False)
