# SPDX-License-Identifier: BSD-3-Clause
"""Long messages on a node that the kernel copies once: permitted, refused, forbidden."""

import pytest
from programs import all_right, installed, preloaded, stretto_run

MPIS = ["mpich", "openmpi", "intel"]
FUNCTIONS = ("ALLTOALL", "ALLGATHER", "SCATTER", "BCAST", "ALLREDUCE")
OWN_COPIES = {  # these MPIs', which the library that counts would count as well
    "OMPI_MCA_smsc": "^cma",
    "I_MPI_SHM_CMA_P2P_THRESHOLD": "-1",
}


def run(built, name: str, ranks: int, words: str, **variables: str) -> int:
    """How many ranks asked the kernel to copy."""
    counter = built("kernel_copy.c", name, "-DLIBRARY", "-shared", "-fPIC")
    asked = {f"STRETTO_{function}": words for function in FUNCTIONS}
    program = [built("kernel_copy.c", name)]
    done = preloaded(installed(name), ranks, program, counter, **asked, **OWN_COPIES, **variables)
    all_right(done)
    assert done.served("alltoall") == 12
    return done.err.count("asked to copy")


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", MPIS)
def test_one_copy(built, name, ranks):
    assert run(built, name, ranks, "linear,copy=kernel") == ranks
    assert run(built, name, ranks, "linear,segment=64K,depth=4,copy=kernel") == ranks


@pytest.mark.parametrize("name", MPIS)
def test_a_kernel_that_refuses(built, name):
    variables = {"REFUSE_KERNEL_COPY": "1"}
    assert run(built, name, 3, "linear,copy=kernel", **variables) == 3
    run(built, name, 2, "linear,segment=64K,depth=4,copy=kernel", **variables)


@pytest.mark.parametrize("name", MPIS)
def test_senders_that_may_not_help(built, name):
    assert run(built, name, 2, "linear,copy=kernel", REFUSE_HELP="1") == 2


def test_each_message_goes_as_measured(built):
    """Twice through shared memory where the kernel takes longer."""
    counter = built("kernel_copy.c", "mpich", "-DLIBRARY", "-shared", "-fPIC")
    program = [built("kernel_copy.c", "mpich"), "60"]

    def copies(way: str) -> int:
        asked = {f"STRETTO_{function}": f"linear,copy={way}" for function in FUNCTIONS}
        variables = {"SLOW_KERNEL_COPY": "1", **OWN_COPIES, **asked}
        done = preloaded(installed("mpich"), 2, program, counter, **variables)
        all_right(done)
        return sum(int(line.split()[-1]) for line in done.err.splitlines() if "asked" in line)

    assert 0 < copies("measured") < copies("kernel") / 2


def test_shipped_rules_copy_where_the_kernel_does(built):
    """And choose others where STRETTO_KERNEL_COPY=0 says that it shall not."""
    program = [built("kernel_copy.c", "mpich")]
    for switch, words in (("1", "copy=measured"), ("0", "the kernel may not copy")):
        variables = {"STRETTO_KERNEL_COPY": switch, "STRETTO_LOG": "select"}
        done = stretto_run(2, program, mpi=installed("mpich"), **variables)
        all_right(done)
        assert words in done.err


@pytest.mark.parametrize("name", MPIS[:2])
def test_without_it(built, name):
    assert run(built, name, 2, "linear,copy=kernel", STRETTO_KERNEL_COPY="0") == 0
    assert run(built, name, 2, "linear,copy=staged") == 0
