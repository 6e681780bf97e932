# SPDX-License-Identifier: BSD-3-Clause
"""An algorithm in Python for every collective but those of neighbourhoods."""

from stretto import Side, algorithm
from stretto.blocks import input, output, scratch  # noqa: A004 - named as in the text form


@algorithm(collective="barrier")
def around(b):
    """A token walks around the ring twice."""
    for _ in range(2):
        if b.rank > 0:
            b.receive(b.rank - 1, [])
            b.round()
        b.send((b.rank + 1) % b.ranks, []) if b.ranks > 1 else None
        if b.rank == 0 and b.ranks > 1:
            b.receive(b.ranks - 1, [])
        b.round()


@algorithm(collective="bcast", blocks=3)
def pipeline(b, root):
    place = (b.rank - root) % b.ranks
    for step in range(b.blocks + b.ranks - 2):
        arriving, leaving = step - place + 1, step - place
        b.round()
        if place > 0 and 0 <= arriving < b.blocks:
            b.receive((b.rank - 1) % b.ranks, output(arriving))
        if place < b.ranks - 1 and 0 <= leaving < b.blocks:
            b.send((b.rank + 1) % b.ranks, output(leaving))


@algorithm(collective="gather")
def gather_chain(b, root):
    """What is further from the root goes through all who are nearer: they forward it."""
    place = (b.rank - root) % b.ranks
    b.new_scratch(0, b.ranks)  # which nobody uses: such slots have no size
    if place == 0:
        b.copy(input(root), output(root))
        if b.ranks > 1:
            b.receive((root + 1) % b.ranks, _blocks(output, root, 1, b.ranks))
        return
    further = [(root + p) % b.ranks for p in range(place + 1, b.ranks)]
    slots = [b.new_scratch(block, 1) for block in further]
    kept = [one for slot in slots for one in scratch(slot)]
    if further:
        b.receive((b.rank + 1) % b.ranks, kept)
        b.round()
    b.send((b.rank - 1) % b.ranks, input(b.rank) + kept)


def _blocks(buffer, root, first, end):
    """By the distance from the root: places first … end-1 of as many as there are."""
    ranks = end
    return [one for p in range(first, end) for one in buffer((root + p) % ranks)]


@algorithm(collective="scatter")
def scatter_chain(b, root):
    place = (b.rank - root) % b.ranks
    if place == 0:
        b.copy(input(root), output(root))
        if b.ranks > 1:
            b.send((root + 1) % b.ranks, _blocks(input, root, 1, b.ranks))
        return
    further = [(root + p) % b.ranks for p in range(place + 1, b.ranks)]
    slots = [b.new_scratch(block, 1) for block in further]
    kept = [one for slot in slots for one in scratch(slot)]
    b.receive((b.rank - 1) % b.ranks, output(b.rank) + kept)
    if further:
        b.round()
        b.send((b.rank + 1) % b.ranks, kept)


@algorithm(collective="allgather", blocks=2)
def two_rings(b):
    """Of each part one half walks to the right, the other to the left."""
    left, right = (b.rank - 1) % b.ranks, (b.rank + 1) % b.ranks
    b.copy(input(2 * b.rank, 2), output(2 * b.rank, 2))
    for step in range(b.ranks - 1):
        b.round()
        b.send(right, output(2 * ((b.rank - step) % b.ranks)))
        b.send(left, output(2 * ((b.rank + step) % b.ranks) + 1))
        b.receive(left, output(2 * ((left - step) % b.ranks)))
        b.receive(right, output(2 * ((right + step) % b.ranks) + 1))


@algorithm(collective="alltoall")
def through_neighbours(b):
    """Every block walks around the ring until it is where it belongs: ranks forward what is not
    theirs."""
    right, left = (b.rank + 1) % b.ranks, (b.rank - 1) % b.ranks
    b.copy(input(b.rank), output(b.rank))
    held = [(b.rank, (b.rank + d) % b.ranks) for d in range(1, b.ranks)]
    places = [input(destination)[0] for _, destination in held]
    for _ in range(b.ranks - 1):
        b.round()
        b.send(right, places)
        arriving = [((s - 1) % b.ranks, (d - 1) % b.ranks) for s, d in held]
        targets = []
        for source, destination in arriving:
            if destination == b.rank:
                targets += output(source)
            else:
                targets += scratch(b.new_scratch(source * b.ranks + destination, 1))
        b.receive(left, targets)
        both = list(zip(arriving, targets, strict=True))
        held = [pair for pair, _ in both if pair[1] != b.rank]
        places = [place for pair, place in both if pair[1] != b.rank]


@algorithm(collective="reduce", commutative=True)
def reduce_chain(b, root):
    place = (b.rank - root) % b.ranks
    if b.ranks == 1:
        b.copy(input(0), output(0))
        return
    target = output(0)
    if 0 < place < b.ranks - 1:
        target = scratch(b.new_scratch(0, 1))
    if place < b.ranks - 1:
        b.receive_reduce((b.rank + 1) % b.ranks, target, Side.right, input(0))
        b.round()
    if place > 0:
        b.send((b.rank - 1) % b.ranks, input(0) if place == b.ranks - 1 else target)


@algorithm(collective="allreduce", blocks=lambda ranks: ranks)
def parts_in_order(b):
    """Every rank gets a part of all vectors and combines them in rank order; then all get all."""
    slots = [b.new_scratch(b.rank, 1) for _ in range(b.ranks)]
    others = [r for r in range(b.ranks) if r != b.rank]
    for r in others:
        b.send(r, input(r))
    for r in others:
        b.receive(r, scratch(slots[r]))
    b.round()
    b.copy(input(b.rank), scratch(slots[b.rank]))
    b.round()
    for r in range(1, b.ranks):
        b.reduce(scratch(slots[0]), scratch(slots[0]), Side.left, scratch(slots[r]))
    b.copy(scratch(slots[0]), output(b.rank))
    b.round()
    for r in others:
        b.send(r, output(b.rank))
        b.receive(r, output(r))


@algorithm(collective="reduce_scatter", commutative=True)
def scatter_ring(b):
    left, right = (b.rank - 1) % b.ranks, (b.rank + 1) % b.ranks
    if b.ranks == 1:
        b.copy(input(0), output(0))
        return
    sent = input(left)
    for step in range(b.ranks - 1):
        block = (left - 1 - step) % b.ranks
        target = output(block) if block == b.rank else scratch(b.new_scratch(block, 1))
        b.round()
        b.send(right, sent)
        b.receive_reduce(left, target, Side.left, input(block))
        sent = target


@algorithm(collective="scan")
def scan_chain(b):
    if b.rank == 0:
        b.copy(input(0), output(0))
    else:
        b.receive_reduce(b.rank - 1, output(0), Side.left, input(0))
    b.round()
    if b.rank + 1 < b.ranks:
        b.send(b.rank + 1, output(0))


@algorithm(collective="exscan")
def exscan_chain(b):
    kept = scratch(b.new_scratch(0, 1))
    b.copy(input(0), kept)
    b.round()
    if b.rank > 0:
        b.receive(b.rank - 1, output(0))
        b.round()
        b.reduce(output(0), kept, Side.left, kept)
        b.round()
    if b.rank + 1 < b.ranks:
        b.send(b.rank + 1, kept)


ALL = (
    around, pipeline, gather_chain, scatter_chain, two_rings, through_neighbours, reduce_chain,
    parts_in_order, scatter_ring, scan_chain, exscan_chain,
)  # fmt: skip
