# SPDX-License-Identifier: BSD-3-Clause
"""What each rank did when: a row for each rank."""

from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ..errors import Error
from ..timeline import ACTIVITIES, Event
from ..units import time_in_words
from .axes import KEY, figure_of, style, titled

# In pictures a nested event is lower, so that both are seen.
LOOKS = {
    "wait": ("#e6eaec", 0.86),
    "send": ("#1f6f8b", 0.86),
    "receive": ("#7fb7c9", 0.5),
    "reduce": ("#d1495b", 0.86),
    "copy": ("#e0a030", 0.86),
}
MOST_RANKS = 512


def _time(microseconds: float, _position: int = 0) -> str:
    return time_in_words(1e-6 * microseconds, 6) if microseconds else "0"


def _box(event: Event, origin: float, row: int) -> list[tuple[float, float]]:
    left, right = event.start - origin, event.start - origin + event.duration
    half = LOOKS[event.activity][1] / 2
    return [(left, row - half), (right, row - half), (right, row + half), (left, row + half)]


def draw(events: list[Event], title: str) -> Figure:
    """The figure of a trace; the first event is at 0."""
    ranks = sorted({event.rank for event in events})
    if len(ranks) > MOST_RANKS:
        raise Error(f"{len(ranks)} ranks are too many for a picture", "look at it in Perfetto")
    rows = {rank: row for row, rank in enumerate(ranks)}
    origin = min(event.start for event in events)
    end = max(event.start + event.duration for event in events) - origin
    height = min(24.0, 1.5 + max(0.07, 0.3 - len(ranks) / 600) * len(ranks))
    figure = figure_of(10, height)
    axes = figure.subplots()
    for depth, (activity, (colour, _)) in enumerate(LOOKS.items()):
        boxes = [_box(e, origin, rows[e.rank]) for e in events if e.activity == activity]
        look = {"facecolors": colour, "edgecolors": "white", "linewidths": 0.3}
        axes.add_collection(PolyCollection(boxes, zorder=depth + 2, **look))
    style(axes)
    axes.set_xlim(0, end if end > 0 else 1)
    axes.set_ylim(len(ranks) - 0.4, -0.6)
    step = -(-len(ranks) // 32)
    axes.set_yticks(range(0, len(ranks), step), [str(rank) for rank in ranks[::step]])
    axes.xaxis.set_major_formatter(_time)
    titled(axes, title, "time from the first event on", "rank")
    shown = [a for a in ACTIVITIES if any(e.activity == a for e in events)]
    handles = [Patch(facecolor=LOOKS[activity][0], label=activity) for activity in shown]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(shown), **KEY)
    return figure
