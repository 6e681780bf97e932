# SPDX-License-Identifier: BSD-3-Clause
"""Runs the C++ tests, from the plain build and from those with sanitizers."""

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


def run(build: str, name: str, *tests: str) -> None:
    program = from_environment(BUILDS[build]) / "tests" / name
    result = subprocess.run([program, *tests], capture_output=True, text=True, timeout=240)
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
    assert "passed" in result.stdout


# Their plain runs are long enough; with sanitizers they see little that other tests do not.
LONG = ("algorithms_test", "simulate_test")


@pytest.mark.parametrize(
    ("name", "build"),
    [
        pytest.param(name, build, marks=pytest.mark.thorough if sanitized and name in LONG else ())
        for name in UNIT_TESTS
        for build, sanitized in (("plain", False), ("address+undefined", True))
    ],
)
def test_unit(name, build):
    run(build, "unit_tests", name)


# These try all cases, builds with sanitizers a sample of them.
PLAIN = pytest.param("plain", marks=pytest.mark.thorough)


@pytest.mark.parametrize("build", [PLAIN, "address+undefined"])
def test_messages_of_threads(build):
    run(build, "conformance_threads")


@pytest.mark.parametrize("build", [PLAIN, "address+undefined", "thread"])
def test_shared_memory_of_threads(build):
    run(build, "conformance_node")
