# SPDX-License-Identifier: BSD-3-Clause
"""Collective files: some MPIs call their own collectives for them. Argument: a file to write."""

import sys

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
n = 10000
every = MPI.INT.Create_vector(n, 1, world.size).Commit()
file = MPI.File.Open(world, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(4 * world.rank, MPI.INT, every)
own = np.full(n, world.rank, dtype="i")
found = np.empty_like(own)
file.Write_at_all(0, own)
file.Read_at_all(0, found)
assert (found == own).all()
file.Close()
every.Free()
if world.rank == 0:
    assert (np.fromfile(sys.argv[1], dtype="i") == np.tile(np.arange(world.size), n)).all()
    print("all right")
