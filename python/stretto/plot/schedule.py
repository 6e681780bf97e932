# SPDX-License-Identifier: BSD-3-Clause
"""A schedule as in the papers: ranks across, steps down, arrows for messages, boxes for contents.

All lengths are inches.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from ..errors import Error
from ..picture import has_data, headline
from ..symbolic_run import Cell, Message, SymbolicRun
from ..units import intervals
from .axes import INK, canvas, runs, title_size

STORE = "#1f6f8b"
COMBINE = "#d1495b"
FAINT = "#9aa5ab"
CHANGED = "#edae49"
EMPTY = "#ffffff"
PALE, FULL = (0.90, 0.945, 0.965), (0.42, 0.68, 0.78)  # of cells: one contribution, all of them
PALE_RESULT, FULL_RESULT = (0.93, 0.96, 0.89), (0.62, 0.78, 0.48)

CENTERED = {"ha": "center", "va": "center"}

MOST_CELLS = 20000  # a ring of 22 ranks
MOST_MESSAGES = 4500  # recursive doubling on 256 ranks, and some seconds
LONGEST = 6  # letters in a cell; contributions that take more are counted: "6/16"
LETTER = 0.062  # width of a letter of 7 points
CELL_HEIGHT = 0.2
NAMED_CELLS = 64  # of a rank; more are small and have no names
SMALL = 0.1
GAP = 0.34  # between ranks
WIDEST, MOST_LINES = 11.0, 4  # of all boxes side by side; of a box that would be wider
MARGIN = 0.75  # left of the first rank, for the names of the steps
TOP = 1.0
BOTTOM = 0.62


Point = tuple[float, float]


@dataclass(frozen=True)
class _Layout:
    """Where things are; y grows upwards."""

    columns: int  # cells side by side
    lines: int  # and one above the other
    cell: float  # width
    cell_height: float
    group: int  # so many cells, then a new line begins
    arrows: float  # height of the space between two rows of boxes
    ranks: int
    steps: int

    @property
    def box_width(self) -> float:
        return self.columns * self.cell

    @property
    def box_height(self) -> float:
        return self.lines * self.cell_height

    @property
    def width(self) -> float:
        return MARGIN + self.ranks * (self.box_width + GAP) + 0.1

    @property
    def height(self) -> float:
        rows = self.steps + 1
        return TOP + BOTTOM + rows * self.box_height + self.steps * self.arrows

    @property
    def named(self) -> bool:
        return self.cell_height > SMALL

    def corner(self, step: int, rank: int, place: int) -> tuple[float, float]:
        """The lower left one of a cell."""
        group, within = divmod(place, self.group)
        line = group * -(-self.group // self.columns) + within // self.columns
        x = self.left(rank) + within % self.columns * self.cell
        return x, self.top(step) - (line + 1) * self.cell_height

    def left(self, rank: int) -> float:
        return MARGIN + rank * (self.box_width + GAP)

    def center(self, rank: int) -> float:
        return self.left(rank) + self.box_width / 2

    def top(self, step: int) -> float:
        return self.height - TOP - step * (self.box_height + self.arrows)


def _label(run: SymbolicRun, cell: Cell | None, room: float = 0.0) -> str:
    """Its block or its contributions, which are counted if they take too many letters."""
    if cell is None:
        return ""
    if not run.reduces:
        return run.name_of(cell.block)
    ranks = run.shape.ranks
    names = intervals(cell.value, ranks)
    longest = max(LONGEST, int((room - 0.06) / LETTER))
    return names if len(names) <= longest else f"{len(set(cell.value))}/{ranks}"


def _layout(run: SymbolicRun) -> _Layout:
    group = max(1, run.blocks if run.prefixes else run.cells)
    groups = max(1, -(-run.cells // group))
    if run.cells <= NAMED_CELLS:
        labels = [_label(run, one) for row in run.held for held in row for one in held]
        cell = max(0.2, max(map(len, labels), default=1) * LETTER + 0.09)
        height, widest = CELL_HEIGHT, max(1.3, 4 * cell)
    else:
        cell = height = SMALL
        widest = max(1.3, SMALL * group**0.5)
    columns = group
    while columns > 1 and columns * cell > widest:
        columns = (columns + 1) // 2
    # A page makes a wide picture smaller, and its letters with it.
    while run.shape.ranks * (columns * cell + GAP) > WIDEST and columns > 1:
        fewer = (columns + 1) // 2
        if groups * -(-group // fewer) > MOST_LINES:
            break
        columns = fewer
    lines = groups * -(-group // columns)
    if group == 1:
        cell = max(cell, 0.5)
    # Long flat arrows need height to be told apart.
    farthest = max((abs(m.source - m.target) for m in run.messages), default=1)
    arrows = 0.62 + 0.05 * min(farthest, 12)
    ranks, steps = run.shape.ranks, run.steps
    return _Layout(columns, lines, cell, height, group, arrows, ranks, steps)


def _shade(run: SymbolicRun, rank: int, cell: Cell | None) -> tuple[float, float, float] | str:
    """Fuller where there are more contributions, or where a block has come to its end."""
    if cell is None:
        return EMPTY
    part = 0.45
    if run.alltoall:
        part = 1.0 if run.ends[cell.block][1] == rank else 0.0
    elif run.reduces:
        part = (len(set(cell.value)) - 1) / max(1, run.shape.ranks - 1)
    pale, full = (PALE_RESULT, FULL_RESULT) if cell.result else (PALE, FULL)
    return tuple(round(p + (f - p) * part, 3) for p, f in zip(pale, full, strict=True))


def _outline(x: float, y: float, width: float, height: float) -> list[tuple[float, float]]:
    return [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]


def _runs(run: SymbolicRun, at: _Layout, step: int, rank: int) -> Iterator[tuple[int, int]]:
    """(first place, how many) of cells of one line that look the same, drawn as one."""
    looks = []
    for place, cell in enumerate(run.held[step][rank]):
        same = cell and frozenset(cell.value)
        if cell and at.named and not run.reduces:
            same = place  # its name differs
        line = at.corner(step, rank, place)[1]
        looks.append((line, same, run.changed(step, rank, place)))
    return ((first, count) for _, first, count in runs(looks))


def _draw_boxes(axes: Axes, run: SymbolicRun, at: _Layout) -> None:
    """Cells and frames; three collections draw much faster than single patches."""
    cells, shades, changed, frames = [], [], [], []
    for step, rank in product(range(at.steps + 1), range(at.ranks)):
        for place, count in _runs(run, at, step, rank):
            cell = run.held[step][rank][place]
            x, y = at.corner(step, rank, place)
            width = count * at.cell
            cells.append(_outline(x, y, width, at.cell_height))
            shades.append(_shade(run, rank, cell))
            if run.changed(step, rank, place):
                inner = _outline(x + 0.012, y + 0.012, width - 0.024, at.cell_height - 0.024)
                changed.append(inner)
            label = _label(run, cell, width) if at.named else ""
            if label:
                middle = (x + width / 2, y + at.cell_height / 2 - 0.005)
                axes.text(*middle, label, fontsize=7, color=INK, **CENTERED, zorder=5)
        bottom = at.top(step) - at.box_height
        frames.append(_outline(at.left(rank), bottom, at.box_width, at.box_height))
    for outlines, look in (
        (cells, {"facecolors": shades, "edgecolors": FAINT, "linewidths": 0.5, "zorder": 3}),
        (changed, {"facecolors": "none", "edgecolors": CHANGED, "linewidths": 1.3, "zorder": 4}),
        (frames, {"facecolors": "none", "edgecolors": INK, "linewidths": 0.9, "zorder": 4}),
    ):
        axes.add_collection(PolyCollection(outlines, clip_on=False, **look), autolim=False)


def _places(run: SymbolicRun, at: _Layout, step: int) -> dict[tuple[int, bool, int], float]:
    """(rank, leaves?, number of the message): x of its end, spread so that none hides another."""
    ends: dict[tuple[int, bool], list[tuple[int, int]]] = {}
    for number, message in enumerate(run.messages_of(step)):
        ends.setdefault((message.source, True), []).append((message.target, number))
        ends.setdefault((message.target, False), []).append((message.source, number))
    places = {}
    for (rank, leaves), others in ends.items():
        for i, (other, number) in enumerate(sorted(others)):
            if len(others) > 1:
                offset = (i + 1) / (len(others) + 1) - 0.5
            else:  # off the middle, so that what a rank sends and what it gets stay apart
                offset = 0.17 if other > rank else -0.17
            places[rank, leaves, number] = at.center(rank) + offset * at.box_width
    return places


def _cargo(run: SymbolicRun, message: Message, room: float) -> str:
    """What it carries: the names of the blocks if there is room for them, else their number."""
    names, number = run.names_of(message.blocks), len(message.blocks)
    for words in (names, f"{number} blocks" if number > 1 else "", f"({number})"):
        if words and len(words) * LETTER <= room:
            return words
    return ""


def _arrow(start: Point, end: Point, **look: Any) -> FancyArrowPatch:
    shape = {"arrowstyle": "-|>", "mutation_scale": 9, "shrinkA": 0, "shrinkB": 0}
    return FancyArrowPatch(start, end, **shape, **look, clip_on=False)


def _draw_messages(axes: Axes, run: SymbolicRun, at: _Layout, step: int) -> None:
    places = _places(run, at, step)
    bottom, top = at.top(step - 1) - at.box_height, at.top(step)
    named = run.cells > 1 and not (run.prefixes and run.blocks == 1)
    messages = run.messages_of(step)
    sent = Counter(message.source for message in messages)
    thick = 1.1 if len(messages) <= 4 * run.shape.ranks else 0.5
    for number, message in enumerate(messages):
        color = COMBINE if message.combined else STORE
        start = (places[message.source, True, number], bottom - (0.15 if named else 0.02))
        end = (places[message.target, False, number], top + 0.02)
        axes.add_patch(_arrow(start, end, color=color, linewidth=thick, zorder=2))
        if named:
            words = _cargo(run, message, (at.box_width + GAP / 2) / sent[message.source])
            look = {"fontsize": 6.5, "color": color, "zorder": 6}
            axes.text(start[0], bottom - 0.085, words, **look, **CENTERED)


def _draw_legend(axes: Axes, run: SymbolicRun) -> None:
    x, y = MARGIN, 0.34
    kinds = {message.combined for message in run.messages}
    parts = [("stored" if has_data(run) else "empty message", STORE)] if False in kinds else []
    if True in kinds:
        parts.append(("combined with its own", COMBINE))
    for words, color in parts:
        axes.add_patch(_arrow((x, y), (x + 0.3, y), color=color, linewidth=1.1))
        axes.text(x + 0.36, y, words, fontsize=7, color=INK, va="center")
        x += 0.36 + len(words) * LETTER + 0.25
    if not has_data(run):
        return
    axes.add_patch(
        Rectangle((x, y - 0.06), 0.16, 0.12, facecolor="none", edgecolor=CHANGED, linewidth=1.3)
    )
    axes.text(x + 0.22, y, "new in this step", fontsize=7, color=INK, va="center")
    axes.text(MARGIN, y - 0.18, _key(run), fontsize=7, color=INK, va="center")


def _key(run: SymbolicRun) -> str:
    """What the cells mean."""
    if run.alltoall:
        words = "a cell is a block on its way or at its end (dark)"
        if run.shape.ranks > 1:
            words += f": {run.pair_name(0, 1)} goes from rank 0 to rank 1"
    elif run.reduces:
        words = "a cell is a block, block 0 first: the ranks whose contributions it holds"
        words += ", or how many of them"
    else:
        words = "a cell is a block, block 0 first: named where it is held"
    if run.prefixes:
        words += "; green: the result"
    elif run.cells > 1:
        words += "; under a box: what it sends"
    return words


def _draw_titles(axes: Axes, run: SymbolicRun, at: _Layout) -> None:
    name, _, rest = headline(run).partition(": ")
    bold = {"fontweight": "bold", "color": INK}
    size = title_size(name, axes.get_xlim()[1] - 0.3, 11)
    axes.text(0.15, at.height - 0.22, name, fontsize=size, **bold, va="center")
    axes.text(0.15, at.height - 0.45, rest.strip(), fontsize=8, color=INK, va="center")
    for rank in range(at.ranks):
        place = (at.center(rank), at.height - TOP + 0.13)
        axes.text(*place, f"rank {rank}", fontsize=8, **bold, **CENTERED)
    for step in range(at.steps + 1):
        middle = at.top(step) - at.box_height / 2
        words = "before" if step == 0 else f"after {step}"
        axes.text(0.15, middle, words, fontsize=7, color=FAINT, va="center")
        if step > 0:
            middle = at.top(step) + at.arrows / 2
            axes.text(0.15, middle, f"step {step}", fontsize=8.5, **bold, va="center")


def draw(run: SymbolicRun) -> Figure:
    """The picture of a symbolic run; raises Error if it would be too large to look at."""
    cells = (run.steps + 1) * run.shape.ranks * max(1, run.cells)
    if cells > MOST_CELLS or len(run.messages) > MOST_MESSAGES:
        things = f"{cells} cells and {len(run.messages)} messages"
        raise Error(
            f"a picture of {things} would be too large to look at",
            "draw fewer ranks, or --form matrix; without a file `stretto show` prints more",
        )
    at = _layout(run)
    width = max(at.width, MARGIN + 5.6)
    figure, axes = canvas(width, at.height)
    _draw_titles(axes, run, at)
    _draw_boxes(axes, run, at)
    for step in range(1, at.steps + 1):
        _draw_messages(axes, run, at, step)
    _draw_legend(axes, run)
    return figure
