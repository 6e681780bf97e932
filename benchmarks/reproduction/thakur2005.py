# SPDX-License-Identifier: BSD-3-Clause
"""Thakur, Rabenseifner and Gropp 2005, figures 3 to 11: MPICH's new algorithms against its old."""

import stretto
from claims import (
    FAILS,
    HOLDS,
    PARTLY,
    Claim,
    Finding,
    Model,
    collector,
    crossing,
    cutoff,
    in_bytes,
    judged,
    off,
    powers,
    span,
    times,
)

CLAIMS: list[Claim] = []
claim = collector(CLAIMS)

NO_PAIRS = (
    "the model gives pairs that exchange no advantage, and Bruck's blocks need no local copies here"
)
FLAT = (
    "on one switch both move the same bytes; the paper itself blames far partners, see the next row"
)


def is_power(ranks: int) -> bool:
    return ranks & (ranks - 1) == 0


def _bruck_over_doubling(model: Model, ranks: list[int]) -> list[float]:
    return [
        model.seconds("allgather/recursive_doubling", p, 16 * p, "myrinet-2000")
        / model.seconds("allgather/bruck", p, 16 * p, "myrinet-2000")
        for p in ranks
    ]


@claim("3", "myrinet-2000")
def bruck_where_ranks_are_no_power(model: Model) -> Finding:
    """Allgather of 16 bytes per process: Bruck beats recursive doubling unless p = 2^k."""
    ranks = [p for p in range(3, 65) if not is_power(p)]
    ratios = _bruck_over_doubling(model, ranks)
    faster = sum(ratio > 1.001 for ratio in ratios)
    return judged(
        f"faster on {faster} of {len(ranks)} numbers up to 64, by {span(ratios)}",
        faster == len(ranks),
        "some numbers of processes need as many rounds",
    )


@claim("3", "myrinet-2000")
def doubling_where_ranks_are_a_power(model: Model) -> Finding:
    """The same with p = 2^k: recursive doubling is faster."""
    ratios = _bruck_over_doubling(model, powers(2, 64))
    return judged(
        f"recursive doubling takes {span(ratios)} of Bruck's time", max(ratios) < 0.999, NO_PAIRS
    )


@claim("4", "myrinet-2000")
def short_allgather(model: Model) -> Finding:
    """Short allgathers are much faster than the old ring (here: 64 processes, 1 to 64 bytes of
    each)."""
    ratios = [
        model.seconds("allgather/ring", 64, 64 * each, "myrinet-2000")
        / model.seconds("allgather/recursive_doubling", 64, 64 * each, "myrinet-2000")
        for each in powers(1, 64)
    ]
    return judged(f"{span(ratios)} as fast", min(ratios) > 2)


def _on_tree(name: str, size: int) -> float:
    """64 machines, eight on each of eight switches that hang on one; all links alike."""
    switches = [stretto.Vertex(f"s{i}", 0, False, 245e6, 1.75e-6) for i in range(8)]
    machines = [stretto.Vertex(f"n{i}", 1 + i // 8, True, 245e6, 1.75e-6) for i in range(64)]
    tree = stretto.Topology([stretto.Vertex("core"), *switches, *machines], range(9, 73))
    algorithm, shape = stretto.algorithm_named(name), stretto.Shape(64)
    traffic = stretto.traffic(tree, stretto.Messages(algorithm, shape))
    return stretto.time_on_tree(traffic, algorithm.blocks(shape), size).seconds


@claim("5", "myrinet-2000")
def long_allgather_on_one_switch(model: Model) -> Finding:
    """Long allgathers (64 nodes, 512 KB in all and more): the ring beats recursive doubling."""
    ratios = [
        model.seconds("allgather/recursive_doubling", 64, size, "myrinet-2000")
        / model.seconds("allgather/ring", 64, size, "myrinet-2000")
        for size in powers(512 << 10, 8 << 20)
    ]
    return judged(f"the ring is {span(ratios)} as fast", min(ratios) > 1, FLAT)


@claim("5", "the tree of switches")
def long_allgather_on_a_tree(_model: Model) -> Finding:
    """The same where far partners share links: eight switches of eight nodes on one more, all links
    alike."""
    ratios = [
        _on_tree("allgather/recursive_doubling", size) / _on_tree("allgather/ring", size)
        for size in powers(512 << 10, 8 << 20)
    ]
    return judged(f"the ring is {span(ratios)} as fast", min(ratios) > 1)


@claim("6", "ibm-sp")
def long_bcast(model: Model) -> Finding:
    """Long broadcasts (64 nodes): van de Geijn's algorithm beats the binomial tree by up to (lg
    p)/2 = 3."""
    ratios = [
        model.seconds("bcast/binomial", 64, size, "ibm-sp")
        / model.seconds("bcast/scatter_ring", 64, size, "ibm-sp")
        for size in powers(256 << 10, 64 << 20)
    ]
    return Finding(
        f"{times(ratios[0])} at 256 KiB, {times(ratios[-1])} at 64 MiB",
        HOLDS if abs(ratios[-1] / 3 - 1) < 0.05 else FAILS,
        f"{off(ratios[-1], 3)} of the bound; (p-1)/p of the vector moves, so it is a little "
        "above 3",
    )


@claim("6", "myrinet-2000, ibm-sp")
def bcast_cutoff(model: Model) -> Finding:
    """It is the better one from 12 KB on, with 8 processes or more."""
    found = {
        (machine, p): crossing(
            lambda size: model.seconds("bcast/binomial", p, size, machine),  # noqa: B023
            lambda size: model.seconds("bcast/scatter_doubling", p, size, machine),  # noqa: B023
            1 << 22,
        )
        for machine in ("myrinet-2000", "ibm-sp")
        for p in (8, 64)
    }
    sizes = list(found.values())
    words = ", ".join(
        f"{in_bytes(size)} ({machine}, p = {p})" for (machine, p), size in found.items()
    )
    near = max(sizes) > 0 and min(sizes) <= 12 << 10
    return Finding(
        f"with recursive doubling as its allgather from {words} on",
        PARTLY if near else FAILS,
        "the cut-off lies a few times lower: the model charges nothing for many small messages"
        if max(sizes) < 12 << 10
        else "the cut-offs of the two machines lie on both sides of the paper's",
    )


@claim("8", "myrinet-2000, ibm-sp")
def alltoall_cutoff(model: Model) -> Finding:
    """Alltoall (64 processes): Bruck beats isend-irecv up to some 256 bytes per process."""
    found = {
        machine: crossing(
            lambda each: model.seconds("alltoall/bruck", 64, 64 * each, machine),  # noqa: B023
            lambda each: model.seconds("alltoall/linear", 64, 64 * each, machine),  # noqa: B023
            1 << 16,
        )
        for machine in ("myrinet-2000", "ibm-sp")
    }
    words = ", ".join(f"{size} bytes ({machine})" for machine, size in found.items())
    near = all(64 <= size <= 1024 for size in found.values())
    return Finding(
        f"up to {words}",
        PARTLY if near else FAILS,
        "within four times; the cut-off is what the overheads of a message are worth in "
        "bytes, and those are assumed",
    )


def _old_reduce_scatter(model: Model, ranks: int, size: int) -> float:
    """A reduce to rank 0 and a linear scatter."""
    return model.seconds("reduce/binomial", ranks, size, "myrinet-2000") + model.seconds(
        "scatter/linear", ranks, size, "myrinet-2000"
    )


@claim("10", "myrinet-2000")
def long_reduce_scatter(model: Model) -> Finding:
    """Reduce-scatter (32 nodes): pairwise exchange is several times as fast as the old reduce and
    scatter from 512 KB on."""
    ratios = [
        _old_reduce_scatter(model, 32, size)
        / model.seconds("reduce_scatter/pairwise", 32, size, "myrinet-2000")
        for size in powers(512 << 10, 8 << 20)
    ]
    return judged(f"{span(ratios)} as fast", min(ratios) >= 3)


@claim("10", "myrinet-2000")
def short_reduce_scatter(model: Model) -> Finding:
    """Short reduce-scatters (64 nodes): recursive halving, likewise."""
    ratios = [
        _old_reduce_scatter(model, 64, size)
        / model.seconds("reduce_scatter/halving", 64, size, "myrinet-2000")
        for size in powers(512, 256 << 10)
    ]
    return judged(f"{span(ratios)} as fast", min(ratios) >= 2)


@claim("10", "myrinet-2000")
def pairwise_over_halving(model: Model) -> Finding:
    """Long reduce-scatters: pairwise exchange beats recursive halving."""
    ratios = [
        model.seconds("reduce_scatter/halving", 32, size, "myrinet-2000")
        / model.seconds("reduce_scatter/pairwise", 32, size, "myrinet-2000")
        for size in powers(512 << 10, 8 << 20)
    ]
    tree = _on_tree("reduce_scatter/halving", 8 << 20) / _on_tree(
        "reduce_scatter/pairwise", 8 << 20
    )
    return judged(
        f"pairwise is {span(ratios)} as fast on one switch, {times(tree)} on the tree of figure 5",
        min(ratios) > 1 and tree > 1,
        "both move the same bytes, and pairwise exchange has far partners, too: only the "
        "ring of neighbours has none",
    )


@claim("11", "myrinet-2000")
def long_reduce(model: Model) -> Finding:
    """Long reduces (64 nodes): Rabenseifner's algorithm is more than twice as fast as the binomial
    tree in some cases."""
    ratios = {
        size: model.seconds("reduce/binomial", 64, size, "myrinet-2000")
        / model.seconds("reduce/halving_gather", 64, size, "myrinet-2000")
        for size in powers(4 << 10, 8 << 20)
    }
    first = min((size for size, ratio in ratios.items() if ratio > 2), default=0)
    return judged(
        f"more than twice from {in_bytes(first)} on, {times(max(ratios.values()))} at 8 MiB",
        first > 0,
    )


@claim("11", "myrinet-2000")
def reduce_cutoff(model: Model) -> Finding:
    """It is the better one from 2 KB on."""
    size = crossing(
        lambda size: model.seconds("reduce/binomial", 64, size, "myrinet-2000"),
        lambda size: model.seconds("reduce/halving_gather", 64, size, "myrinet-2000"),
        1 << 20,
    )
    return cutoff(size, 2048, f"from {in_bytes(size)} on", "it is proportional to the latency")
