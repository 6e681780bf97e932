# SPDX-License-Identifier: BSD-3-Clause
"""How axes look in all figures of times and bytes."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import LogLocator, NullFormatter

from ..units import size_in_words, time_in_words

INK = "#22333b"
GRID = "#dde3e6"
LETTER = 0.0098  # inches for each point of a title
KEY = {"fontsize": 8, "frameon": False}  # of legends


def figure_of(width: float, height: float, ground: str = "white") -> Figure:
    """In inches; its axes find their places by themselves."""
    return Figure(figsize=(width, height), layout="constrained", facecolor=ground)


def canvas(width: float, height: float, left: float = 0, low: float = 0) -> tuple[Figure, Axes]:
    """A figure in inches, and axes all over it that count them, from its lower left corner on."""
    figure = Figure(figsize=(width, height), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(left, left + width)
    axes.set_ylim(low, low + height)
    axes.set_axis_off()
    return figure, axes


def page_axes(height: float, down: int = 1) -> tuple[Figure, list[Axes]]:
    """Of a page: no ground, and what is drawn in INK takes the colour of its text."""
    figure = figure_of(9.6, height, "none")
    every = list(figure.subplots(down, 1, sharex=True, squeeze=False).flat)
    for axes in every:
        axes.set_facecolor("none")
        axes.tick_params(labelsize=8, colors=INK)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[:].set_color(INK)
    return figure, every


def legend_above(axes: Axes, columns: int) -> None:
    place = {"loc": "lower right", "bbox_to_anchor": (1, 0.98), "ncols": columns}
    axes.legend(labelcolor=INK, **KEY, **place)


def title_size(title: str, room: float, most: float) -> float:
    """In points: what lets bold letters fit into so many inches."""
    return min(most, room / (LETTER * max(1, len(title))))


def titled(
    axes: Axes, title: str, across: str = "", up: str = "", size: float = 9, room: float = 9.0
) -> None:
    """With what the axes are; the title has `room` inches."""
    points = title_size(title, room, 10)
    axes.set_title(title, fontsize=points, fontweight="bold", color=INK, loc="left")
    axes.set_xlabel(across, fontsize=size, color=INK)
    axes.set_ylabel(up, fontsize=size, color=INK)


def style(axes: Axes) -> None:
    """Quiet lines and small labels."""
    axes.grid(True, which="major", color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8, colors=INK, which="both", length=2)
    axes.spines[["top", "right"]].set_visible(False)


def frameless(axes: Axes) -> None:
    """Boxes side by side need no lines around them."""
    axes.tick_params(labelsize=8, colors=INK, length=2)
    axes.spines[:].set_visible(False)


def runs(column: Iterable) -> Iterator[tuple[Any, int, int]]:
    """What is equal, where it begins and how long it goes on."""
    begin = 0
    for what, run in groupby(column):
        length = len(list(run))
        yield what, begin, length
        begin += length


Box = tuple[float, float, float, float]  # x, y, width, height


def _joined(boxes: list[Box]) -> list[Box]:
    """Boxes of one height that stand side by side are one."""
    found: list[Box] = []
    last: dict[tuple[float, float], int] = {}  # in this place and of this height
    for x, y, w, h in boxes:
        at = last.get((y, h))
        if at is not None and found[at][0] + found[at][2] == x:
            found[at] = (found[at][0], y, x + w - found[at][0], h)
        else:
            last[y, h] = len(found)
            found.append((x, y, w, h))
    return found


def fill(axes: Axes, boxes: list[Box], colour: object) -> None:
    """Boxes of one colour, in one shape: the file is half as large."""
    outlines = [
        Path([(x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y)], closed=True)
        for x, y, w, h in _joined(boxes)
    ]
    axes.add_patch(PathPatch(Path.make_compound_path(*outlines), facecolor=colour, linewidth=0))


def times_up(axes: Axes) -> None:
    """Seconds in words on the y axis."""
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: time_in_words(value))


def bytes_across(axes: Axes) -> None:
    """Powers of two on the x axis."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(LogLocator(base=2, numticks=8))
    axes.xaxis.set_major_formatter(
        lambda value, _: size_in_words(int(value)) if value >= 1 else f"{value:g}"
    )
    axes.xaxis.set_minor_formatter(NullFormatter())
