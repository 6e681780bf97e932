# SPDX-License-Identifier: BSD-3-Clause
"""Runs the C++ tests, from the plain build and from those with sanitizers."""

import os
import subprocess
from pathlib import Path

import pytest
from programs import from_environment

ROOT = Path(__file__).parents[2]
UNIT_TESTS = sorted(path.stem for path in (ROOT / "tests" / "unit").glob("*_test.cc"))
BUILDS = {
    "plain": "STRETTO_TEST_BUILD",
    "address+undefined": "STRETTO_TEST_SANITIZED_BUILD",
    "thread": "STRETTO_TEST_THREADS_BUILD",
}


# In thorough runs only; how ranks share memory is tried with the sanitizer of threads in every run.
SANITIZED = pytest.param("address+undefined", marks=pytest.mark.thorough)


@pytest.fixture
def run(request):
    """Runs a program of a build, which tries all cases in a thorough run only."""
    one_in = 1 if request.config.getoption("--thorough") else 8  # then each takes seconds

    def run(build: str, name: str, *tests: str) -> None:
        program = from_environment(BUILDS[build]) / "tests" / name
        environment = {**os.environ, "STRETTO_TEST_ONE_IN": str(one_in)}
        result = subprocess.run(
            [program, *tests], capture_output=True, text=True, timeout=240, env=environment
        )
        assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
        assert "passed" in result.stdout

    return run


@pytest.mark.parametrize("build", ["plain", SANITIZED])
@pytest.mark.parametrize("name", UNIT_TESTS)
def test_unit(run, name, build):
    run(build, "unit_tests", name)


@pytest.mark.parametrize("build", ["plain", SANITIZED])
def test_messages_of_threads(run, build):
    run(build, "conformance_threads")


@pytest.mark.parametrize("build", ["plain", SANITIZED, "thread"])
def test_shared_memory_of_threads(run, build):
    run(build, "conformance_node")
