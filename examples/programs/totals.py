# SPDX-License-Identifier: BSD-3-Clause
"""Every rank learns the numbers of all ranks (Allgather) and their sums (Allreduce): mpi4py."""

import numpy
from mpi4py import MPI

NUMBERS = 1000

world = MPI.COMM_WORLD
mine = world.rank + numpy.arange(NUMBERS, dtype=float)
everything = numpy.empty((world.size, NUMBERS))
sums = numpy.empty(NUMBERS)
world.Allgather(mine, everything)
world.Allreduce(mine, sums)
expected = numpy.arange(world.size)[:, None] + numpy.arange(NUMBERS, dtype=float)
wrong = int((everything != expected).sum() + (sums != expected.sum(axis=0)).sum())
wrong_anywhere = world.reduce(wrong)
if world.rank == 0:
    print(f"{wrong_anywhere} wrong" if wrong_anywhere else "all right")
