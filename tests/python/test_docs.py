# SPDX-License-Identifier: BSD-3-Clause
"""Pages: their links lead somewhere, and those of results say what makes them."""

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What benchmarks make pages of has the links of these pages.
TEMPLATES = {
    "benchmarks/applications/page.md",
    "benchmarks/netcluster/defaults.md",
    "benchmarks/netcluster/page.md",
    "benchmarks/reproduction/page.md",
    "benchmarks/selection/page.md",
    "benchmarks/simgrid/learned.md",
    "benchmarks/simgrid/page.md",
    "benchmarks/simgrid/trees.md",
}
RESULTS = ROOT / "docs" / "results"
PAGES = [
    path.relative_to(ROOT)
    for top in ("*.md", "docs/**/*.md", "src/*.md", "lab/**/*.md", "benchmarks/**/*.md")
    for path in sorted(ROOT.glob(top))
    if path.name != "CHANGELOG.md"  # of what was
]


def heading(line: str) -> str:
    """What a heading is called in a link."""
    words = re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", line.lstrip("# ")).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    home = RESULTS if str(page) in TEMPLATES else (ROOT / page).parent
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        name, _, part = link.partition("#")
        target = home / name if name else ROOT / page
        assert target.exists(), link
        if part:
            lines = target.read_text(encoding="utf-8").splitlines()
            assert part in {heading(line) for line in lines if line.startswith("#")}, link


def test_the_index_names_the_results():
    index = (RESULTS / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"\]\(([\w-]+\.md)\) \|.*\| `(\S+)` \|$", index, re.MULTILINE)
    pages = {path.name for path in RESULTS.glob("*.md")} - {"README.md"}
    assert {page for page, _ in rows} == pages
    for page, command in rows:
        script = (ROOT / command).read_text(encoding="utf-8")
        assert f"docs/results/{page}" in script


def test_the_glossary_has_the_words_of_the_map():
    path = ROOT / "docs" / "site" / "glossary.py"
    spec = importlib.util.spec_from_file_location("glossary", path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    page = made.page((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    assert page.count("\n| **") >= 20
    kept = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert page == kept, "run: python docs/site/glossary.py"


def test_no_large_picture_is_kept():
    """`git` holds every version of a file for ever."""
    listed = subprocess.run(
        ["git", "ls-files", "*.svg"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    assert [n for n in listed.stdout.split() if (ROOT / n).stat().st_size > 64_000] == []


def test_srun_is_shown_in_one_form():
    """The variables are words for `env`: in a list for --export they would need commas."""
    shown = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("python/stretto/cli/*.py")]
    lines = [line for path in shown for line in path.read_text(encoding="utf-8").split("\n")]
    forms = [re.search(r"srun.*\$\(stretto env[^)]*\)", line) for line in lines]
    found = {form[0] for form in forms if form}
    assert found == {"srun -n 64 env $(stretto env --mpi /opt/mpich)"}
