# SPDX-License-Identifier: BSD-3-Clause
"""STRETTO_PROGRESS=thread: calls go on while the program computes, also between nodes."""

from pathlib import Path

import pytest
from programs import ABI, PREFIXES, Finished, all_right, installed, stretto_run

pytestmark = pytest.mark.each_value

LIMIT = 100  # seconds for each run: the ranks may be more than the cores
SERVED = {"STRETTO_ALLREDUCE": "recursive_doubling", "STRETTO_BCAST": "binomial"}
PAPERS = str(Path(__file__).parents[2] / "rules" / "papers.rules")

# How the MPIs are told that MPI_Init is MPI_Init_thread with MPI_THREAD_MULTIPLE.
MULTIPLE = {
    "STRETTO_NODES": "2x2",
    "MPIR_CVAR_DEFAULT_THREAD_LEVEL": "MPI_THREAD_MULTIPLE",
    "OMPI_MPI_THREAD_LEVEL": "3",
}

every_mpi = pytest.mark.parametrize("name", PREFIXES)
two_nodes = pytest.mark.parametrize("nodes", ["", "2x2"])


def run(built, source: str, name: str, *arguments: object, **variables: str) -> Finished:
    program = [built(source, name), *arguments]
    more = {"STRETTO_PROGRESS": "thread"} | {k: v for k, v in variables.items() if v}
    return all_right(stretto_run(4, program, mpi=installed(name), timeout=LIMIT, **more))


@pytest.mark.parametrize("name", [*PREFIXES, *ABI])
@two_nodes
@pytest.mark.parametrize("level", [[], ["funneled"]])
def test_calls_end_while_the_program_computes(built, name, nodes, level):
    """The MPI gets MPI_THREAD_MULTIPLE; the program keeps the level that it asked for."""
    done = run(built, "computing.c", name, *level, STRETTO_NODES=nodes, **SERVED)
    assert done.served("allreduce") > 0
    assert not done.passed("allreduce") and not done.passed("bcast"), done.err


@every_mpi
@pytest.mark.parametrize("case", ["crossed", "ahead", "blocking", "freed", "types", "sitting"])
def test_every_legal_order_ends(built, name, case):
    run(built, "nonblocking_order.c", name, case, STRETTO_NODES="2x2")


@pytest.mark.parametrize(
    "name", ["mpich", *(pytest.param(n, marks=pytest.mark.thorough) for n in ("openmpi", "intel"))]
)
def test_all_collectives_between_nodes(built, name):
    served = {"STRETTO_NODES": "2x2", "STRETTO_RULES": PAPERS}
    run(built, "nonblocking_all.c", name, 1, 20, **served)
    # With the program's own operators MPICH's persistent calls are its own here, which fail.
    run(built, "persistent_collectives.c", name, "mixed" if name == "mpich" else "every", **served)
    run(built, "request_arrays.c", name, **served)
    run(built, "progress.c", name, **served)


@every_mpi
@pytest.mark.each_value(together=("case", "name"))
@pytest.mark.parametrize("case", ["blocking", "types", "sitting"])
def test_orders_of_a_program_with_threads(built, name, case):
    """MPICH holds a lock while it calls Stretto, which must not call MPICH then."""
    run(built, "nonblocking_order.c", name, case, STRETTO_PROGRESS="calls", **MULTIPLE)


@every_mpi
@two_nodes
@pytest.mark.parametrize("progress", ["calls", "thread"])
def test_blocking_calls_before_others_start(built, name, nodes, progress):
    program = built("late_starts.c", name, "-pthread")
    variables = {"STRETTO_PROGRESS": progress, "STRETTO_NODES": nodes, **SERVED}
    mpi = installed(name)
    done = all_right(stretto_run(3, [program], mpi=mpi, timeout=LIMIT, **variables))
    assert done.passed("allreduce") == {}


@every_mpi
def test_beside_threads_of_the_program(built, name):
    program = [built("threads.c", name, "-pthread"), "together"]
    variables = {"STRETTO_PROGRESS": "thread", "STRETTO_NODES": "2x2"}
    all_right(stretto_run(4, program, mpi=installed(name), timeout=LIMIT, **variables))
