# SPDX-License-Identifier: BSD-3-Clause
"""Predicted time over bytes, a line for each algorithm."""

from matplotlib.figure import Figure

from .axes import bytes_across, figure_of, style, times_up, titled

COLOURS = ("#1f6f8b", "#d1495b", "#e0a030", "#5b8c5a", "#7a5195", "#8d99a6", "#b5651d", "#22333b")
STYLES = ("-", "--", ":", "-.")


def draw(curves: dict[str, list[float]], sizes: list[int], title: str) -> Figure:
    """`curves`: for each algorithm the seconds at each of the sizes."""
    figure = figure_of(8.4, 5.2)
    axes = figure.subplots()
    best = [min(times) for times in zip(*curves.values(), strict=True)]
    # The legend in the order in which the lines end.
    order = sorted(curves, key=lambda name: -curves[name][-1])
    for i, name in enumerate(sorted(curves)):
        wins = any(t <= b for t, b in zip(curves[name], best, strict=True))
        axes.plot(
            sizes,
            curves[name],
            STYLES[i // len(COLOURS) % len(STYLES)],
            color=COLOURS[i % len(COLOURS)],
            linewidth=2.2 if wins else 1.1,
            label=name + (" *" if wins else ""),
        )
    style(axes)
    bytes_across(axes)
    times_up(axes)
    titled(axes, title, "bytes of the vector", "predicted time of a call")
    handles, labels = axes.get_legend_handles_labels()
    by_name = dict(zip([label.removesuffix(" *") for label in labels], handles, strict=True))
    figure.legend(
        [by_name[name] for name in order],
        [by_name[name].get_label() for name in order],
        loc="outside right upper",
        fontsize=8,
        frameon=False,
        title="* fastest somewhere",
        title_fontsize=8,
    )
    return figure
