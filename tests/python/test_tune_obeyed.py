# SPDX-License-Identifier: BSD-3-Clause
"""The tuning files that `stretto tune` writes are obeyed by the real libraries: sums whose rounding
depends on the algorithm differ where the file says so, and nowhere else."""

import re
import subprocess

import pytest
from programs import installed, launch
from stretto.launch.mpi import Mpi
from stretto.tune.native import target_of
from stretto.tune.native.intel import IntelMpi
from stretto.tune.native.mpich import ALGORITHMS
from stretto.tune.native.target import Rule

RANKS = 4
FROM, UNTIL = 256, 2048  # bytes of the vector


@pytest.fixture
def sums(built):
    """Runs the program: {function: {bytes: sum}}."""

    def run(name: str, variables: dict[str, str]) -> dict[str, dict[int, str]]:
        done = launch(installed(name), RANKS, [built("order.c", name)], **variables).succeeded()
        found: dict[str, dict[int, str]] = {}
        for function, size, value in re.findall(r"^(\w+) (\d+) (\S+)$", done.out, re.MULTILINE):
            found.setdefault(function, {})[int(size)] = value
        assert len(found["allreduce"]) == 11
        return found

    return run


@pytest.mark.alone
@pytest.mark.parametrize(
    ("name", "algorithm", "its", "otherwise", "variables"),
    [
        ("openmpi", "nonoverlapping", "2", None, {}),
        # MPICH's own allreduce on a node adds in no certain order; the one below it does.
        ("mpich", "tree,chunk=64K", "1", "recursive_doubling", {}),
        ("mpich", "tree,chunk=64K", "1", None, {"MPIR_CVAR_DEVICE_COLLECTIVES": "none"}),
    ],
    ids=["openmpi", "mpich", "mpich-algorithms"],
)
def test_sizes_and_ranks_are_obeyed(name, algorithm, its, otherwise, variables, sums, tmp_path):
    target = target_of(name, installed(name))
    everywhere = [Rule(0, algorithm)]  # of ranks beside those of the program
    middle = [Rule(0, otherwise), Rule(FROM, algorithm), Rule(UNTIL, otherwise)]
    table = {("allreduce", n): middle if n == RANKS else everywhere for n in (3, RANKS, 5)}
    target.write(table, tmp_path)
    found = sums(name, target.variables(table, tmp_path, RANKS) | variables)["allreduce"]
    inside = [size for size in found if FROM <= size < UNTIL]
    assert {size: value for size, value in found.items() if value != "0"} == dict.fromkeys(
        inside, its
    )


@pytest.mark.alone
def test_intel_obeys_the_shell_file(sums, tmp_path):
    target = target_of("intel", installed("intel"))
    table = {
        ("reduce_scatter_block", RANKS): [Rule(0, "preset 3"), Rule(FROM, "preset 1")],
        ("reduce_scatter_block", 2): [Rule(0, "preset 1")],
    }
    [path] = target.write(table, tmp_path)
    script = f'. "{path}" {RANKS} && printf "%s" "$I_MPI_ADJUST_REDUCE_SCATTER_BLOCK"'
    value = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True
    ).stdout
    variables = target.variables(table, tmp_path, RANKS)
    assert variables == {"I_MPI_ADJUST_REDUCE_SCATTER_BLOCK": value}
    found = sums("intel", variables)["reduce_scatter_block"]
    assert {size: value for size, value in found.items() if size < FROM} == dict.fromkeys(
        (32, 64, 128), "0"
    )
    assert {value for size, value in found.items() if size >= FROM} == {"2"}


@pytest.mark.alone
def test_intel_shell_file_says_what_it_was_not_made_for(tmp_path):
    target = target_of("intel", installed("intel"))
    [path] = target.write({("bcast", 2): [Rule(0, "preset 1")]}, tmp_path)
    done = subprocess.run(["bash", "-c", f'. "{path}" 3'], capture_output=True, text=True)
    assert "made for 2 ranks, not for '3'" in done.stderr


def test_intel_is_asked_once_for_each_function(monkeypatch, tmp_path):
    asked = []

    def ask(words, *_):
        asked.append(words[-1])
        return subprocess.CompletedProcess(words, 0, "range: 0-1", "")

    monkeypatch.setattr("stretto.tune.native.intel.ask", ask)
    target = IntelMpi(Mpi("mpich", "Intel MPI", "2021", tmp_path / "mpiexec", None, "here"))
    for function in ("bcast", "scan"):
        assert target.algorithms(function, 2) == target.algorithms(function, 4)
    assert asked == ["I_MPI_ADJUST_BCAST", "I_MPI_ADJUST_SCAN"]


@pytest.mark.alone
def test_every_algorithm_of_mpich_can_be_forced(built, tmp_path):
    """It ends the program where a file names what it does not know, or leaves out a parameter."""
    target = target_of("mpich", installed("mpich"))
    for function, own in ALGORITHMS.items():
        assert target.algorithms(function, 2) == list(own)
    for k in range(max(map(len, ALGORITHMS.values()))):
        table = {(f, 2): [Rule(0, list(own)[k])] for f, own in ALGORITHMS.items() if k < len(own)}
        target.write(table, tmp_path)
        variables = target.variables(table, tmp_path, 2)
        launch(installed("mpich"), 2, [built("order.c", "mpich")], **variables).succeeded()
