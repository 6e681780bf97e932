# SPDX-License-Identifier: BSD-3-Clause
"""Buffers in memory that the ranks of a node share: read and written in place."""

import os
import re
import sys
from pathlib import Path

import pytest
from commands import json_of
from programs import PATIENT, Finished, all_right, finish, installed, stretto_run, stretto_words
from stretto.launch.library import heap_library

MPIS = ["mpich", "openmpi", "intel"]


def in_place(done: Finished) -> int:
    """Messages that rank 0 has read in place."""
    found = re.search(r"rank 0 read (\d+) messages in place", done.err)
    return int(found[1]) if found else 0


def run(name: str, ranks: int, program: list, *options: str, **variables: str) -> Finished:
    words = stretto_words(ranks, program, installed(name))
    at = words.index("run") + 1
    environment = {**os.environ, **PATIENT, "STRETTO_LOG": "summary", **variables}
    return finish([*words[:at], *options, *words[at:]], environment, 120)


@pytest.mark.parametrize("name", MPIS)
def test_large_blocks_of_the_heap(built, name):
    """Of the allocator: with a fork between the calls, a window, and threads."""
    done = run(name, 2, [built("shared_heap.c", name, "-pthread")], "--shared-heap")
    assert in_place(all_right(done)) > 20


@pytest.mark.parametrize("name", MPIS)
def test_memory_of_mpi_alloc_mem(built, name):
    program = [built("shared_heap.c", name, "-pthread"), "alloc"]
    assert in_place(all_right(run(name, 2, program))) > 20


def test_more_ranks_than_cores(built):
    program = built("shared_heap.c", "mpich", "-pthread")
    done = run("mpich", 3, [program], "--shared-heap", STRETTO_SHARED_HEAP="64K")
    assert in_place(all_right(done)) > 20


@pytest.mark.parametrize(
    "variables",
    [{"STRETTO_SHARED_HEAP": "0"}, {"STRETTO_SHM": "0"}, {"STRETTO_DISABLE": "1"}],
    ids=" ".join,
)
def test_switched_off(built, variables):
    program = built("shared_heap.c", "mpich", "-pthread")
    for words, options in (([program], ["--shared-heap"]), ([program, "alloc"], [])):
        assert in_place(all_right(run("mpich", 2, words, *options, **variables))) == 0


def test_several_nodes(built):
    """Of two pretended nodes of two ranks each: between them messages go through the MPI."""
    program = built("shared_heap.c", "mpich", "-pthread")
    done = run("mpich", 4, [program], "--shared-heap", STRETTO_NODES="2x2")
    assert in_place(all_right(done)) > 0


@pytest.mark.parametrize("kernel", ["0", "1"])
def test_without_the_kernel_s_copy(built, kernel):
    """A heap needs no permission of the kernel."""
    program = [built("kernel_copy.c", "mpich")]
    variables = {"STRETTO_KERNEL_COPY": kernel, "STRETTO_SHARED_HEAP": "64K"}
    done = run("mpich", 2, program, "--shared-heap", **variables)
    assert in_place(all_right(done)) > 0


NUMPY = """
import os
import sys
import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
mine = numpy.full(300_000, comm.rank + 1.0)
total = numpy.zeros_like(mine)
for turn in range(3):
    comm.Allreduce(mine, total)
    assert (total == sum(range(1, comm.size + 1))).all()
    child = os.fork()
    if child == 0:
        right = (total == sum(range(1, comm.size + 1))).all()
        total[:] = -1
        os._exit(0 if right else 1)
    everything = numpy.concatenate(comm.allgather(mine))
    assert os.waitpid(child, 0)[1] == 0
    assert (total == sum(range(1, comm.size + 1))).all()
    assert everything.sum() == 300_000 * sum(range(1, comm.size + 1))
memory = MPI.Alloc_mem(1 << 20)
comm.Bcast([memory, MPI.BYTE], root=0)
MPI.Free_mem(memory)
if comm.rank == 0:
    print("all right")
"""


@pytest.mark.parametrize("name", MPIS[:2])
def test_numpy_s_arrays(name, tmp_path):
    pytest.importorskip("mpi4py")
    pytest.importorskip("numpy")
    script = tmp_path / "script.py"
    script.write_text(NUMPY, encoding="utf-8")
    python = Path(installed(name).mpiexec).parent / "python"
    done = run(name, 2, [python if python.exists() else sys.executable, script], "--shared-heap")
    assert in_place(all_right(done)) > 0


def test_a_size_that_is_none(built):
    program = [built("kernel_copy.c", "mpich")]
    done = stretto_run(2, program, mpi=installed("mpich"), STRETTO_SHARED_HEAP="12")
    all_right(done)
    assert done.err.count("STRETTO_SHARED_HEAP: '12' is neither 0 nor a size from 64K") == 1


def test_programs_without_mpi():
    """What a rank starts has the allocator as well: shells, compilers, interpreters."""
    code = "import os; a = bytearray(9_000_000); p = os.fork() or os._exit(len(a) % 251); " + (
        "print(os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]), len(a + a))"
    )
    environment = {**os.environ, "LD_PRELOAD": str(heap_library())}
    done = finish([sys.executable, "-c", code], environment, 60)
    assert done.succeeded().out.split() == [str(9_000_000 % 251), "18000000"]


def test_bench_with_shared_buffers():
    mpi = str(installed("mpich").mpiexec)
    words = ["bench", "-n", "2", "--mpi", mpi, "--collectives", "bcast,allreduce"]
    words += ["--sizes", "64K,1M", "--time-per-size", "0.05", "--buffers", "shared"]
    said = json_of(*words)
    assert len(said["cells"]) == 4
    assert all(cell["correct"] for cell in said["cells"])
