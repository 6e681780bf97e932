# SPDX-License-Identifier: BSD-3-Clause
"""Neighbourhood collectives in programs, on grids, graphs and distributed graphs."""

import pytest
from programs import DEBIAN, PREFIXES, Finished, all_right, installed, mpi_of, stretto_run

pytestmark = pytest.mark.each_value

FUNCTIONS = ["neighbor_allgather", "neighbor_allgatherv"] + [
    f"neighbor_alltoall{kind}" for kind in ("", "v", "w")
]
ALGORITHMS = ["grid", "two_step", "three_step"]
LIMIT = 100  # seconds: the ranks may be more than the cores


def run(built, name: str, ranks: int, seed: int, *words: str, **variables: str) -> Finished:
    program = [built("neighbourhood.c", name), seed, *words]
    done = stretto_run(ranks, program, mpi=installed(name), timeout=LIMIT, **variables)
    return all_right(done)


def served_by(done: Finished) -> dict[str, set[str]]:
    """The algorithms that served each function. All calls were served."""
    for function in FUNCTIONS:
        assert done.served(function) > 0, done.err
        assert done.passed(function) == {}, done.err
    return {function: set(done.summary[function].served) for function in FUNCTIONS}


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
@pytest.mark.parametrize("name", PREFIXES)
def test_all_forms(built, name, ranks):
    done = run(built, name, ranks, ranks)
    assert all(by == {"direct"} for by in served_by(done).values())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("name", "ranks", "nodes"),
    [("mpich", 3, "3x1"), ("mpich", 6, "2x3"), ("openmpi", 4, "2x2"), ("openmpi", 6, "3x2")],
)
def test_by_way_of_other_ranks(built, algorithm, name, ranks, nodes):
    override = {f"STRETTO_{function.upper()}": algorithm for function in FUNCTIONS}
    done = run(built, name, ranks, 7, STRETTO_NODES=nodes, **override)
    assert all(by == {algorithm} for by in served_by(done).values())


def test_shipped_rules_go_by_messages_to_a_node(built):
    by = served_by(run(built, "mpich", 8, 5, STRETTO_NODES="2x4"))
    assert all({"direct", "three_step"} <= found for found in by.values())


def test_calls_that_are_decided_late(built, tmp_path):
    """When all ranks know the size: some are then the MPI's own, with the arrays of their start."""
    rules = tmp_path / "sizes.rules"
    by_size = [f"{function} bytes>=1K -> direct" for function in FUNCTIONS]
    rules.write_text("\n".join(["stretto-rules 2", *by_size, ""]), encoding="utf-8")
    # MPICH 5.0.2 itself refuses its persistent ones in MPI_Testall.
    done = run(built, "mpich", 3, 3, "nonblocking", STRETTO_RULES=str(rules))
    for function in FUNCTIONS:
        assert done.served(function) > 0
        assert set(done.passed(function)) == {"rules"}


@pytest.mark.parametrize("interface", ["", "-DUSE_MPI", "-DUSE_MPI_F08"])
@pytest.mark.parametrize("name", DEBIAN)
def test_in_fortran(built, name, interface):
    # Open MPI 4 has no persistent collectives. The first nonblocking calls are on a duplicate.
    flags = [interface, "-DPERSISTENT" * (name == "debian-mpich")]
    program = built("neighbourhood.F90", name, *filter(None, flags))
    done = all_right(stretto_run(3, [program], timeout=LIMIT))
    assert set(served_by(done)) == set(FUNCTIONS)
    starts = 3 if "-DPERSISTENT" in flags else 0
    assert {done.served(function) for function in FUNCTIONS} == {2 + starts}


@pytest.mark.parametrize("name", [*PREFIXES, *DEBIAN])
def test_without_a_topology(built, name):
    done = all_right(stretto_run(3, [built("no_topology.c", name)], mpi=mpi_of(name)))
    assert done.passed("neighbor_allgather") == {"arguments": 2}
