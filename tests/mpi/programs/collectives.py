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

# Rank r's part has r + 1 numbers.
counts = [r + 1 for r in range(ranks)]
part = np.full(rank + 1, rank, dtype="i")
parts = np.repeat(np.arange(ranks, dtype="i"), counts)
for gather in (world.Gatherv, world.Allgatherv):
    found = np.full(parts.size, -1, dtype="i")
    gather(part, [found, counts])
    assert (found == parts).all() or (gather == world.Gatherv and rank > 0)
world.Scatterv([parts, counts] if rank == 0 else None, part, root=0)
assert (part == rank).all()
world.Reduce_scatter(parts, part, counts, op=MPI.SUM)
assert (part == ranks * rank).all()

world.Gather(np.full(7, rank, dtype="i"), rows, root=0)
world.Scatter(rows if rank == 0 else None, part := np.empty(7, dtype="i"), root=0)
assert (part == rank).all()

to_each = np.arange(ranks, dtype="i") + 100 * rank
from_each = 100 * np.arange(ranks) + rank
types, bytes_ = [MPI.INT] * ranks, [4 * r for r in range(ranks)]
for name, to_all in {
    "Alltoall": lambda a, b: world.Alltoall(a, b),
    "Alltoallv": lambda a, b: world.Alltoallv([a, [1] * ranks], [b, [1] * ranks]),
    "Alltoallw": lambda a, b: world.Alltoallw(
        [a, [1] * ranks, bytes_, types], [b, [1] * ranks, bytes_, types]
    ),
}.items():
    found = np.full(ranks, -1, dtype="i")
    to_all(to_each, found)
    assert (found == from_each).all(), name

sums = np.zeros(2, dtype="i")
world.Scan(np.full(2, rank, dtype="i"), sums, op=MPI.SUM)
assert (sums == rank * (rank + 1) // 2).all()
sums[:] = 0
world.Exscan(np.full(2, rank, dtype="i"), sums, op=MPI.SUM)
assert (sums == rank * (rank - 1) // 2).all()

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
