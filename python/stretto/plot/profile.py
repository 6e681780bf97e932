# SPDX-License-Identifier: BSD-3-Clause
"""The charts of a report. What is drawn in INK takes the colour of the page's text."""

from matplotlib.figure import Figure

from ..report.read import Profile, Row, grouped
from ..units import size_in_words
from .axes import INK, legend_above, page_axes

PARTS = {
    "moving data": "#1f8aa8",
    "waiting": "#edae49",
    "posting": "#6aa84f",
    "waits and tests": "#c8553d",
    "native": "#9a7fb8",
}
MOST_BARS = 64


def _split(rows: list[Row]) -> dict[str, float]:
    served = [row for row in rows if not row.native]
    return {
        "moving data": sum(row.moving for row in served if row.blocking),
        "waiting": sum(row.waiting or 0.0 for row in served),
        "posting": sum(row.posting for row in served),
        "waits and tests": sum(row.completing for row in served),
        "native": sum(row.seconds for row in rows if row.native),
    }


def _parts(profile: Profile) -> dict[str, str]:
    """With their colours; some only where the program makes such calls."""
    if any(not row.blocking for row in profile.rows):
        return PARTS
    return {part: PARTS[part] for part in ("moving data", "waiting", "native")}


def functions(profile: Profile) -> Figure:
    """Seconds per rank, bars across."""
    groups = grouped(profile.rows, "title")
    names = list(groups)[::-1]
    figure, (axes,) = page_axes(0.9 + 0.3 * len(names))
    left = [0.0] * len(names)
    for part, colour in _parts(profile).items():
        widths = [_split(groups[name])[part] / len(profile.ranks) for name in names]
        axes.barh(names, widths, left=left, color=colour, label=part)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.set_xlabel("seconds per rank", fontsize=8, color=INK)
    legend_above(axes, len(PARTS))
    return figure


def sizes(profile: Profile) -> Figure:
    """Calls above, seconds below, by powers of two."""
    groups = grouped(profile.rows, "bytes_from")
    powers = {n: n.bit_length() for n in groups}
    low, high = min(powers.values()), max(powers.values())
    figure, (above, below) = page_axes(3.8, 2)
    served, native = (
        [sum(row.calls for row in rows if row.native == is_native) for rows in groups.values()]
        for is_native in (False, True)
    )
    above.bar(powers.values(), served, color=PARTS["moving data"], label="served")
    above.bar(powers.values(), native, bottom=served, color=PARTS["native"], label="native")
    bottom = [0.0] * len(groups)
    for part, colour in _parts(profile).items():
        heights = [_split(rows)[part] / len(profile.ranks) for rows in groups.values()]
        below.bar(powers.values(), heights, bottom=bottom, color=colour, label=part)
        bottom = [a + b for a, b in zip(bottom, heights, strict=True)]
    above.set_ylabel("calls", fontsize=8, color=INK)
    below.set_ylabel("seconds per rank", fontsize=8, color=INK)
    below.set_xlabel("bytes, from", fontsize=8, color=INK)
    ticks = range(low, high + 1, 1 if high - low < 16 else 2)
    below.set_xticks(ticks, [size_in_words(1 << bits - 1 if bits else 0) for bits in ticks])
    for axes in (above, below):
        legend_above(axes, len(PARTS))
    return figure


def ranks(profile: Profile) -> Figure:
    """Seconds in collectives of each rank; of many ranks, of each so-many-th."""
    step = -(-len(profile.ranks) // MOST_BARS)
    shown = range(0, len(profile.ranks), step)
    figure, (axes,) = page_axes(2.6)
    rest = [profile.ranks[i].seconds - profile.ranks[i].waiting for i in shown]
    waits = [profile.ranks[i].waiting for i in shown]
    axes.bar(shown, rest, width=0.8 * step, color=PARTS["moving data"], label="not waiting")
    axes.bar(shown, waits, width=0.8 * step, bottom=rest, color=PARTS["waiting"], label="waiting")
    axes.set_xlabel("rank" if step == 1 else f"rank (each {step}th)", fontsize=8, color=INK)
    axes.set_ylabel("seconds", fontsize=8, color=INK)
    axes.xaxis.get_major_locator().set_params(integer=True)
    legend_above(axes, len(PARTS))
    return figure
