# SPDX-License-Identifier: BSD-3-Clause
"""Predicted time over bytes, a line for each algorithm."""

from math import isclose
from textwrap import fill
from typing import Any

from matplotlib.figure import Figure

from .axes import KEY, bytes_across, figure_of, style, times_up, titled

COLOURS = ("#1f6f8b", "#d1495b", "#e0a030", "#5b8c5a", "#7a5195", "#6fa8dc", "#b5651d", "#22333b")
STYLES = ("-", "--", ":", "-.")
MARKERS = "sD^v<>Pp"
FASTEST = {"linewidth": 2.4, "alpha": 1.0, "zorder": 3}  # lines that are it somewhere
OTHERS = {"linewidth": 1.0, "alpha": 0.75, "zorder": 2}
EVERY = 8  # sizes from marker to marker of a line
ALIKE = 0.01  # lines that differ by less everywhere are one
LETTERS = 30  # of a line of the legend
BESIDE_KEY = 6.0  # inches

Curves = dict[str, list[float]]


def _alike(curves: Curves) -> list[list[str]]:
    """Names of algorithms whose lines would hide each other, in the order in which they end."""
    groups: list[list[str]] = []
    for name in sorted(curves, key=lambda name: (-curves[name][-1], name)):
        for group in groups:
            pairs = zip(curves[group[0]], curves[name], strict=True)
            if all(isclose(one, other, rel_tol=ALIKE) for one, other in pairs):
                group.append(name)
                break
        else:
            groups.append([name])
    return groups


def _label(group: list[str], wins: bool) -> str:
    names = ", ".join(name.partition("/")[2] for name in group)
    return fill(names + (" *" if wins else ""), LETTERS, break_long_words=False)


def line_look(place: int) -> dict[str, Any]:
    """Of the line in this place. The markers of lines that lie on each other do not."""
    return {
        "linestyle": STYLES[place // len(COLOURS) % len(STYLES)],
        "marker": MARKERS[place % len(MARKERS)],
        "markersize": 4,
        "markevery": (place % EVERY, EVERY),
    }


def draw(curves: Curves, sizes: list[int], title: str) -> Figure:
    """`curves`: for each algorithm the seconds at each of the sizes."""
    figure = figure_of(9.0, 5.4)
    axes = figure.subplots()
    best = [min(times) for times in zip(*curves.values(), strict=True)]
    groups = _alike(curves)
    # Those that are the fastest somewhere have the first colours, in the order of sizes.
    never = len(best)
    first = {g: next((i for i, t in enumerate(best) if curves[own[0]][i] <= t * (1 + ALIKE)), never)
             for g, own in enumerate(groups)}  # fmt: skip
    places = {g: i for i, g in enumerate(sorted(first, key=first.__getitem__))}
    for g, own in enumerate(groups):
        wins, colour = first[g] < never, COLOURS[places[g] % len(COLOURS)]
        look = {"color": colour, **line_look(places[g]), **(FASTEST if wins else OTHERS)}
        axes.plot(sizes, curves[own[0]], label=_label(own, wins), **look)
    style(axes)
    bytes_across(axes)
    times_up(axes)
    titled(axes, title, "bytes of the vector", "predicted time of a call", room=BESIDE_KEY)
    head = {"title": "* fastest somewhere", "title_fontsize": 8, "alignment": "left"}
    figure.legend(loc="outside right upper", **KEY, **head)
    return figure
