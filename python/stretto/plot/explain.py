# SPDX-License-Identifier: BSD-3-Clause
"""A call explained: predicted time over bytes, and the map of the fastest over ranks and bytes."""

from collections import Counter, defaultdict
from operator import eq
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from .. import facts
from ..explain import Lines, Question, Winners
from ..units import size_in_words
from .axes import INK, bytes_across, figure_of, fill, frameless, runs, style, times_up, titled
from .simulation import BESIDE_KEY, COLOURS, line_look

CHOSEN = {"color": INK, "marker": "o", "markersize": 5, "fillstyle": "none", "linestyle": ""}
HERE = {"color": INK, "linewidth": 0.8, "linestyle": (0, (2, 2))}
FAINT = 0.45  # of white, in the colours of a second dozen of algorithms


def _colours(lines: Lines, winners: Winners) -> dict[str, tuple]:
    """The same in both pictures, the most frequent winners first."""
    often = Counter(name for column in winners.fastest for name in column)
    names = [name for name, _ in often.most_common()]
    names += sorted(set(lines.by_algorithm) - set(names))
    found = {}
    for i, name in enumerate(names):
        white = FAINT if i // len(COLOURS) % 2 else 0.0
        parts = to_rgb(COLOURS[i % len(COLOURS)])
        found[name] = tuple(white + (1 - white) * part for part in parts)
    return found


def _look(name: str, colours: dict[str, tuple], won: set[str]) -> dict[str, Any]:
    """Of a line: those that are the fastest somewhere in the map stand out."""
    place = list(colours).index(name)
    return {"color": colours[name], "linewidth": 2.0 if name in won else 1.1, **line_look(place)}


def _draw_lines(
    axes: Axes, lines: Lines, colours: dict[str, tuple], won: set[str], question: Question
) -> None:
    for name, times in lines.by_algorithm.items():
        axes.plot(lines.sizes, times, **_look(name, colours, won))
    served = [(s, t) for s, t in zip(lines.sizes, lines.chosen, strict=True) if t is not None]
    if served:
        axes.plot(*zip(*served, strict=True), **CHOSEN)
    axes.axvline(max(1, question.call.bytes), **HERE)
    style(axes)
    bytes_across(axes)
    times_up(axes)
    axes.minorticks_off()  # they would be a third of the file


def _draw_map(axes: Axes, winners: Winners, colours: dict[str, tuple], question: Question) -> None:
    """A column for each number of ranks, equal neighbours in one box."""
    agreed = []
    boxes = defaultdict(list)
    for x, column in enumerate(winners.fastest):
        for name, y, height in runs(column):
            boxes[name].append((x, y, 1, height))
        for is_same, y, height in runs(map(eq, column, winners.chosen[x])):
            if is_same:
                agreed.append([(x + 0.5, y + 0.2), (x + 0.5, y + height - 0.2)])
    for name, own in boxes.items():
        fill(axes, own, colours[name])
    axes.add_collection(LineCollection(agreed, colors="white", linewidths=1.6, clip_on=False))
    here = question.call
    if here.ranks in winners.ranks:
        row = max(0, here.bytes.bit_length() - winners.sizes[0].bit_length())
        at = (winners.ranks.index(here.ranks), row)
        axes.add_patch(Rectangle(at, 1, 1, fill=False, edgecolor=INK, linewidth=1.8))
    axes.set_xlim(0, len(winners.ranks))
    axes.set_ylim(0, len(winners.sizes))
    step = -(-len(winners.ranks) // 24)
    ranks = [str(number) for number in winners.ranks[::step]]
    sizes = [size_in_words(size) for size in winners.sizes[::2]]
    rotation = 90 if winners.ranks[-1] > 99 else 0
    axes.set_xticks([i * step + 0.5 for i in range(len(ranks))], ranks, rotation=rotation)
    axes.set_yticks([i * 2 + 0.5 for i in range(len(sizes))], sizes)
    frameless(axes)


def _legend(figure: Figure, lines: Lines, colours: dict[str, tuple], won: set[str]) -> None:
    """One for both pictures: algorithms, then what marks the choice."""
    handles: list = []
    labels: list[str] = []
    for name in colours:
        if name in lines.by_algorithm or name in won:
            line = Line2D([], [], **_look(name, colours, won))
            if name in won:  # else its marker could not be seen on the box
                line.set_markeredgecolor("white")
            handles.append((Patch(color=colours[name]), line) if name in won else line)
            labels.append(name)
    handles.append(Line2D([], [], **CHOSEN))
    labels.append("above: the rules' choice,\nwith its parameters")
    handles.append((Patch(color=INK), Line2D([], [], color="white", linewidth=1.6)))
    labels.append("below, white: the rules\nchoose the fastest")
    handles += [Line2D([], [], **HERE), Patch(fill=False, edgecolor=INK)]
    labels += ["above: the bytes of this call", "below: this call"]
    figure.legend(handles, labels, fontsize=8, frameon=False, loc="outside right upper")


def draw(question: Question, lines: Lines, winners: Winners, machine: str) -> Figure:
    """Both pictures, one above the other."""
    call = question.call
    name = facts(call.function).name
    figure = figure_of(9.2, 8.8)
    above, below = figure.subplots(2, 1)
    colours = _colours(lines, winners)
    won = {name for column in winners.fastest for name in column}
    _draw_lines(above, lines, colours, won, question)
    _draw_map(below, winners, colours, question)
    _legend(figure, lines, colours, won)
    where = f"{name}, {call.where}, machine {machine}"
    titled(above, where, "bytes of the vector", "predicted time of a call", room=BESIDE_KEY)
    fastest = f"The fastest {name} with default parameters, by the model"
    titled(below, fastest, "ranks", "bytes of the vector")
    return figure
