# SPDX-License-Identifier: BSD-3-Clause
"""Unchanged MPI programs in C, Fortran and Python, LAMMPS and Intel's benchmarks, with Stretto."""

import re

import pytest
from programs import (
    ABI,
    COLLECTIVES,
    DEBIAN,
    PREFIXES,
    PROGRAMS,
    Finished,
    Line,
    from_environment,
    installed,
    launch,
    mpi_of,
    needed,
    stretto_run,
)

pytestmark = pytest.mark.each_value

# Of each the programs make one call.
PARTS = (
    "gather", "gatherv", "scatter", "scatterv", "allgatherv", "alltoallv", "alltoallw",
    "reduce_scatter", "exscan",
)  # fmt: skip


def served_all(done: Finished) -> Finished:
    """It ended well, and Stretto served some calls of all collectives and passed none on."""
    done.succeeded()
    assert "all right" in done.out
    assert done.summary.keys() == COLLECTIVES, done.err
    for name in COLLECTIVES:
        assert done.served(name) > 0
        assert done.passed(name) == {}
    return done


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", [*PREFIXES, *DEBIAN, *ABI])
def test_c_program(built, name, ranks):
    program = built("collectives.c", name)
    done = stretto_run(ranks, [program], mpi=mpi_of(name)).succeeded()
    assert done.out.strip() == "all right"
    assert {key: done.served(key) for key in done.summary} == {
        "barrier": 1,
        "bcast": 2,
        "reduce": 2,
        "allreduce": 6,
        "allgather": 2,
        "reduce_scatter_block": 1,
        "alltoall": 2,
        "scan": 2,
        **dict.fromkeys(PARTS, 1),
    }
    # A root that does not exist is for the native library to complain about.
    assert {k: done.passed(k) for k in COLLECTIVES if done.passed(k)} == {"bcast": {"arguments": 1}}


@pytest.mark.parametrize("interface", ["", "-DUSE_MPI", "-DUSE_MPI_F08"])
@pytest.mark.parametrize("name", DEBIAN)
def test_fortran_program(built, name, interface):
    program = built("collectives.F90", name, *filter(None, [interface]))
    done = served_all(stretto_run(3, [program]))
    assert {key: done.served(key) for key in done.summary} == {
        "barrier": 1,
        "bcast": 1,
        "reduce": 1,
        "allreduce": 5,
        "allgather": 1,
        "reduce_scatter_block": 1,
        "alltoall": 1,
        "scan": 1,
        **dict.fromkeys(PARTS, 1),
    }


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", PREFIXES)
def test_mpi4py_program(name, ranks):
    python = from_environment(PREFIXES[name]) / "bin" / "python"
    done = served_all(stretto_run(ranks, [python, PROGRAMS / "collectives.py"], mpi=mpi_of(name)))
    assert done.served("allreduce") >= 3
    assert done.served("bcast") >= 3


@pytest.mark.parametrize("name", PREFIXES)
def test_collective_files(tmp_path, name):
    python = from_environment(PREFIXES[name]) / "bin" / "python"
    command = [python, PROGRAMS / "files.py", tmp_path / "file"]
    done = stretto_run(3, command, mpi=mpi_of(name)).succeeded()
    assert done.out.strip() == "all right"
    # Open MPI's files call no functions of MPI.
    assert (done.served("allreduce") > 0) == (name != "openmpi")


def thermodynamics(out: str) -> list[list[float]]:
    """The table that LAMMPS prints, one line for every few steps, without its heading."""
    table = re.search(r"^Step .*?(?=^Loop time)", out, re.MULTILINE | re.DOTALL)
    assert table, out
    return [[float(number) for number in line.split()] for line in table[0].splitlines()[1:]]


@pytest.mark.parametrize("ranks", [2, 4])
def test_lammps(tmp_path, ranks):
    command = [needed("lmp"), "-in", PROGRAMS / "melt.lammps", "-log", "none"]
    plain = stretto_run(ranks, command, timeout=120, cwd=tmp_path, STRETTO_DISABLE="1").succeeded()
    faster = stretto_run(ranks, command, timeout=120, cwd=tmp_path).succeeded()
    assert "32000 atoms" in plain.out
    lines = thermodynamics(plain.out)
    assert len(lines) == 7
    for line, other in zip(lines, thermodynamics(faster.out), strict=True):
        assert other == pytest.approx(line, rel=1e-10)  # sums come in another order
    assert plain.served("allreduce") == 0
    assert plain.passed("allreduce")["disabled"] > 50
    assert faster.served("allreduce") > 50
    assert faster.served("bcast") > 10
    assert all(faster.passed(name) == {} for name in COLLECTIVES)


def test_intel_mpi_benchmarks():
    mpi = installed("intel")
    names = [name.capitalize() for name in sorted(COLLECTIVES - {"alltoallw", "scan", "exscan"})]
    program = mpi.mpiexec.parent / "IMB-MPI1"
    options = ["-npmin", "2", "-iter", "50", "-time", "0.1", "-msglog", "2:14"]
    done = stretto_run(2, [program, *names, *options], mpi=mpi, timeout=120).succeeded()
    for name in names:
        assert f"# Benchmarking {name} " in done.out
        # It uses some of the collectives itself, on intervals and flags of its own.
        assert done.served(name.lower()) > 100
    assert "All processes entering MPI_Finalize" in done.out


def test_intel_mpi_benchmarks_of_nonblocking_calls():
    mpi = installed("intel")
    names = sorted(COLLECTIVES - {"alltoallw", "scan", "exscan", "reduce_scatter_block"})
    program = mpi.mpiexec.parent / "IMB-NBC"
    options = ["-npmin", "2", "-iter", "20", "-time", "0.05", "-msglog", "2:12"]
    wanted = [f"I{name}{kind}" for name in names for kind in ("", "_pure")]
    done = stretto_run(2, [program, *wanted, *options], mpi=mpi, timeout=120).succeeded()
    for name in names:
        assert f"# Benchmarking I{name} " in done.out
        assert f"# Benchmarking I{name}_pure " in done.out
        assert done.served(name) > 100
        assert done.passed(name) == {}
    assert "All processes entering MPI_Finalize" in done.out


@pytest.mark.parametrize("name", [*PREFIXES, *DEBIAN, *ABI])
def test_intercommunicators_are_passed_on(built, name):
    done = stretto_run(4, [built("intercommunicator.c", name)], mpi=mpi_of(name)).succeeded()
    assert done.out.strip() == "all right"
    once = Line({}, {"intercommunicator": 1})
    assert [done.summary[key] for key in ("barrier", "bcast", "allgather")] == [once] * 3
    assert done.passed("allreduce") == {"intercommunicator": 1}
    assert done.served("allreduce") == 1


@pytest.mark.parametrize("name", [*PREFIXES, *DEBIAN, *ABI])
def test_handles(built, name):
    done = stretto_run(4, [built("handles.c", name)], mpi=mpi_of(name)).succeeded()
    assert done.out.strip() == "all right"
    assert done.served("allreduce") > 6
    # Of world, one for each of six communicators that are being freed.
    assert done.passed("allreduce")["MPI or communicator not ready"] == 6


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("name", PREFIXES)
def test_arrays_that_change_between_calls(built, name, ranks):
    done = stretto_run(ranks, [built("changed.c", name)], mpi=mpi_of(name)).succeeded()
    assert done.out.strip() == "600 calls of each"
    for function in set(PARTS) - {"gather", "scatter", "exscan"}:
        assert done.served(function) == 600
        assert done.passed(function) == {}


@pytest.mark.alone
def test_calls_that_take_turns_do_not_drive_each_other_out(built):
    # Where they did, one of the sizes took twice the time of the other; the machine may be noisy.
    program = built("taking_turns.c", "mpich")
    ratios = []
    while len(ratios) < 5 and not any(ratio < 1.3 for ratio in ratios):
        done = stretto_run(2, [program], mpi=installed("mpich")).succeeded()
        assert done.served("reduce_scatter_block") == 60000
        ratios.append(float(done.out))
    assert min(ratios) < 1.3


@pytest.mark.alone
def test_communicators_take_turns(built):
    # Where each call looked for its communicator and its plan anew, they took four times the time.
    program = built("communicators_in_turn.c", "mpich")
    ratios = []
    while len(ratios) < 5 and not any(ratio < 1.6 for ratio in ratios):
        done = stretto_run(2, [program], mpi=installed("mpich")).succeeded()
        ratios.append(float(done.out))
    assert min(ratios) < 1.6


@pytest.mark.parametrize("name", ["debian-mpich", "debian-openmpi"])
def test_mpi_before_and_after_main(built, name):
    library = built("unloaded.c", name, "-DLIBRARY", "-shared", "-fPIC")
    program = built("unloaded.c", name, str(library))
    done = stretto_run(2, [program], mpi=mpi_of(name)).succeeded()
    assert "all right" in done.out
    assert done.served("allreduce") == 3


@pytest.mark.parametrize(
    ("name", "ranks"),
    [("mpich", 2), ("mpich", 5), ("openmpi", 2), ("openmpi", 5), ("mpich-abi", 2)],
)
def test_transport_over_mpi(name, ranks):
    mpi = installed(name)
    build = from_environment("STRETTO_TEST_BUILD")
    program = build / "tests" / f"conformance-mpi-{mpi.flavour}"
    done = launch(mpi, ranks, [program, "--mpi-library", mpi.library], timeout=120).succeeded()
    assert f"many at once, on {ranks} ranks, 0 failures" in done.out
