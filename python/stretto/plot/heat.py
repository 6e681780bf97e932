# SPDX-License-Identifier: BSD-3-Clause
"""A heat map of the closest peer's time over Stretto's: cells down, sizes across."""

from math import log2

from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ..units import size_in_words
from .axes import GRID, INK, figure_of, frameless, titled
from .race import LOSS, STRETTO

ACROSS = "bytes of the vector, or of each rank's part"
KEY = "\nblue, above 1: Stretto is faster; hatched: not judged"
BESIDE = 1.7  # inches for the names of functions
SPAN = 2.0  # the colours end at ratios of 2**-SPAN and 2**SPAN


def draw(cells: list[dict], ranks: int, mode: str) -> Figure:
    """Of the comparison that `stretto bench --peers` writes under "cells"."""
    here = [cell for cell in cells if (cell["ranks"], cell["mode"]) == (ranks, mode)]
    names = list(dict.fromkeys(cell["cell"] for cell in here))
    sizes = sorted({cell["asked"] for cell in here if cell["asked"]}) or [0]
    width = max(1.0 * len(sizes), 2.4) + 2.6
    figure = figure_of(width, 0.36 * len(names) + 1.2)
    axes = figure.subplots()
    colours = LinearSegmentedColormap.from_list("ratio", [LOSS, "#ffffff", STRETTO])
    for cell in here:
        row = names.index(cell["cell"])
        # A barrier has no bytes.
        column, wide = (sizes.index(cell["asked"]), 1) if cell["asked"] else (0, len(sizes))
        ratio = cell.get("ratio")
        judged = cell["status"] == "ok" and ratio is not None
        share = (log2(ratio) + SPAN) / (2 * SPAN) if judged else 0.5
        look = {"edgecolor": "white"} if judged else {"edgecolor": GRID, "hatch": "////"}
        colour = colours(min(max(share, 0.0), 1.0))
        axes.add_patch(Rectangle((column, row), wide, 1, facecolor=colour, **look))
        words = cell["status"] if ratio is None else f"{ratio:.2f}" + ("" if judged else " ~")
        ink = "white" if judged and abs(share - 0.5) > 0.38 else INK
        place = {"ha": "center", "va": "center", "fontsize": 8, "color": ink}
        axes.text(column + wide / 2, row + 0.5, words, **place)
    axes.set_xlim(0, len(sizes))
    axes.set_ylim(len(names), 0)
    axes.set_xticks([i + 0.5 for i in range(len(sizes))], [size_in_words(size) for size in sizes])
    axes.set_yticks([i + 0.5 for i in range(len(names))], names)
    frameless(axes)
    axes.tick_params(length=0)
    title = f"The closest MPI's time over Stretto's: {ranks} ranks, {mode.replace('-', ' ')}"
    titled(axes, title, ACROSS + ("" if len(sizes) < 4 else KEY), size=8, room=width - BESIDE)
    return figure
