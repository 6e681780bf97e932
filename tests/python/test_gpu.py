# SPDX-License-Identifier: BSD-3-Clause
"""Where buffers may be in the memory of a GPU, calls are left to the MPI that takes them."""

import pytest
from conftest import compile_c
from programs import all_right, installed, stretto_run

RANKS = 3


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """A library with the name of a GPU's driver."""
    path = tmp_path_factory.mktemp("driver") / "libcuda.so.1"
    compile_c("int cuInit(unsigned flags) { return flags != 0; }",
              "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", path)  # fmt: skip
    return path


@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel"])
def test_an_mpi_that_takes_buffers_on_gpus(built, driver, name):
    program = [built("gpu_buffers.c", name, "-rdynamic", "-ldl"), driver]
    done = all_right(stretto_run(RANKS, program, mpi=installed(name)))
    assert done.served("allreduce") == done.served("bcast") == 0
    assert done.passed("allreduce") == {"gpu": 2}
    assert done.passed("bcast") == {"gpu": 1}
    assert done.err.count("this MPI takes buffers in the memory of GPUs") == 1
    done = all_right(stretto_run(RANKS, program, mpi=installed(name), STRETTO_GPU="0"))
    assert done.served("allreduce") == 2 and not done.passed("allreduce")


def test_a_process_without_a_driver(built):
    program = [built("gpu_buffers.c", "mpich", "-rdynamic", "-ldl")]
    done = all_right(stretto_run(RANKS, program, mpi=installed("mpich")))
    assert done.served("allreduce") == 2
