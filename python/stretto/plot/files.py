# SPDX-License-Identifier: BSD-3-Clause
"""Figures into files."""

import importlib.util
import io
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Error
from ..files import write_bytes, write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("svg", "png", "pdf")


def need_matplotlib() -> None:
    """Raises Error where it is missing; before the work, not after it."""
    if importlib.util.find_spec("matplotlib") is None:
        raise Error(
            "pictures are drawn by matplotlib, which is not installed",
            f"`{sys.executable} -m pip install matplotlib` brings it",
        )


def format_of(path: str) -> str:
    """By the ending of the file's name; raises Error."""
    ending = Path(path).suffix.lower().lstrip(".")
    if ending not in FORMATS:
        raise Error(f"{path}: no picture format ends in '.{ending}'", "use .svg, .png or .pdf")
    return ending


def _small(svg: str) -> str:
    """The same picture in half the bytes."""
    svg = re.sub(r' transform="rotate\(-0 [^"]*"', "", svg)
    svg = re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\d\.\d\d)\d+", r"\1", tag[0]), svg)
    svg = re.sub(r'<g id="text_\d+">\s*(<text .*?</text>)\s*</g>', r"\1", svg)
    svg = re.sub(r"\n +", "\n", svg)
    family = "font-family: 'DejaVu Sans', sans-serif; "
    return svg.replace(family, "").replace("<svg ", f'<svg style="{family}" ', 1)


# Without a date and with fixed ids the same picture is the same file.
_FIXED = {"svg.hashsalt": "stretto", "svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans"]}


def _svg(figure: "Figure", dpi: float) -> str:
    from matplotlib import rc_context

    text = io.StringIO()
    with rc_context(_FIXED):
        figure.savefig(text, format="svg", dpi=dpi, metadata={"Date": None})
    return _small(text.getvalue())


def svg_of(figure: "Figure", ink: str) -> str:
    """An element for a page; what is drawn in `ink` takes the colour of the page's text."""
    svg = _svg(figure, 72.0)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg ") :], flags=re.DOTALL)
    return svg.replace(ink, "currentColor")


def save(figure: "Figure", path: str, most_pixels: int = 12000) -> None:
    """Writes the figure in the format that the name's ending says."""
    ending = format_of(path)
    dpi = min(160.0, most_pixels / max(figure.get_size_inches()))
    if ending == "svg":
        write_text(path, _svg(figure, dpi))
        return
    metadata = {"CreationDate": None} if ending == "pdf" else {}
    picture = io.BytesIO()
    figure.savefig(picture, format=ending, dpi=dpi, metadata=metadata)
    write_bytes(path, picture.getvalue())
