# SPDX-License-Identifier: BSD-3-Clause
"""Figures into files."""

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("svg", "png", "pdf")


def format_of(path: str) -> str:
    """By the ending of the file's name; raises Error."""
    ending = Path(path).suffix.lower().lstrip(".")
    if ending not in FORMATS:
        raise Error(f"{path}: no picture format ends in '.{ending}'", "use .svg, .png or .pdf")
    return ending


def _small(svg: str) -> str:
    """The same picture in half the bytes."""
    svg = re.sub(r' transform="rotate\(-0 [^"]*"', "", svg)
    svg = re.sub(r"(\d\.\d\d)\d+", r"\1", svg)
    svg = re.sub(r'<g id="text_\d+">\s*(<text .*?</text>)\s*</g>', r"\1", svg)
    svg = re.sub(r"\n +", "\n", svg)
    family = "font-family: 'DejaVu Sans', sans-serif; "
    return svg.replace(family, "").replace("<svg ", f'<svg style="{family}" ', 1)


def save(figure: "Figure", path: str, most_pixels: int = 12000) -> None:
    """Writes the figure in the format that the name's ending says."""
    from matplotlib import rc_context

    ending = format_of(path)
    dpi = min(160.0, most_pixels / max(figure.get_size_inches()))
    # Without a date and with fixed ids the same picture is the same file.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[ending]
    fonts = {"svg.hashsalt": "stretto", "svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans"]}
    if ending != "svg":
        figure.savefig(path, format=ending, dpi=dpi, metadata=metadata)
        return
    text = io.StringIO()
    with rc_context(fonts):
        figure.savefig(text, format="svg", dpi=dpi, metadata=metadata)
    Path(path).write_text(_small(text.getvalue()), encoding="utf-8")
