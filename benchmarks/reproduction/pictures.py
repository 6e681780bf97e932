# SPDX-License-Identifier: BSD-3-Clause
"""The figures of the page: who wins, and times over sizes."""

from collections import defaultdict
from itertools import groupby
from pathlib import Path

from claims import Model, powers
from clusters import Smpi
from distributions import DISTRIBUTIONS, broadcast, spike
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter
from stretto.plot.axes import INK, bytes_across, fill, style
from stretto.plot.files import save
from stretto.plot.simulation import COLOURS
from stretto.units import size_in_words, time_in_words
from thakur2005_allreduce import MOST_RANKS, NEW, TREE, winner
from traff import GIGABIT, pipelined, ring

RANKS = range(2, MOST_RANKS + 1)
SIZES = powers(8, 8 << 20)
ALGORITHMS = {
    "two binomial trees": "reduce_bcast",
    "SMP-rdb": "smpi/smp_rdb",
    "SMP-binomial": "smpi/smp_binomial",
    "Rabenseifner's": "smpi/rab_rdb",
    "the ring": "the ring",
}
TIME = "time of a call"
BLOCKS = {"pipelined, 32 KiB": 32 << 10, "pipelined, Stretto's block": 0}


def _lines(axes: Axes, names: list[str], curves: dict[str, dict[int, float]], title: str) -> None:
    """Seconds by size; a name has the same colour in all panels. Lines that are drawn later are
    thinner, so that those below are seen."""
    for above, (name, seconds) in enumerate(reversed(curves.items())):
        look = {"color": COLOURS[names.index(name)], "linewidth": 1.2 + 1.3 * above}
        axes.plot(list(seconds), list(seconds.values()), label=name, zorder=3 - 0.1 * above, **look)
    style(axes)
    bytes_across(axes)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda seconds, _: time_in_words(seconds)))
    axes.set_title(title, fontsize=9, fontweight="bold", color=INK, loc="left")


def _key(figure: Figure, axes: Axes) -> None:
    """Below all panels; these axes have all lines."""
    handles, labels = axes.get_legend_handles_labels()
    look = {"loc": "outside lower center", "fontsize": 8, "frameon": False}
    figure.legend(handles[::-1], labels[::-1], ncols=len(labels), **look)


def winners(model: Model) -> Figure:
    """Figure 14 of Thakur, Rabenseifner and Gropp 2005."""
    names = [*NEW, TREE]
    figure = Figure(figsize=(8.4, 3.4), layout="constrained", facecolor="white")
    axes = figure.subplots()
    boxes = defaultdict(list)
    for ranks in RANKS:
        row = 0
        for name, alike in groupby(winner(model, ranks, size) for size in SIZES):
            height = len(list(alike))
            boxes[name].append((ranks - 0.5, row, 1, height))
            row += height
    for name, own in boxes.items():
        fill(axes, own, COLOURS[names.index(name)])
    axes.set_xlim(RANKS[0] - 0.5, RANKS[-1] + 0.5)
    axes.set_ylim(0, len(SIZES))
    axes.set_yticks([i + 0.5 for i in range(0, len(SIZES), 2)], map(size_in_words, SIZES[::2]))
    axes.set_xticks([2, *range(16, MOST_RANKS, 16)])
    axes.tick_params(labelsize=8, colors=INK, length=2)
    axes.set_xlabel("processes", fontsize=9, color=INK)
    axes.set_ylabel("bytes of the vector", fontsize=9, color=INK)
    figure.legend(
        handles=[Patch(color=COLOURS[names.index(n)], label=n) for n in names if n in boxes],
        loc="outside lower center",
        ncols=len(boxes),
        fontsize=8,
        frameon=False,
    )
    return figure


def distributions(model: Model) -> Figure:
    """Figure 6 of Träff et al., for all six."""
    figure = Figure(figsize=(8.4, 4.6), layout="constrained", facecolor="white")
    panels = figure.subplots(2, 3)
    for axes, distribution in zip(panels.flat, DISTRIBUTIONS, strict=True):
        once = distribution in (broadcast, spike)  # all gather the base size, else 96 times as much
        sizes = powers(4 << 10, 32 << 20) if once else powers(64, 256 << 10)
        counts = {size: distribution(96, size) for size in sizes}
        curves = {"ring": {size: ring(model, one, GIGABIT, 4) for size, one in counts.items()}}
        for name, block in BLOCKS.items():
            curves[name] = {
                size: pipelined(model, one, GIGABIT, block, 4) for size, one in counts.items()
            }
        _lines(axes, list(curves), curves, distribution.__name__.replace("_", " "))
    for axes in panels.flat:
        axes.set_xlabel("base size in bytes", fontsize=8, color=INK)
    for axes in panels[:, 0]:
        axes.set_ylabel(TIME, fontsize=8, color=INK)
    _key(figure, panels[0, 0])
    return figure


def allreduces(smpi: Smpi) -> Figure:
    """Figures 5 and 8 of Patarasuk and Yuan."""
    figure = Figure(figsize=(8.4, 3.4), layout="constrained", facecolor="white")
    panels = figure.subplots(1, 2)
    shown = (
        ("teragrid-128", None, "teragrid-128"),
        ("ethernet-2", 1, "ethernet-2, ranks at random"),
    )
    for axes, (cluster, seed, title) in zip(panels, shown, strict=True):
        curves = {
            name: {size: us * 1e-6 for size, us in smpi.us(cluster, words, seed).items()}
            for name, words in ALGORITHMS.items()
            if seed is None or "SMP" not in name
        }
        _lines(axes, list(ALGORITHMS), curves, title)
        axes.set_xlabel("bytes of the vector", fontsize=8, color=INK)
    panels[0].set_ylabel(TIME, fontsize=8, color=INK)
    _key(figure, panels[0])
    return figure


def draw(folder: Path, smpi: Smpi | None) -> None:
    """All that can be drawn."""
    save(winners(Model()), str(folder / "reproduction-winners.svg"))
    save(distributions(Model()), str(folder / "reproduction-distributions.svg"))
    if smpi:
        save(allreduces(smpi), str(folder / "reproduction-allreduce.svg"))
