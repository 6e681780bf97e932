# SPDX-License-Identifier: BSD-3-Clause
"""A tree of switches with its ranks and their contention-free ring, or with what shares links.

All lengths are inches.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from textwrap import wrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from .. import _core
from ..errors import Error
from ..topology.picture import ranks_by_machine, title_of
from ..topology.words import bandwidth_in_words
from ..units import intervals
from .axes import INK, canvas

SWITCH = "#1f6f8b"
MACHINE = "#e3edf1"
RING = "#d1495b"
LINE = "#9aa5ab"
ARROW = {"arrowstyle": "-|>", "color": RING, "linewidth": 1.0, "shrinkA": 0, "shrinkB": 0}
# Of links, by the most messages of one step on them.
HEAT = ("#9aa5ab", "#5b8c5a", "#e0a030", "#d1495b", "#8c1d40")
HEAT_FROM = (0, 1, 2, 4, 8)
HEAT_WORDS = ("none", "1", "2 or 3", "4 to 7", "8 or more")

COLUMN, ROW = 0.62, 1.05
SIDE, TOP, BOTTOM = 0.35, 0.55, 0.55
LINE_HEIGHT, LETTER, SMALL_LETTER = 0.2, 0.096, 0.056  # of a title; a letter of the key
MOST_LEAVES = 256


@dataclass
class _Layout:
    """Where vertices are: leaves side by side, switches above the middle of what is below."""

    topology: _core.Topology
    at: dict[int, tuple[float, float]] = field(default_factory=dict)
    leaves: list[int] = field(default_factory=list)
    depth: int = 0

    def __post_init__(self) -> None:
        self._place(self.topology.top, 0)
        height = self.depth * ROW
        self.at = {v: (x, height - y * ROW) for v, (x, y) in self.at.items()}

    def _place(self, vertex: int, level: int) -> float:
        children = self.topology.below[vertex]
        self.depth = max(self.depth, level)
        if not children:
            x = len(self.leaves) * COLUMN
            self.leaves.append(vertex)
        else:
            places = [self._place(child, level + 1) for child in children]
            x = (places[0] + places[-1]) / 2
        self.at[vertex] = (x, float(level))
        return x


def _level(messages: int) -> int:
    return max(i for i, least in enumerate(HEAT_FROM) if messages >= least)


def _link(
    axes: Axes, layout: _Layout, vertex: int, traffic: _core.Traffic | None, most: float
) -> None:
    topology = layout.topology
    link = topology.vertices[vertex]
    (x0, y0), (x1, y1) = layout.at[vertex], layout.at[link.above]
    width = 1.0 + 2.0 * (link.bandwidth / most if most else 0.0)
    if traffic is None:
        axes.plot([x0, x1], [y0, y1], color=LINE, linewidth=width, zorder=1)
        return
    # Each direction on its own side.
    long = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    left, up = (y0 - y1) / long, (x1 - x0) / long
    for way, side in ((2 * vertex, 0.035), (2 * vertex + 1, -0.035)):
        count, colour = traffic.most[way], HEAT[_level(traffic.most[way])]
        x, y = left * side, up * side
        axes.plot([x0 + x, x1 + x], [y0 + y, y1 + y], color=colour, linewidth=0.7 * width, zorder=1)
        if count > 1:
            x, y = x0 + 0.35 * (x1 - x0) + 4 * x, y0 + 0.35 * (y1 - y0) + 4 * y
            axes.text(x, y, str(count), fontsize=7.5, color=colour, ha="center", va="center")


def _vertex(axes: Axes, layout: _Layout, number: int, ranks: list[int]) -> None:
    vertex = layout.topology.vertices[number]
    x, y = layout.at[number]
    colour = MACHINE if vertex.machine else SWITCH
    box = FancyBboxPatch(
        (x - 0.22, y - 0.13), 0.44, 0.26, boxstyle="round,pad=0.02", facecolor=colour,
        edgecolor=INK if vertex.machine else SWITCH, linewidth=0.6, zorder=2,
    )  # fmt: skip
    axes.add_patch(box)
    text = {"ha": "center", "va": "center", "zorder": 3}
    size = min(7.0, 49 / len(vertex.name))
    axes.text(x, y, vertex.name, fontsize=size, color=INK if vertex.machine else "white", **text)
    if ranks:
        axes.text(x, y - 0.28, intervals(ranks), fontsize=7.5, fontweight="bold", color=INK, **text)


def _ring(axes: Axes, layout: _Layout) -> None:
    """Below the machines, from each to the next; the way back is drawn as a line under all."""
    topology = layout.topology
    machines = list(dict.fromkeys(topology.machine_of(rank) for rank in topology.ring))
    if len(machines) < 2:
        return
    low = -0.62
    for one, two in pairwise(machines):
        (x0, y0), (x1, y1) = layout.at[one], layout.at[two]
        axes.annotate(
            "", xy=(x1 - 0.05, y1 - 0.42), xytext=(x0 + 0.05, y0 - 0.42), zorder=4,
            arrowprops={**ARROW, "connectionstyle": "arc3,rad=0.12"},
        )  # fmt: skip
    (x0, y0), (x1, y1) = layout.at[machines[-1]], layout.at[machines[0]]
    axes.plot([x0, x0, x1], [y0 - 0.46, low, low], color=RING, linewidth=1.0)
    axes.annotate("", xy=(x1, y1 - 0.4), xytext=(x1, low), zorder=4, arrowprops=ARROW)


def _legend(topology: _core.Topology, traffic: _core.Traffic | None) -> str:
    if traffic is None:
        speeds = sorted({v.bandwidth for v in topology.vertices if v.bandwidth})
        widths = "; links: " + ", ".join(map(bandwidth_in_words, speeds)) if speeds else ""
        return "below each machine its ranks; red: the contention-free ring" + widths
    shared = sum(step.shared > 0 for step in traffic.steps)
    if not shared:
        return f"no two messages share a link in any of {len(traffic.steps)} steps"
    return (
        f"messages share links in {shared} of {len(traffic.steps)} steps; "
        "at a link the most messages of a step, up on its left and down on its right"
    )


def _key(axes: Axes, traffic: _core.Traffic, links: list[int], x: float, y: float) -> None:
    """What the colours mean that are there."""
    levels = {_level(traffic.most[way]) for link in links for way in (2 * link, 2 * link + 1)}
    parts = [("messages of one step on a link, at most:", INK)]
    parts += [(f"■ {HEAT_WORDS[level]}", HEAT[level]) for level in sorted(levels)]
    for words, colour in parts:
        axes.text(x, y, words, fontsize=7.5, color=colour, va="center")
        x += SMALL_LETTER * len(words) + 0.12


def draw(topology: _core.Topology, traffic: _core.Traffic | None, title: str) -> Figure:
    """With `traffic`, links show what shares them; else the ring is drawn."""
    layout = _Layout(topology)
    if len(layout.leaves) > MOST_LEAVES:
        raise Error(
            f"{len(layout.leaves)} machines are too many to look at",
            "without a file the tree is printed as text",
        )
    across = max((len(layout.leaves) - 1) * COLUMN, 5.4)
    width = across + 2 * SIDE + 0.4
    lines = wrap(title, int((width - 0.3) / LETTER), break_on_hyphens=False)
    more = LINE_HEIGHT * max(0, len(lines) - 1)
    height = layout.depth * ROW + TOP + BOTTOM + 0.75 + more
    left, low = -SIDE - 0.2, -BOTTOM - 0.35
    figure, axes = canvas(width, height, left, low)
    ranks = ranks_by_machine(topology)
    most = max((v.bandwidth for v in topology.vertices), default=0.0)
    for number, vertex in enumerate(topology.vertices):
        if vertex.above >= 0:
            _link(axes, layout, number, traffic, most)
        _vertex(axes, layout, number, ranks.get(number, []))
    if traffic is None:
        _ring(axes, layout)
    x, top = left + 0.15, low + height
    look = {"color": INK, "va": "center"}
    for i, words in enumerate(lines):
        axes.text(x, top - 0.2 - i * LINE_HEIGHT, words, fontsize=10, fontweight="bold", **look)
    axes.text(x, top - 0.42 - more, title_of(topology), fontsize=8, **look)
    axes.text(x, low + 0.14, _legend(topology, traffic), fontsize=7.5, **look)
    if traffic is not None:
        links = [i for i, vertex in enumerate(topology.vertices) if vertex.above >= 0]
        _key(axes, traffic, links, x, low + 0.32)
    return figure
