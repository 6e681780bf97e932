# SPDX-License-Identifier: BSD-3-Clause
"""What a program has learned: the candidates of each class of calls against the native function."""

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from ..report.read import LearnedClass, Profile
from .axes import GRID, INK, legend_above, page_axes

CHOICE, CANDIDATE = "#1f8aa8", "#9aa7ad"
MOST_CLASSES = 24
POWERS = range(-7, 8)  # of two, that may stand below the axis


def compared(profile: Profile) -> list[LearnedClass]:
    """Those with a time of the native function and of the choice; what saved most comes first."""
    own = [one for one in profile.learned if one.ratio is not None]
    return sorted(own, key=lambda one: -(one.saved or 0.0))[:MOST_CLASSES]


def _titles(classes: list[LearnedClass]) -> list[str]:
    """The function and what else tells the classes apart; sizes by where they begin."""
    words = [one.conditions.split() for one in classes]
    common = set.intersection(*map(set, words))
    forms = {one.form for one in classes}
    return [
        " ".join(
            [own[0]]
            + [word for word in own[1:] if word not in common and not word.startswith("bytes<")]
            + ([one.form] if len(forms) > 1 else [])
        )
        for own, one in zip(words, classes, strict=True)
    ]


def draw(profile: Profile) -> Figure:
    """A line for each class, with a point for each candidate; needs compared() to find some."""
    classes = compared(profile)
    figure, (axes,) = page_axes(1.0 + 0.27 * len(classes))
    for line, one in enumerate(classes):
        native, choice = one.of("native"), one.of(one.choice)
        assert native and native.seconds and choice and choice.seconds
        rest = [each.seconds / native.seconds for each in one.tried if each.seconds]
        axes.scatter(rest, [line] * len(rest), s=14, color=CANDIDATE, label=_once("tried", line))
        at = choice.seconds / native.seconds
        axes.scatter([at], [line], s=34, color=CHOICE, label=_once("chosen", line), zorder=3)
        axes.annotate(
            one.choice, (at, line), (0, 5), textcoords="offset points", fontsize=7, color=INK,
            ha="center",
        )  # fmt: skip
    axes.axvline(1, color=INK, linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator([2.0**power for power in POWERS]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:.3g}")
    axes.grid(True, axis="y", color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.set_yticks(range(len(classes)), _titles(classes))
    axes.set_ylim(len(classes) - 0.4, -0.8)  # the first at the top
    axes.set_xlabel("time of a call over that of the native function", fontsize=8, color=INK)
    legend_above(axes, 2)
    return figure


def _once(label: str, line: int) -> str:
    """In the legend, of the first line alone."""
    return label if line == 0 else f"_{label}"
