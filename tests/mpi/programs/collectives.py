# SPDX-License-Identifier: BSD-3-Clause
"""An ordinary mpi4py program: buffers in capitals, pickled objects in small letters."""

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
n = 5000
steps = np.arange(n, dtype="d")

total = np.empty(n)
world.Allreduce(steps + rank, total, op=MPI.SUM)
assert (total == ranks * steps + ranks * (ranks - 1) / 2).all()
world.Allreduce(MPI.IN_PLACE, total, op=MPI.MAX)

vector = steps.copy() if rank == 0 else np.zeros(n)
world.Bcast(vector, root=0)
assert (vector == steps).all()

every_other = MPI.DOUBLE.Create_vector(n // 2, 1, 2).Commit()
vector = steps.copy() if rank == 0 else np.zeros(n)
world.Bcast([vector, 1, every_other], root=0)
assert (vector[::2] == steps[::2]).all()
assert (vector[1::2] == (steps[1::2] if rank == 0 else 0)).all()
every_other.Free()

rows = np.empty((ranks, 7), dtype="i")
world.Allgather(np.full(7, rank, dtype="i"), rows)
assert (rows == np.arange(ranks)[:, None]).all()

block = np.empty(3, dtype="l")
world.Reduce_scatter_block(np.arange(3 * ranks), block, op=MPI.SUM)
assert (block == ranks * (3 * rank + np.arange(3))).all()

if rank == 0:
    world.Reduce(MPI.IN_PLACE, total, op=MPI.MIN, root=0)
else:
    world.Reduce(total, None, op=MPI.MIN, root=0)

word = MPI.Op.Create(lambda a, b, t: b.__setitem__(slice(None), a[:]), commute=False)
first = np.empty(3, dtype="i")
world.Allreduce(np.full(3, rank, dtype="i"), first, op=word)
assert (first == 0).all()
word.Free()

assert world.bcast({"rank": rank, "words": ["a", "b"]}, root=0) == {"rank": 0, "words": ["a", "b"]}
assert world.allgather((rank, str(rank))) == [(r, str(r)) for r in range(ranks)]
assert world.allreduce(rank + 1, op=MPI.SUM) == ranks * (ranks + 1) // 2
world.Barrier()
if rank == 0:
    print("all right")
