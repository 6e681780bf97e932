# SPDX-License-Identifier: BSD-3-Clause
"""The charts of a comparison. What is drawn in INK takes the colour of the page's text."""

from matplotlib.figure import Figure

from ..compare.outcome import Outcome
from ..compare.runs import NATIVE, STRETTO
from .axes import INK, legend_above, page_axes

COLOURS = {NATIVE: "#9a7fb8", STRETTO: "#1f8aa8"}
LABELS = {NATIVE: "without Stretto", STRETTO: "with Stretto"}


def runs(outcome: Outcome) -> Figure:
    """Seconds of every run, by pair."""
    figure, (axes,) = page_axes(2.6)
    for side, colour in COLOURS.items():
        times = [run.seconds for run in outcome.runs if run.side == side]
        axes.plot(range(1, len(times) + 1), times, "o-", color=colour, label=LABELS[side],
                  linewidth=0.8, markersize=5)  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.set_xlabel("pair of runs", fontsize=8, color=INK)
    axes.set_ylabel("seconds", fontsize=8, color=INK)
    axes.xaxis.get_major_locator().set_params(integer=True)
    legend_above(axes, 2)
    return figure


def functions(outcome: Outcome) -> Figure:
    """Seconds per rank, bars across, the longest above."""
    parts = outcome.functions[::-1]
    figure, (axes,) = page_axes(0.9 + 0.4 * len(parts))
    for shift, side in ((0.2, NATIVE), (-0.2, STRETTO)):
        widths = [part.native if side == NATIVE else part.stretto for part in parts]
        places = [at + shift for at in range(len(parts))]
        axes.barh(places, widths, height=0.36, color=COLOURS[side], label=LABELS[side])
    axes.set_yticks(range(len(parts)), [part.name for part in parts])
    axes.set_xlabel("seconds per rank, median of the runs", fontsize=8, color=INK)
    legend_above(axes, 2)
    return figure
