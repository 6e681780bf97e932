# SPDX-License-Identifier: BSD-3-Clause
"""An allgather: every block walks once around a ring of the ranks."""

from stretto import algorithm
from stretto.blocks import input, output


@algorithm(collective="allgather")
def ring(b):
    left, right = (b.rank - 1) % b.ranks, (b.rank + 1) % b.ranks
    b.copy(input(b.rank), output(b.rank))
    for step in range(b.ranks - 1):
        b.round()
        b.send(right, output((b.rank - step) % b.ranks))
        b.receive(left, output((left - step) % b.ranks))


if __name__ == "__main__":
    print(ring.check(ranks=range(1, 71)))
    print(ring.show(ranks=4))
    ring.save("ring.stretto", ranks=range(2, 17))
