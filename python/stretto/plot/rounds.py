# SPDX-License-Identifier: BSD-3-Clause
"""A schedule on many ranks: a matrix for each step, who sends to whom. Steps in a row that have the
same messages are one matrix.

All lengths are inches.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from math import log2

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ..errors import Error
from ..picture import headline
from ..symbolic_run import Message, SymbolicRun
from ..units import counted
from .axes import GRID, INK, canvas, fill, title_size
from .schedule import COMBINE, STORE

MOST_PANELS = 144
WIDEST = 9.6  # of all panels side by side
SIZES = ((4, 2.7), (12, 2.0), (40, 1.5), (MOST_PANELS, 1.05))  # of a matrix, for so many panels
SHADES = 5
LEAST_CELL = 0.022
PALEST = 0.35  # of its colour, where a message has few blocks
TOP, BOTTOM, LEFT, HEAD, GAP = 0.62, 0.42, 0.35, 0.36, 0.42
MARKS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)  # ranks from line to line
MOST_MARKS = 8

Key = tuple[int, int, bool, int]  # sender, receiver, combined, blocks


@dataclass(frozen=True)
class Panel:
    """Steps in a row with the same messages."""

    first: int
    last: int
    messages: Counter[Key]

    @property
    def title(self) -> str:
        several = self.last > self.first
        return f"steps {self.first}–{self.last}" if several else f"step {self.first}"

    @property
    def words(self) -> str:
        """How many messages a step has, and of how many blocks."""
        sizes = {blocks for *_, blocks in self.messages}
        words = counted(self.messages.total(), "message")
        if not sizes or sizes == {0}:
            return words
        few, most = min(sizes), max(sizes)
        return f"{words} of {counted(most, 'block') if few == most else f'{few} to {most} blocks'}"


def _key(message: Message) -> Key:
    return message.source, message.target, message.combined, len(message.blocks)


def panels(run: SymbolicRun) -> list[Panel]:
    """In the order of steps."""
    steps = [(t, Counter(map(_key, run.messages_of(t)))) for t in range(1, run.steps + 1)]
    found = []
    for messages, group in groupby(steps, key=lambda one: one[1]):
        numbers = [step for step, _ in group]
        found.append(Panel(numbers[0], numbers[-1], messages))
    return found


def _shade(colour: str, blocks: int, most: int) -> tuple[float, ...]:
    """From pale to full by the logarithm, in few steps: boxes of one colour are one shape."""
    share = log2(max(1, blocks)) / log2(most) if most > 1 else 1.0
    level = PALEST + (1 - PALEST) * round(share * (SHADES - 1)) / (SHADES - 1)
    return tuple(round(1 + (part - 1) * level, 3) for part in to_rgb(colour))


def _marks(ranks: int) -> range:
    step = next(step for step in MARKS if step * MOST_MARKS >= ranks or step == MARKS[-1])
    return range(0, ranks, step)


def _draw_panel(
    axes: Axes, panel: Panel, corner: tuple[float, float], size: float, ranks: int, most: int
) -> None:
    """Rows are senders, from above; columns are receivers."""
    left, top = corner
    cell = size / ranks
    wide = max(cell, LEAST_CELL)  # of many ranks a cell covers its neighbours, to be seen
    beside = (wide - cell) / 2
    boxes = defaultdict(list)
    for source, target, combined, blocks in panel.messages:
        shade = _shade(COMBINE if combined else STORE, blocks, most)
        x, y = left + target * cell - beside, top - (source + 1) * cell - beside
        boxes[shade].append((x, y, wide, wide))
    for mark in _marks(ranks):
        x, y = left + mark * cell, top - mark * cell
        axes.plot([x, x], [top, top - size], color=GRID, linewidth=0.5, zorder=1)
        axes.plot([left, left + size], [y, y], color=GRID, linewidth=0.5, zorder=1)
        look = {"fontsize": 5.5, "color": INK}
        axes.text(left - 0.03, y - cell / 2, str(mark), ha="right", va="center", **look)
        axes.text(x + cell / 2, top - size - 0.03, str(mark), ha="center", va="top", **look)
    for shade, own in boxes.items():
        fill(axes, own, shade)
    axes.add_patch(
        Rectangle((left, top - size), size, size, fill=False, edgecolor=INK, linewidth=0.7)
    )
    axes.text(left, top + 0.2, panel.title, fontsize=8, fontweight="bold", color=INK)
    axes.text(left, top + 0.06, panel.words, fontsize=min(6.5, 4.2 * size), color=INK)


def _key_words(run: SymbolicRun, most: int) -> Iterator[tuple[str, str]]:
    yield INK, "row: sender; column: receiver"
    kinds = {message.combined for message in run.messages}
    if False in kinds:
        yield STORE, "■ stored"
    if True in kinds:
        yield COMBINE, "■ combined with its own"
    if most > 1:
        yield INK, f"darker: more blocks, {most} at most"


def draw(run: SymbolicRun) -> Figure:
    """The picture of a symbolic run; raises Error if it would be too large to look at."""
    found, ranks = panels(run), run.shape.ranks
    if len(found) > MOST_PANELS:
        raise Error(
            f"a picture of {len(found)} different steps would be too large to look at",
            "draw fewer ranks; without a file `stretto show` prints more; with --text any number",
        )
    size = next(size for many, size in SIZES if len(found) <= many)
    across = max(1, min(len(found), int(WIDEST / (size + GAP))))
    down = -(-len(found) // across)
    width = max(LEFT + across * (size + GAP), 6.4)
    height = TOP + BOTTOM + down * (size + HEAD + 0.2)
    figure, axes = canvas(width, height)
    name, _, rest = headline(run).partition(": ")
    bold = {"fontsize": title_size(name, width - 0.3, 11), "fontweight": "bold", "color": INK}
    axes.text(0.15, height - 0.26, name, **bold)
    axes.text(0.15, height - 0.46, rest.strip(), fontsize=8, color=INK)
    most = max((blocks for panel in found for *_, blocks in panel.messages), default=0)
    for i, panel in enumerate(found):
        row, column = divmod(i, across)
        left = LEFT + column * (size + GAP)
        top = height - TOP - HEAD - row * (size + HEAD + 0.2)
        _draw_panel(axes, panel, (left, top), size, ranks, most)
    x = LEFT
    for colour, words in _key_words(run, most):
        axes.text(x, 0.16, words, fontsize=7, color=colour, va="center")
        x += 0.062 * len(words) + 0.3
    return figure
