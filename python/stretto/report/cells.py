# SPDX-License-Identifier: BSD-3-Clause
"""What pages are made of: numbers that sort, charts, templates."""

from dataclasses import dataclass

from jinja2 import Environment, PackageLoader
from markupsafe import Markup
from matplotlib.figure import Figure

from ..plot.axes import INK
from ..plot.files import svg_of
from ..units import time_in_words


@dataclass(frozen=True)
class Cell:
    """A number; what is sorted by its text is no Cell."""

    text: str
    value: float  # to sort by


Line = list[str | Cell]


def seconds(value: float) -> Cell:
    return Cell(time_in_words(value, 3), value)


def number(value: float) -> Cell:
    return Cell(f"{value:,.0f}", value)


def percent(part: float, whole: float) -> Cell:
    share = 100 * part / whole if whole > 0 else 0.0
    return Cell(f"{share:.1f} %", share)


def chart(figure: Figure, title: str) -> Markup:
    """An element of a page; the title is for those who do not see it."""
    svg = svg_of(figure, INK)
    return Markup(svg.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1))


def rendered(template: str, said: dict[str, object]) -> str:
    """The whole document."""
    templates = Environment(
        loader=PackageLoader("stretto", "report"), autoescape=True, keep_trailing_newline=True
    )
    return templates.get_template(template).render(said)
