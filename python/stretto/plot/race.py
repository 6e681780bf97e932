# SPDX-License-Identifier: BSD-3-Clause
"""A race: time over bytes for native and Stretto, and their ratio below."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from .axes import INK, KEY, bytes_across, figure_of, style, titled

NATIVE = "#8d99a6"
STRETTO = "#1f6f8b"
LOSS = "#d1495b"
LETTER = 0.108  # inches, of a title


def _draw_function(above: Axes, below: Axes, name: str, cells: list[dict]) -> None:
    # A barrier has no bytes; a logarithmic axis has no zero.
    sizes = [max(1, cell["bytes"]) for cell in cells]
    for key, label, color, width in (
        ("native_us", "native", NATIVE, 1.4), ("stretto_us", "Stretto", STRETTO, 1.6),
    ):  # fmt: skip
        times = [cell[key] for cell in cells]
        above.plot(sizes, times, "o-", color=color, markersize=3.5, linewidth=width, label=label)
    for axes in (above, below):
        style(axes)
        bytes_across(axes)
    above.set_yscale("log")
    above.yaxis.set_major_formatter("{x:g}")
    titled(above, name)
    above.tick_params(labelbottom=False)
    ratios = [cell["ratio"] for cell in cells]
    below.axhline(1.0, color=INK, linewidth=0.9)
    below.plot(sizes, ratios, "o-", color=STRETTO, markersize=3.5, linewidth=1.4)
    for where, color, alpha in (
        ([r >= 1 for r in ratios], STRETTO, 0.15), ([r <= 1 for r in ratios], LOSS, 0.2),
    ):  # fmt: skip
        below.fill_between(
            sizes, 1.0, ratios, where=where, color=color, alpha=alpha, interpolate=True
        )
    below.set_yscale("log", base=2)
    below.yaxis.set_major_formatter("{x:g}")
    below.yaxis.set_minor_formatter(NullFormatter())
    low, high = min([*ratios, 1.0]), max([*ratios, 1.0])
    below.set_ylim(low / 1.3, high * 1.3)
    below.set_xlabel("bytes of the vector or part", fontsize=8, color=INK)


def draw(cells: list[dict], title: str) -> Figure:
    """The figure of the rows that `stretto bench --json` has under "cells"."""
    names = list(dict.fromkeys(cell["cell"] for cell in cells))
    across = max(1, min(3 if len(names) <= 9 else 6, len(names)))
    down = max(1, -(-len(names) // across))
    words = f"Stretto against native: {title}"
    width = max(3.6 * across + 0.4, LETTER * len(words) + 0.4)  # has room for the title
    figure = figure_of(width, 4.2 * down + 0.5)
    figure.suptitle(words, fontsize=12, fontweight="bold", color=INK)
    parts = figure.subfigures(down, across, squeeze=False).flat
    for i, (name, part) in enumerate(zip(names, parts, strict=False)):
        above, below = part.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        _draw_function(above, below, name, [c for c in cells if c["cell"] == name])
        if i % across == 0:
            above.set_ylabel("time per call, µs", fontsize=8, color=INK)
            below.set_ylabel("native / Stretto", fontsize=8, color=INK)
        if i == 0:
            above.legend(**KEY)
    return figure
