# SPDX-License-Identifier: BSD-3-Clause
"""The wheel of tools/wheel, in an environment of its own and without a compiler."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from programs import compile_for, finish, from_environment
from stretto import __version__
from stretto.launch.library import FLAVOURS

# What programs and `stretto` itself call beside what the environment brings.
TOOLS = ("sh", "bash", "env", "ldd", "uname", "hostname", "cat", "grep", "sed", "ls")
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "ld", "as", "cmake", "ninja", "make")


@pytest.fixture(scope="module")
def wheel() -> Path:
    folder = from_environment("STRETTO_TEST_WHEEL")
    (found,) = folder.glob("stretto-*.whl")
    return found


@pytest.fixture(scope="module")
def clean(wheel, tmp_path_factory) -> dict[str, str]:
    """The variables of a shell in a new environment with the wheel and an MPI, and little else."""
    folder = tmp_path_factory.mktemp("clean")
    tools = folder / "tools"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(needed(name))
    path = f"{folder}/venv/bin:{tools}"
    assert [name for name in COMPILERS if shutil.which(name, path=path)] == []
    variables = {"PATH": path, "HOME": str(folder), "LANG": "C.UTF-8"}
    kept = [name for name in os.environ if name.startswith(("PIP_", "SSL_", "http", "HTTP"))]
    variables |= {name: os.environ[name] for name in kept}
    cache = os.environ.get("XDG_CACHE_HOME", f"{Path.home()}/.cache")  # pip's, for what it fetches
    python = Path(sys.executable).resolve()
    # By the pip of the tests: to unpack and compile another one takes longer than the rest.
    finish([python, "-m", "venv", "--without-pip", folder / "venv"], variables, 120).succeeded()
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    pip += ["--cache-dir", f"{cache}/pip", "--python", folder / "venv/bin/python"]
    finish([*pip, "install", "--no-compile", f"{wheel}[mpich]"], variables, 240).succeeded()
    return variables


def needed(name: str) -> str:
    found = shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin")
    assert found, name
    return found


def run(clean: dict[str, str], *words: object, **variables: str):
    done = finish([shutil.which("stretto", path=clean["PATH"]), *words], clean | variables, 120)
    return done.succeeded()


def test_its_name_says_where_it_runs(wheel):
    name = rf"stretto-{re.escape(__version__)}-(cp3\d+)-\1-manylinux_2_(\d+)_x86_64\S*\.whl"
    match = re.fullmatch(name, wheel.name)
    assert match, wheel.name
    assert int(match[2]) <= 36


def test_what_it_holds(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for flavour in FLAVOURS:
        assert f"stretto/lib/libstretto-{flavour}.so" in names
        assert f"stretto/lib/stretto-race-{flavour}" in names
        assert f"stretto/lib/pkgconfig/stretto-{flavour}.pc" in names
    assert {f"stretto/lib/libstretto-{name}.so" for name in ("heap", "session")} <= names
    data = f"stretto-{__version__}.data/data/share"
    pages = {name for name in names if name.startswith(f"{data}/man/man1/")}
    assert {f"{data}/man/man1/stretto{of}.1" for of in ("", "-run", "-check", "-bench")} <= pages
    assert f"{data}/bash-completion/completions/stretto" in names
    assert not any("libmpi" in name or "libstdc++" in name for name in names)


def test_commands_work(clean):
    assert run(clean, "--version").out == f"stretto {__version__}\n"
    assert "proved" in run(clean, "check", "allreduce", "--ranks", "1-9").out
    found = run(clean, "doctor").out
    assert "2 ranks served by Stretto" in found
    words = ["--collectives", "allreduce", "--sizes", "8", "--time-per-size", "0.02"]
    for wish, title in (("mpich", "MPICH 5.0.2"), ("abi", "MPICH 5.0.2 (standard ABI)")):
        raced = run(clean, "bench", "--mpi", wish, *words).out
        assert raced.startswith(f"# allreduce, 2 ranks, {title}\n")


def test_programs_run(clean, tmp_path):
    """Compiled elsewhere."""
    for name in ("mpich", "mpich-abi"):
        program = tmp_path / name
        compile_for(name, Path(__file__).parents[1] / "mpi/programs/collectives.c", program, ())
        done = run(clean, "run", "-n", 2, "--", program, STRETTO_LOG="summary")
        assert done.out == "all right\n"
        assert done.served("allreduce") == 6


def test_man_pages_are_found(clean):
    share = Path(clean["PATH"].split(":")[0]).parent / "share"
    page = (share / "man" / "man1" / "stretto-run.1").read_text(encoding="utf-8")
    assert page.startswith(".TH")
    assert "mpiexec" in page
    script = share / "bash-completion" / "completions" / "stretto"
    subprocess.run(["bash", "-n", script], check=True, timeout=60)


def test_pictures_want_the_extra(clean):
    stretto = shutil.which("stretto", path=clean["PATH"])
    done = finish([stretto, "show", "allreduce/ring", "-o", "ring.svg"], clean, 60)
    assert done.code == 2
    assert "-m pip install matplotlib" in done.err
