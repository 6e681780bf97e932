# SPDX-License-Identifier: BSD-3-Clause
"""The rules of the house that a tool can hold: format, lint, sizes, pages made from the code."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CPP = sorted(
    path
    for folder in ("include", "src", "python/bindings", "tests", "benchmarks", "lab", "examples")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".c", ".cc", ".cpp", ".hpp"}
)
PYTHON = sorted(
    path
    for folder in ("python", "tests", "benchmarks", "lab", "tools", "packaging", "examples", "docs")
    for path in (ROOT / folder).rglob("*.py")
)
PACKAGE = ROOT / "python" / "stretto"
LIBRARY = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if PACKAGE / "cli" not in path.parents and path.name != "__main__.py"
)
LONGEST_FILE = 400
LONGEST_ALGORITHM = 150
LONGEST_FUNCTION = 60


def run(*words: object) -> subprocess.CompletedProcess:
    return subprocess.run([*map(str, words)], cwd=ROOT, capture_output=True, text=True, timeout=120)


def tool(*arguments: object) -> subprocess.CompletedProcess:
    return run(sys.executable, "-m", *arguments)


def installed(module: str) -> None:
    pytest.importorskip(module, reason=f"{module} comes with the extra 'lint'")


def test_there_are_files_to_look_at():
    assert len(CPP) > 80
    assert len(PYTHON) > 30


def test_cpp_is_formatted():
    installed("clang_format")
    clang_format = Path(sys.executable).parent / "clang-format"
    result = run(clang_format, "--dry-run", "--Werror", *CPP)
    assert result.returncode == 0, result.stderr


def test_python_is_clean():
    installed("ruff")
    folders = ("python", "tests", "benchmarks", "lab", "tools", "packaging", "examples", "docs")
    result = tool("ruff", "check", *folders)
    assert result.returncode == 0, result.stdout


def test_functions_are_short():
    installed("lizard")
    result = tool("lizard", "-w", "-C", 1000, "-L", LONGEST_FUNCTION, *CPP, *PYTHON)
    assert result.returncode == 0, result.stdout


def test_files_are_short_and_name_the_licence():
    long, without = [], []
    for path in CPP + PYTHON:
        lines = path.read_text(encoding="utf-8").splitlines()
        algorithm = path.parent.parent.name == "algorithms" and path.suffix == ".cc"
        if len(lines) > (LONGEST_ALGORITHM if algorithm else LONGEST_FILE):
            long.append(path)
        if "SPDX-License-Identifier: BSD-3-Clause" not in "\n".join(lines[:2]):
            without.append(path)
    assert (long, without) == ([], [])


def imports(path: Path) -> set[str]:
    """The whole names of what a module of the package imports, also in its functions."""
    inside = ["stretto", *path.relative_to(PACKAGE).parts[:-1]]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = inside[: len(inside) + 1 - node.level] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found |= {module, *(f"{module}.{one.name}" for one in node.names)}
    return found


def test_the_library_does_not_import_the_command_line():
    found = {(path, name) for path in LIBRARY for name in imports(path)}
    assert {one for one in found if f"{one[1]}.".startswith(("stretto.cli.", "click."))} == set()


def test_imports_are_read_wherever_they_stand():
    assert {"click", "stretto.cli.main"} <= imports(PACKAGE / "cli" / "options.py") | imports(
        PACKAGE / "__main__.py"
    )
    assert "stretto.units.time_in_words" in imports(PACKAGE / "topology" / "picture.py")


def test_page_of_algorithms_is_current():
    result = tool("stretto", "list", "--markdown")
    assert result.returncode == 0, result.stderr
    page = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
    assert page == result.stdout, "run: stretto list --markdown > docs/algorithms.md"


def test_promises_name_tests_that_are_there():
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    tests = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/python/*.py"))
    named = set(re.findall(r"`(test_\w+)`", page))
    assert len(named) > 15
    assert {name for name in named if f"def {name}(" not in tests} == set()


def test_map_is_short():
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()) <= 200


def test_every_header_has_a_binding():
    headers = {path.stem for path in (ROOT / "include" / "stretto").glob("*.hpp")}
    bindings = {path.stem for path in (ROOT / "python" / "bindings").glob("*.cpp")}
    assert headers - bindings == {"types"}
