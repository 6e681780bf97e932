# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the pages in docs/: commands that draw them, and whether they are current."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from commands import succeed

LARGEST = 64_000
DOCS = Path(__file__).resolve().parents[2] / "docs"


def words_of(svg: Path) -> list[str]:
    return [e.text for e in ElementTree.parse(svg).iter() if e.text and e.text.strip()]


def figures_of(page: str) -> list[tuple[str, str]]:
    """(arguments with the option of the file, file) of the commands that stand in a page."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(r"^stretto (.* (?:-o|--plot)) docs/(figures/.*\.svg)$", text, re.MULTILINE)


def assert_current(folder: Path, arguments: str, name: str) -> None:
    """Draws the figure again."""
    drawn = folder / "figure.svg"
    succeed(*arguments.split(), drawn)
    assert_same(drawn, DOCS / name, f"run: stretto {arguments} docs/{name}")


def assert_same(drawn: Path, kept: Path, how: str) -> None:
    """As what is kept; `how` to make it anew."""
    assert kept.stat().st_size < LARGEST, "draw less of it: larger figures are not kept"
    assert words_of(drawn) == words_of(kept), how
    # Another version of Matplotlib may write the same picture in other words.
    version = r"Matplotlib v[\d.]+"
    old, new = (path.read_text(encoding="utf-8") for path in (kept, drawn))
    if re.search(version, old)[0] == re.search(version, new)[0]:
        assert old == new, how
