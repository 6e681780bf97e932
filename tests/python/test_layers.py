# SPDX-License-Identifier: BSD-3-Clause
"""The layer rule: which folder may include which. It stands in ARCHITECTURE.md."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SUFFIXES = {".cc", ".hpp", ".cpp", ".inc", ".def"}
FOR_ALL = "support"


@dataclass
class Layers:
    """A line for each folder: what it may include, and whether it can do without MPI."""

    allowed: dict[str, list[str]]
    core: set[str]
    folder_of_header: dict[str, str]


def read_layers(page: str) -> Layers:
    table = page.split("**Layer rule.**")[1].split("```")[1]
    layers = Layers({}, set(), {})
    for line in table.strip().splitlines():
        if line.startswith("---"):
            layers.core = {""}
            continue
        folder, headers, includes = re.fullmatch(r"(\S+)(?: \(([^)]*)\))? *→(.*)", line).groups()
        layers.allowed[folder] = includes.split()
        for header in (headers or "").split():
            layers.folder_of_header[header] = folder
        if layers.core:
            layers.core.add(folder)
    layers.core.discard("")
    return layers


LAYERS = read_layers((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))


def folder_of(path: Path) -> str:
    """Of a file in the repository, as the table calls it."""
    words = path.parts
    if words[0] == "include":  # functions.def belongs to function.hpp
        header = path.stem.removesuffix("s") if path.suffix == ".def" else path.stem
        return LAYERS.folder_of_header[header]
    if words[0] == "src":
        return "transport/mpi" if words[1:3] == ("transport", "mpi") else words[1]
    return "lab" if words[0] == "lab" else "/".join(words[:2])


def files() -> Iterator[Path]:
    for top in ("src", "include", "python/bindings", "lab"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in SUFFIXES and path.parent != ROOT / "src":
                yield path.relative_to(ROOT)


def included(path: Path, text: str) -> Iterator[Path]:
    """Files of the repository that this one includes."""
    for name in re.findall(r'^\s*#\s*include "([^"]+)"', text, re.MULTILINE):
        places = (path.parent / name, Path("include") / name, Path("src") / name)
        found = [place for place in places if (ROOT / place).exists()]
        assert found, f"{path}: there is no {name}"
        yield found[0]


def arrows(path: Path, text: str) -> Iterator[tuple[str, str]]:
    """From folder to folder, but for those that every file may have."""
    folder = folder_of(path)
    for name in included(path, text):
        if folder_of(name) not in (folder, FOR_ALL):
            yield folder, folder_of(name)


def refused(path: Path, text: str) -> list[str]:
    return [
        f"{path}: {folder} may not include {other}"
        for folder, other in arrows(path, text)
        if other not in LAYERS.allowed[folder]
    ]


def contents() -> dict[Path, str]:
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in files()}


def test_the_table_names_the_folders():
    folders = {folder_of(path) for path in files()}
    assert folders == set(LAYERS.allowed)
    headers = {path.stem for path in (ROOT / "include" / "stretto").glob("*.hpp")}
    assert headers == set(LAYERS.folder_of_header)


def test_no_line_names_one_above_it():
    order = list(LAYERS.allowed)
    for folder, others in LAYERS.allowed.items():
        for other in others:
            assert order.index(other) > order.index(folder), f"{folder} -> {other}"


def test_includes_are_allowed():
    assert [line for path, text in contents().items() for line in refused(path, text)] == []


def test_no_allowance_is_left_over():
    seen = {arrow for path, text in contents().items() for arrow in arrows(path, text)}
    allowed = {(folder, other) for folder, others in LAYERS.allowed.items() for other in others}
    assert allowed - seen == set()


def test_mpi_has_one_door():
    """<mpi.h> is included in one file; what runs over a simulated MPI of its own is apart."""
    doors = {
        str(path)
        for path, text in contents().items()
        if re.search(r"^\s*#\s*include <s?mpi", text, re.MULTILINE) and path.parts[0] != "lab"
    }
    assert doors == {"src/mpi/mpi_header.hpp"}
    assert "mpi" not in LAYERS.core


def test_an_arrow_upwards_is_seen():
    path = Path("src/execute/operation.cc")
    assert refused(path, '#include "transport/transport.hpp"\n#include "support/text.hpp"\n') == []
    assert refused(path, '#include "mpi/native.hpp"\n') == [f"{path}: execute may not include mpi"]
    assert refused(path, '#include "stretto/rules.hpp"\n') == [
        f"{path}: execute may not include select"
    ]
    assert refused(path, '  # include "transport/mpi/mpi.hpp"\n') == [
        f"{path}: execute may not include transport/mpi"
    ]
