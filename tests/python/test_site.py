# SPDX-License-Identifier: BSD-3-Clause
"""The site of the documentation: it is built without a warning, and a browser shows it."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from browser import seen_by_a_browser

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """Every link is looked up: one that leads nowhere is an error."""
    missing = [
        one for one in ("sphinx", "myst_parser", "furo") if not importlib.util.find_spec(one)
    ]
    if missing:
        pytest.skip(f"{missing[0]} comes with the extra 'docs'")
    target = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [ROOT / "docs" / "site" / "build", target],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return target


def test_every_page_is_in_the_navigation(site):
    start = (site / "docs" / "README.html").read_text(encoding="utf-8")
    for page in [*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")]:
        name = page.relative_to(ROOT).with_suffix(".html")
        assert (site / name).exists()
        at = os.path.relpath(name, "docs")
        assert f'href="{at}"' in start or name.name == "README.html", f"{name} has no place"


def test_the_first_address_leads_to_the_start_page(site):
    page = (site / "index.html").read_text(encoding="utf-8")
    (to,) = re.findall(r'url=([^"]+)"', page)
    assert (site / to).exists()


def test_start_page_in_a_browser(site):
    """Its scripts report no error, and the three ways in are there."""
    page = site / "docs" / "README.html"
    text = page.read_text(encoding="utf-8")
    watch = "<script>onerror = (message) => { document.title = `error: ${message}`; };</script>"
    page.write_text(text.replace("<head>", f"<head>{watch}", 1), encoding="utf-8")
    seen = seen_by_a_browser(page)
    assert "<title>error" not in seen and "<title>Stretto" in seen
    for name in ("my-program", "my-cluster", "my-algorithm"):
        assert f'href="start/{name}.html"' in seen
    captions = re.findall(r'class="caption-text">([^<]+)<', seen)
    assert captions == ["Start", "Guides", "Reference", "Results", "Project"]
