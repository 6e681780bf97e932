# SPDX-License-Identifier: BSD-3-Clause
"""An allreduce on a ring: partial results walk around it once, then the results do."""

from stretto import Side, algorithm
from stretto.blocks import input, output


@algorithm(collective="allreduce", blocks=lambda ranks: ranks, commutative=True)
def ring(b):
    left, right = (b.rank - 1) % b.ranks, (b.rank + 1) % b.ranks
    if b.ranks == 1:
        b.copy(input(0), output(0))
    for step in range(
        b.ranks - 1
    ):  # what I have of a block goes right, what comes is added to mine
        b.round()
        source = input if step == 0 else output
        block = (left - step) % b.ranks
        b.send(right, source((b.rank - step) % b.ranks))
        b.receive_reduce(left, output(block), Side.left, input(block))
    for step in range(b.ranks - 1):  # now the block behind mine is complete here
        b.round()
        b.send(right, output((b.rank + 1 - step) % b.ranks))
        b.receive(left, output((b.rank - step) % b.ranks))


if __name__ == "__main__":
    print(ring.check(ranks=range(1, 71)))
    print(ring.simulate(ranks=16, size="4M", machine="cluster"))
    ring.save("ring-allreduce.stretto", ranks=range(2, 17))
