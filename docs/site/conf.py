# SPDX-License-Identifier: BSD-3-Clause
"""The site, by Sphinx: the pages as a forge shows them, with links of files in the repository kept.

The root of the repository is the source folder, so a relative link means the same in both places:
to a page it becomes a link to that page, to another file a download.
"""

from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What the side bar shows, in this order. A page belongs to the first that names it by more than a
# pattern, else to the first whose pattern fits: a new page in docs/ is a guide without a line here.
NAVIGATION = {
    "Start": ["docs/start/my-program", "docs/start/my-cluster", "docs/start/*"],
    "Guides": ["docs/*"],
    "Reference": [
        "docs/glossary",
        "docs/algorithms",
        "docs/rules",
        "docs/schedules",
        "docs/plans",
        "docs/reliability",
        "docs/shared-memory",
        "docs/figures",
    ],
    "Results": ["docs/results/README", "docs/results/*"],
    "Project": ["README", "*", "src/*", "lab/*", "lab/*/*"],
}

project = "Stretto"
author = "Stretto's authors"
extensions = ["myst_parser"]
root_doc = "docs/README"
include_patterns = [
    "*.md", "docs/**.md", "src/README.md", "lab/README.md", "lab/*/README.md", "examples/**.md",
]  # fmt: skip
exclude_patterns = ["build", "**/page.md"]
myst_heading_anchors = 4  # as forges do
html_theme = "furo"
html_title = "Stretto"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_use_index = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"


def _navigation(pages: list[str]) -> dict[str, list[str]]:
    """Every page but the root once, under a caption."""
    left = sorted(set(pages) - {root_doc})
    named = {pattern for patterns in NAVIGATION.values() for pattern in patterns}
    found: dict[str, list[str]] = {}
    for caption, patterns in NAVIGATION.items():
        own = found[caption] = []
        for pattern in patterns:
            fits = [
                page
                for page in left
                if (page == pattern or page not in named)
                and fnmatchcase(page, pattern)
                and page.count("/") == pattern.count("/")
            ]
            own += [page for page in fits if page not in own]
        left = [page for page in left if page not in own]
    return found  # a page that has no place is an error of Sphinx


def _add_navigation(app: object, name: str, source: list[str]) -> None:
    """To the root page as it is read: a forge does not show it."""
    if name != root_doc:
        return
    for caption, pages in _navigation(app.env.found_docs).items():
        lines = [f":caption: {caption}", ":hidden:", ":titlesonly:", "", *(f"/{p}" for p in pages)]
        source[0] += "\n```{toctree}\n" + "\n".join(lines) + "\n```\n"


def _lead_to_the_root(app: object, error: Exception | None) -> None:
    """The site's first address is that of no page of the repository."""
    if error is None:
        to = f"{root_doc}.html"
        page = f'<!doctype html><meta charset="utf-8"><title>{html_title}</title>'
        page += f'<meta http-equiv="refresh" content="0; url={to}"><a href="{to}">{html_title}</a>'
        (Path(app.outdir) / "index.html").write_text(page + "\n", encoding="utf-8")


def setup(app: object) -> None:
    app.connect("source-read", _add_navigation)
    app.connect("build-finished", _lead_to_the_root)
