# SPDX-License-Identifier: BSD-3-Clause
"""Wrong on purpose: the ring with one round too few. The checker says which block is missing."""

from stretto import algorithm
from stretto.blocks import input, output


@algorithm(collective="allgather")
def short_ring(b):
    left, right = (b.rank - 1) % b.ranks, (b.rank + 1) % b.ranks
    b.copy(input(b.rank), output(b.rank))
    for step in range(b.ranks - 2):  # should be b.ranks - 1
        b.round()
        b.send(right, output((b.rank - step) % b.ranks))
        b.receive(left, output((left - step) % b.ranks))


if __name__ == "__main__":
    print(short_ring.check(ranks=range(1, 71)))
    short_ring.save("wrong.stretto", ranks=range(2, 17))
