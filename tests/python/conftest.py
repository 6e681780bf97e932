# SPDX-License-Identifier: BSD-3-Clause
"""MPIs made of a few lines of shell, to test finding and starting without any; real programs."""

import os
import shutil
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import programs
import pytest

# What each says to --version, its library, and how it takes variables for the ranks.
FAKES = {
    "mpich": ("HYDRA build details:\n    Version:           9.8.7", "libmpi.so.12"),
    "intel": ("Intel(R) MPI Library for Linux* OS, Version 2099.1 Build 1", "libmpi.so.12"),
    "openmpi": ("mpiexec (Open MPI) 5.9.9", "libmpi.so.40"),
    "openmpi4": ("mpirun (OpenRTE) 4.1.9", "libmpi.so.40"),
}
LAUNCHER = """\
#!/bin/sh
if [ "$1" = --version ]; then echo '{said}'; exit 0; fi
while [ $# -gt 0 ]; do
  case "$1" in
    -n | --map-by) shift 2 ;;
    -genv) export "$2=$3"; shift 3 ;;
    -x) case "$2" in *=*) export "$2" ;; esac; shift 2 ;;
    --oversubscribe) shift ;;
    *) exec "$@" ;;
  esac
done
"""


def compile_c(source: str, *arguments: object) -> None:
    compiler = shutil.which("cc") or "c++"
    language = "c" if compiler.endswith("cc") else "c++"
    subprocess.run(
        [compiler, "-x", language, "-", "-x", "none", *map(str, arguments)],
        input=source, text=True, check=True, timeout=60,
    )  # fmt: skip


def pytest_addoption(parser):
    parser.addoption(
        "--thorough", action="store_true",
        help="also tests that try the same as others on more ranks, MPIs and builds",
    )  # fmt: skip


@pytest.hookimpl(trylast=True)  # of those that -k leaves
def pytest_collection_modifyitems(config, items):
    if config.getoption("--thorough"):
        return
    usual = [item for item in items if not item.get_closest_marker("thorough")]
    kept = with_each_value(usual)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in usual if item in kept]


def with_each_value(items: list) -> set:
    """All; of one marked `each_value` as many as give each value to each of its parameters."""
    kept = set()
    tests = defaultdict(dict)
    for item in items:
        mark = item.get_closest_marker("each_value")
        if mark and hasattr(item, "callspec"):
            values = values_of(item.callspec.params, mark.kwargs.get("together", ()))
            tests[item.parent.nodeid, item.originalname][item] = values
        else:
            kept.add(item)
    for cases in tests.values():
        kept |= covering(cases)
    return kept


def values_of(parameters: dict, together: tuple) -> set:
    """What a case tries. Debian's MPIs may not be there: with them nothing else counts as tried."""
    values = {(name, repr(value)) for name, value in parameters.items() if name not in together}
    values |= {(together, repr([parameters[name] for name in together]))} if together else set()
    may_lack = {(name, value) for name, value in values if "debian" in value}
    return may_lack or values


def covering(cases: dict) -> set:
    """As many as try each value that any of them tries."""
    used = Counter()
    missing = set().union(*cases.values())

    def worth(case):
        # Of several that of values which were tried least: else all first ones meet.
        return len(cases[case] & missing), -sum(used[value] for value in cases[case])

    chosen = set()
    while missing:
        best = max(cases, key=worth)
        chosen.add(best)
        used.update(cases[best])
        missing -= cases[best]
    return chosen


@pytest.fixture(scope="session", autouse=True)
def without_the_users_settings(tmp_path_factory):
    """Unless a test says so, rules that were tuned for this machine decide nothing, and a rank
    writes lines whole: the launcher would mix the words of several ranks."""
    os.environ["XDG_CONFIG_HOME"] = str(tmp_path_factory.mktemp("config"))
    os.environ.pop("PYTHONUNBUFFERED", None)


@pytest.fixture
def fake_mpi(tmp_path):
    """Makes the installation of a pretended MPI; returns its prefix."""

    def make(kind: str) -> Path:
        said, library = FAKES[kind]
        prefix = tmp_path / kind
        for folder in ("bin", "lib"):
            (prefix / folder).mkdir(parents=True)
        launcher = prefix / "bin" / "mpiexec"
        launcher.write_text(LAUNCHER.format(said=said), encoding="utf-8")
        launcher.chmod(0o755)
        compile_c(
            "int MPI_Init(void) { return 0; }",
            "-shared", "-fPIC", f"-Wl,-soname,{library}", "-o", prefix / "lib" / library,
        )  # fmt: skip
        return prefix

    return make


@pytest.fixture
def fake_program(tmp_path):
    """Compiles a program that needs `library`, which the linker finds at run time only if told."""

    def make(library: Path, target: Path, find: bool = True) -> Path:
        arguments = ["-o", target, library, "-Wl,--no-as-needed"]
        if find:
            arguments.append(f"-Wl,-rpath,{library.parent}")
        compile_c("int MPI_Init(void);\nint main(void) { return MPI_Init(); }", *arguments)
        return target

    return make


@pytest.fixture
def fake_libraries(tmp_path, monkeypatch):
    """Stretto's own libraries, pretended, for both flavours."""
    from stretto.launch import library

    folder = tmp_path / "stretto-lib"
    folder.mkdir()
    for flavour in library.FLAVOURS:
        (folder / f"libstretto-{flavour}.so").touch()
    monkeypatch.setattr(library, "_folder", lambda: folder)
    return folder


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Compiles a program of tests/mpi/programs for an MPI, once."""
    folder = tmp_path_factory.mktemp("programs")
    done: dict[tuple, Path] = {}

    def build(source: str, mpi: str, *flags: str) -> Path:
        key = (source, mpi, flags)
        if key not in done:
            target = folder / "-".join([source, mpi, *flags]).replace("/", "_")
            programs.compile_for(mpi, programs.PROGRAMS / source, target, flags)
            done[key] = target
        return done[key]

    return build
