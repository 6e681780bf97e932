# SPDX-License-Identifier: BSD-3-Clause
"""Communicators that come and go: of spawned processes, of threads, of sessions."""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from programs import (
    PATIENT,
    Finished,
    all_right,
    finish,
    from_environment,
    installed,
    launch,
    mpi_of,
    preloaded,
    said,
    stretto_run,
)
from stretto.launch import library_of

# Of few nodes the shipped rules leave short calls to the native functions, these nothing.
SERVING = str(Path(__file__).parents[2] / "rules" / "papers.rules")
MPIS = ["mpich", "openmpi"]
ALL_MPIS = [*MPIS, "intel"]
CHILDREN = 5


def spawning(name: str) -> dict[str, str]:
    """Variables that let an MPI spawn processes here."""
    if name == "openmpi":  # counts children that are just ending among those that have a core
        return {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    if name == "intel":  # looks for the libfabric of its wheel in the linker's paths alone then
        folder = from_environment("STRETTO_TEST_INTEL") / "lib"
        return {"I_MPI_SPAWN": "on", "LD_LIBRARY_PATH": str(folder)}
    return {}


def drop_variables(monkeypatch) -> None:
    """Open MPI takes 256 characters of variables for children, and those of the tests are many."""
    for variable in [one for one in os.environ if one.startswith("STRETTO_TEST_")]:
        monkeypatch.delenv(variable)


def flat(done: Finished) -> bool:
    """Is as much left of many children as of the first two?"""
    early, late = (re.search(rf"^{when}: (.*)$", done.out, re.M)[1] for when in ("early", "late"))
    return early == late


def served_by_parents(done: Finished) -> int:
    """The children's rank 0 says what it served as well: little."""
    found = re.findall(r"^stretto: summary: rank 0 allreduce served (\d+)", done.err, re.M)
    return max(map(int, found))


@pytest.mark.parametrize("name", ALL_MPIS)
def test_spawned_processes(built, monkeypatch, name):
    program, mpi = [built("spawned.c", name), CHILDREN], mpi_of(name)
    variables = spawning(name)
    drop_variables(monkeypatch)
    done = all_right(stretto_run(1, program, mpi=mpi, timeout=60, **variables))
    assert f"children with Stretto: {CHILDREN}\n" in done.out
    assert served_by_parents(done) == 4 * CHILDREN
    assert "late: 1 mappings" in done.out  # its own
    assert flat(done)
    assert said(done) == []


@pytest.mark.parametrize("name", MPIS)
def test_two_programs_spawned_by_two_ranks(built, monkeypatch, name):
    program, mpi = [built("spawned.c", name), 3, "multiple"], mpi_of(name)
    variables = spawning(name)
    drop_variables(monkeypatch)
    done = all_right(stretto_run(2, program, mpi=mpi, timeout=60, **variables))
    assert f"children with Stretto: {3 * 2}\n" in done.out
    assert served_by_parents(done) == 4 * 3
    assert flat(done)
    assert said(done) == []


@pytest.mark.parametrize(
    ("name", "version"), [*((name, "") for name in ALL_MPIS), ("mpich", "0.0.1")]
)
def test_spawned_processes_without_stretto(built, monkeypatch, name, version):
    """Or with another version than this one, by what the launcher said."""
    mpi, program = installed(name), [built("spawned.c", name), CHILDREN]
    library = str(library_of(mpi.flavour))
    if name == "openmpi":  # hands children no LD_PRELOAD
        words = mpi.command(1, program, {"LD_PRELOAD": library, "STRETTO_LOG": "summary"})
    else:
        words = mpi.command(
            1, ["env", f"LD_PRELOAD={library}", "STRETTO_LOG=summary", *program], {}
        )
    if version:
        monkeypatch.setenv("STRETTO_CHILDREN", version)
    done = all_right(finish(words, {**mpi.environment(), **PATIENT, **spawning(name)}, 60))
    assert "children with Stretto: 0\n" in done.out
    assert done.passed("allreduce") == {"ranks of another world": 4 * CHILDREN}
    assert flat(done)
    (line,) = said(done)
    assert "has ranks of another MPI_COMM_WORLD" in line


@pytest.mark.parametrize("connecting", ["with", "without"])
def test_jobs_that_meet(built, tmp_path, connecting):
    """MPI_Comm_accept and MPI_Comm_connect: nobody knows whether the other job has Stretto."""
    mpi, program = installed("mpich"), built("accepted.c", "mpich")
    port = tmp_path / "port"
    with ThreadPoolExecutor() as pool:
        first = pool.submit(stretto_run, 2, [program, "accept", port], mpi=mpi, timeout=60)
        start = stretto_run if connecting == "with" else launch
        words = [program, "connect", port]
        second = pool.submit(lambda: start(ranks=2, program=words, mpi=mpi, timeout=60))
    done = all_right(first.result())
    all_right(second.result())
    for function, served in (("allreduce", 5), ("bcast", 0), ("barrier", 0)):
        assert done.served(function) == served  # of the own job alone
        assert {"intercommunicator", "ranks of another world"} <= done.passed(function).keys()
    assert done.passed("neighbor_allgather") == {"ranks of another world": 1}
    (line,) = said(done)
    assert "has ranks of another MPI_COMM_WORLD" in line


@pytest.mark.parametrize("name", MPIS)
def test_communicators_of_threads(built, name):
    program = built("threads_communicators.c", name, "-pthread")
    done = all_right(stretto_run(4, [program], mpi=mpi_of(name), timeout=60))
    for collective in ("allreduce", "allgather", "bcast", "barrier"):
        assert done.served(collective) == 4 * 60 * 4
        assert done.passed(collective) == {}
    assert said(done) == []


@pytest.mark.parametrize("name", MPIS)
def test_communicators_of_threads_on_several_nodes(built, name):
    program = built("threads_communicators.c", name, "-pthread")
    variables = {"STRETTO_NODES": "2x2", "STRETTO_RULES": SERVING}
    done = all_right(stretto_run(4, [program], mpi=mpi_of(name), timeout=60, **variables))
    assert done.passed("allreduce") == {}
    assert done.served("allreduce") == 4 * 60 * 4
    assert said(done) == []


def test_communicators_of_threads_of_a_preloaded_program(built):
    """Open MPI may hang where threads make communicators at once: Stretto makes its own in MPI_Init
    or not at all, and there it does not know whether all ranks have Stretto."""
    program = built("threads_communicators.c", "openmpi", "-pthread")
    mpi = mpi_of("openmpi")
    done = all_right(preloaded(mpi, 4, [program], STRETTO_NODES="2x2", STRETTO_RULES=SERVING))
    left = done.passed("allreduce")
    assert left.keys() == {"communicator"}
    assert done.served("allreduce") + sum(left.values()) == 4 * 60 * 4
    assert {"Open MPI's communicators" in line for line in said(done)} == {True}


@pytest.mark.parametrize("name", ALL_MPIS)
def test_threads_of_a_session(built, name):
    """Intel MPI that was initialized for one thread gives a session MPI_THREAD_MULTIPLE, but has no
    locks then: threads that only make groups, without Stretto, may end in a segmentation fault."""
    program = [built("sessions.c", name, "-pthread"), *["multiple"] * (name == "intel")]
    done = preloaded(installed(name), 3, program).succeeded()
    if "skipped: " in done.out:
        pytest.skip(done.out.strip())
    all_right(done)
    assert done.served("allreduce") == done.served("bcast") == 1 + 400 + 3 * 40 * (5 + 20)
    assert said(done) == []
