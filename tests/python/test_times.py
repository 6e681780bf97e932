# SPDX-License-Identifier: BSD-3-Clause
"""Times that were once far from what they should be. The best of some runs counts."""

import pytest
from commands import json_of
from programs import ROOT, installed, preloaded

MPIS = ["mpich", "openmpi"]


@pytest.mark.alone
@pytest.mark.parametrize("name", MPIS)
def test_the_first_collective(built, name):
    """Set-up is in it, for `stretto run`, which would do that in MPI_Init, has not started this."""
    program = built(str(ROOT / "benchmarks" / "overhead" / "startup.c"), name)
    runs = [preloaded(installed(name), 2, [program]).succeeded().out for _ in range(7)]
    assert min(float(out.split()[-2]) for out in runs) < 3000, runs  # µs


@pytest.mark.alone
@pytest.mark.parametrize("name", MPIS)
def test_reduce_scatter_block_of_one_number(name):
    """One double for each rank took three to four times as long as two."""
    mpi = installed(name).mpiexec
    words = ["bench", "-n", 2, "--mpi", mpi, "--collectives", "reduce_scatter_block"]
    found = []
    for _ in range(4):
        cells = json_of(*words, "--sizes", "16,32", "--time-per-size", 0.1)["cells"]
        one, two = sorted(cells, key=lambda cell: cell["bytes"])
        found.append(one["stretto_us"] / two["stretto_us"])
        if found[-1] < 1.5:
            break
    assert min(found) < 1.5, found
