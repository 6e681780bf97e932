# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own tests of the collectives end with Stretto as they do without."""

import json
import os
import sys
import tarfile
from pathlib import Path

import pytest
from programs import (
    ABI,
    COLLECTIVES,
    PREFIXES,
    ROOT,
    finish,
    from_environment,
    installed,
    launch,
    stretto_run,
)

VERSION = "4.1.2"
SUITE = ROOT / "tests" / "support" / "mpi4py_suite.py"
BUILDING = 900  # seconds
LIMIT = 400  # seconds for each run: the ranks may be more than the cores


@pytest.fixture(scope="session")
def suite() -> Path:
    """The tests of mpi4py's source distribution, which the package itself does not bring along."""
    folder = ROOT / "build" / "test" / f"mpi4py-{VERSION}"
    tests = folder / "test"
    if not (tests / "complete").exists():
        tests.mkdir(parents=True, exist_ok=True)
        with tarfile.open(download(folder)) as archive:
            for member in archive.getmembers():
                path = Path(member.name)
                if path.parent.name == "test" and path.suffix == ".py":
                    (tests / path.name).write_bytes(archive.extractfile(member).read())
        (tests / "complete").touch()
    return tests


def download(folder: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    # pip asks a package for its name, which takes a setuptools that can build wheels; in an
    # environment of its own, where it would install compilers too, it takes minutes.
    tools = folder / "tools"
    environment = dict(os.environ)
    finish(
        [*pip, "install", "--no-compile", "--target", tools, "setuptools==80.9.0"], environment, 120
    ).succeeded()
    words = ["--no-binary", ":all:", "--no-deps", "--no-build-isolation", f"mpi4py=={VERSION}"]
    environment["PYTHONPATH"] = str(tools)
    finish([*pip, "download", "--dest", folder, *words], environment, 120).succeeded()
    return folder / f"mpi4py-{VERSION}.tar.gz"


@pytest.fixture(scope="session")
def standard_abi(suite) -> Path:
    """mpi4py built for the MPI 5 standard ABI: there is no wheel of it."""
    folder = suite.parent / "standard-abi"
    if not (folder / "complete").exists():
        compiler = from_environment(PREFIXES["mpich"]) / "bin" / "mpicc_abi"
        environment = {**os.environ, "MPICC": str(compiler), "CFLAGS": "-O0"}
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
        words = ["--target", folder, "--no-binary", "mpi4py", "--no-deps", f"mpi4py=={VERSION}"]
        finish([*pip, *words], environment, BUILDING).succeeded()
        (folder / "complete").touch()
    return folder


def outcomes_in(folder: Path, ranks: int) -> list[dict[str, str]]:
    """Of every rank: test by test."""
    return [json.loads((folder / f"{r}.json").read_text(encoding="utf-8")) for r in range(ranks)]


def compare(name: str, ranks: int, suite: Path, arrays: str, folder: Path) -> None:
    """Blocking, nonblocking and persistent ones, also of intercommunicators and neighbours."""
    modules = sorted(path.stem for path in suite.glob("test_cco_*.py"))
    for kind in ("buf_inter", "nb_buf", "pr_buf", "ngh_buf"):
        assert f"test_cco_{kind}" in modules
    mpi = installed(name)
    python = from_environment(PREFIXES[ABI.get(name, name)]) / "bin" / "python"
    native, served = folder / "native", folder / "served"
    native.mkdir()
    served.mkdir()
    launch(mpi, ranks, [python, SUITE, suite, native, "none", arrays, *modules], LIMIT).succeeded()
    command = [python, SUITE, suite, served, native, arrays, *modules]
    done = stretto_run(ranks, command, mpi=mpi, timeout=LIMIT).succeeded()
    expected = outcomes_in(native, ranks)
    assert sum(outcome == "passed" for outcome in expected[0].values()) > 50
    assert outcomes_in(served, ranks) == expected, done.err[-8000:]
    assert {key for key in COLLECTIVES if done.served(key) > 0} == COLLECTIVES, done.err[-8000:]


@pytest.mark.timeout(2 * LIMIT + 60)
@pytest.mark.parametrize(
    ("name", "ranks"),
    [
        pytest.param(name, ranks, marks=() if ranks == 2 else pytest.mark.thorough)
        for name in ("mpich", "openmpi")
        for ranks in range(1, 5)
    ]
    + [pytest.param("intel", 2, marks=pytest.mark.thorough)],
)
def test_all_collectives(request, suite, tmp_path, name, ranks):
    # Where a buffer comes from makes no difference to the calls, and takes most of the time.
    arrays = "all" if request.config.getoption("--thorough") else "numpy"
    compare(name, ranks, suite, arrays, tmp_path)


@pytest.mark.thorough
@pytest.mark.timeout(BUILDING + 2 * LIMIT + 60)
def test_the_standard_abi(suite, standard_abi, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(standard_abi))
    compare("mpich-abi", 2, suite, "all", tmp_path)
