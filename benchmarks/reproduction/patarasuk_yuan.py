# SPDX-License-Identifier: BSD-3-Clause
"""Patarasuk and Yuan 2007, figures 5, 6 and 8: allreduce on two SMP clusters and on Ethernet."""

import stretto
from claims import (
    FAILS,
    HOLDS,
    PARTLY,
    Claim,
    Finding,
    Model,
    collector,
    cutoff,
    in_bytes,
    judged,
    span,
    times,
)
from clusters import SIZES, Smpi, two_levels

CLAIMS: list[Claim] = []
claim = collector(CLAIMS)

NATIVE = "reduce_bcast"  # MPICH before 1.2.6: two binomial trees
RABENSEIFNER = "smpi/rab_rdb"  # as MPICH 2
SMP = ("smpi/smp_rdb", "smpi/smp_binomial")
SEEDS = (1, 2, 3)
PER_PROCESS = 256  # bytes
SMP_CLUSTERS = ("teragrid-64", "teragrid-128", "lonestar-64", "lonestar-128")


def _most(name: str, nodes: int, cores: int) -> int:
    """Messages of one step on one link."""
    messages = stretto.Messages(
        stretto.algorithm_named(f"allreduce/{name}"), stretto.Shape(nodes * cores)
    )
    return max(stretto.traffic(two_levels(nodes, cores), messages).most)


@claim("5", "the tree of nodes")
def ring_without_contention(_model: Model) -> Finding:
    """Processes placed node by node: the ring is free of contention (lemma 5), the other algorithms
    are not."""
    names = ("ring", "recursive_doubling", "halving_doubling")
    found = {
        name: [_most(name, nodes, cores) for nodes, cores in ((32, 2), (16, 4))] for name in names
    }
    words = ", ".join(f"{name} {' and '.join(map(str, most))}" for name, most in found.items())
    return judged(
        f"messages on the most used link, 32 × 2 and 16 × 4 processes: {words}",
        max(found["ring"]) == 1 and min(map(min, list(found.values())[1:])) > 1,
    )


@claim("5", "the tree of nodes")
def ring_reaches_the_bound(_model: Model) -> Finding:
    """The ring reaches the lower bound of lemma 3 if the vector is long."""
    tree, ring, size = two_levels(32, 2), stretto.algorithm_named("allreduce/ring"), 64 << 20
    shape = stretto.Shape(64)
    traffic = stretto.traffic(tree, stretto.Messages(ring, shape))
    seconds = stretto.time_on_tree(traffic, ring.blocks(shape), size).seconds
    lemma = 2 * 63 / 64 * size / 245e6
    bound = stretto.lower_bound(tree, stretto.Collective.allreduce, 0, size).seconds
    return judged(
        f"{seconds / lemma:.3f} times the lemma's time (64 processes, 64 MiB), "
        f"{seconds / bound:.3f} times the bound of the "
        "tree, which counts its nodes",
        seconds < 1.02 * lemma,
    )


def _threshold(smpi: Smpi, cluster: str) -> Finding:
    ranks = int(cluster.rpartition("-")[2])
    size = smpi.first(cluster, [NATIVE])
    if not size:
        return Finding("not up to 1 MiB", FAILS, "the links are too fast for their latency")
    return cutoff(
        size,
        PER_PROCESS * ranks,
        f"from {in_bytes(size)} on",
        "a latency is worth 3.5 KiB with what is assumed here, on the Myrinet cluster 1.7",
    )


@claim("5", "SimGrid, teragrid-64")
def teragrid_64(smpi: Smpi) -> Finding:
    """Myrinet cluster, 64 processes on 32 nodes: faster than the native allreduce from 16 KB on
    (256 bytes per process)."""
    return _threshold(smpi, "teragrid-64")


@claim("5", "SimGrid, teragrid-128")
def teragrid_128(smpi: Smpi) -> Finding:
    """128 processes on 64 nodes: from 32 KB on."""
    return _threshold(smpi, "teragrid-128")


def _smp_over_native(smpi: Smpi, clusters: tuple[str, ...]) -> Finding:
    """From 16 KiB on, where the paper's curves are apart."""
    sizes = [size for size in SIZES if size >= 16 << 10]
    found = {
        one: [smpi.us(c, NATIVE)[size] / smpi.us(c, one)[size] for c in clusters for size in sizes]
        for one in SMP
    }
    words = ", ".join(
        f"{one.removeprefix('smpi/')} {span(ratios)}" for one, ratios in found.items()
    )
    good = [min(ratios) > 1.02 for ratios in found.values()]
    return Finding(
        f"{words} as fast (16 KiB to 1 MiB)",
        HOLDS if all(good) else PARTLY if any(good) else FAILS,
        "SMPI's smp_binomial sends between nodes what two binomial trees send in this placement",
    )


@claim("5", "SimGrid, teragrid")
def smp_over_native_on_teragrid(smpi: Smpi) -> Finding:
    """Both algorithms for SMP clusters (SMP-rdb, SMP-binomial) beat the native one."""
    return _smp_over_native(smpi, SMP_CLUSTERS[:2])


def _over_smp(smpi: Smpi, clusters: tuple[str, ...]) -> Finding:
    """The ring at 1 MiB, and from where on it is ahead of both."""
    last = SIZES[-1]
    ratios = {
        one: [smpi.us(c, one)[last] / smpi.us(c, "the ring")[last] for c in clusters] for one in SMP
    }
    words = ", ".join(f"{one.removeprefix('smpi/')} {span(found)}" for one, found in ratios.items())
    first = [in_bytes(smpi.first(c, SMP)) for c in clusters]
    return judged(
        f"{words} as fast at 1 MiB; ahead of both from {' and '.join(first)} on",
        min(map(min, ratios.values())) > 1.5,
    )


@claim("5", "SimGrid, teragrid")
def over_smp_on_teragrid(smpi: Smpi) -> Finding:
    """The ring is significantly faster than both if the vector is long."""
    return _over_smp(smpi, SMP_CLUSTERS[:2])


@claim("6", "SimGrid, lonestar-64")
def lonestar_64(smpi: Smpi) -> Finding:
    """InfiniBand cluster, 64 processes on 16 nodes: faster than the native allreduce from 16 KB
    on."""
    return _threshold(smpi, "lonestar-64")


@claim("6", "SimGrid, lonestar-128")
def lonestar_128(smpi: Smpi) -> Finding:
    """128 processes on 32 nodes: from 32 KB on."""
    return _threshold(smpi, "lonestar-128")


@claim("6", "SimGrid, lonestar")
def over_smp_on_lonestar(smpi: Smpi) -> Finding:
    """Significantly faster than SMP-rdb and SMP-binomial if the vector is long."""
    return _over_smp(smpi, SMP_CLUSTERS[2:])


@claim("5, 6", "SimGrid, all four")
def over_rabenseifner(smpi: Smpi) -> Finding:
    """Not in the paper: the ring beats Rabenseifner's algorithm, too, which MPICH has had since
    1.2.6."""
    last = SIZES[-1]
    found = {c: smpi.us(c, RABENSEIFNER)[last] / smpi.us(c, "the ring")[last] for c in SMP_CLUSTERS}
    words = ", ".join(f"{times(ratio)} ({c})" for c, ratio in found.items())
    return judged(
        f"as fast at 1 MiB: {words}",
        min(found.values()) > 1,
        "placed node by node, its long messages stay within a node, and it needs 12 or 14 "
        "latencies instead of 126 or 254",
    )


@claim("5, 6", "SimGrid, both with 64")
def same_ring(smpi: Smpi) -> Finding:
    """Not in the paper: Stretto's ring is theirs; it takes as long as SMPI's `lr`, which is by the
    authors."""
    apart = max(
        abs(smpi.us(c, "smpi/lr")[size] / smpi.us(c, "the ring")[size] - 1)
        for c in ("teragrid-64", "lonestar-64")
        for size in SIZES
    )
    return judged(f"at most {apart:.2%} apart", apart < 0.01)


def _on_ethernet(smpi: Smpi, cluster: str, stated: int) -> Finding:
    """Against what LAM and MPICH 2 have, the ranks at random."""
    found = [smpi.first(cluster, [NATIVE, RABENSEIFNER], seed) for seed in SEEDS]
    if not all(found):
        return Finding("not up to 1 MiB in all three placements", FAILS, "")
    words = ", ".join(map(in_bytes, found))
    return cutoff(
        sorted(found)[1],
        stated,
        f"from {words} on in three random placements",
        "the trees and placements are ours",
    )


@claim("8", "SimGrid, ethernet-1")
def ethernet_1(smpi: Smpi) -> Finding:
    """Gigabit Ethernet, 32 machines, topology (1): the best of the three from 256 KB on."""
    return _on_ethernet(smpi, "ethernet-1", 256 << 10)


@claim("8", "SimGrid, ethernet-2")
def ethernet_2(smpi: Smpi) -> Finding:
    """Topology (2): from 128 KB on."""
    return _on_ethernet(smpi, "ethernet-2", 128 << 10)


@claim("8", "SimGrid, ethernet")
def ethernet_in_order(smpi: Smpi) -> Finding:
    """Not in the paper: with the ranks switch by switch it beats MPICH 2's algorithm, too."""
    last = SIZES[-1]
    found = {
        c: smpi.us(c, RABENSEIFNER)[last] / smpi.us(c, "the ring")[last]
        for c in ("ethernet-1", "ethernet-2")
    }
    words = ", ".join(f"{times(ratio)} ({c})" for c, ratio in found.items())
    return judged(
        f"as fast at 1 MiB: {words}",
        min(found.values()) > 1,
        "in this order only its shortest messages share links, and SMPI's latency of long "
        "messages counts for the ring 62 times",
    )


@claim("8", "SimGrid, ethernet-2")
def contention_on_ethernet(smpi: Smpi) -> Finding:
    """Topology (2): beyond 128 KB MPICH's algorithm suffers from contention."""
    ratios = [
        smpi.us("ethernet-2", RABENSEIFNER, seed)[size]
        / smpi.us("ethernet-2", "the ring", seed)[size]
        for seed in SEEDS
        for size in SIZES
        if size > 128 << 10
    ]
    return judged(f"it takes {span(ratios)} of the ring's time from 256 KiB on", min(ratios) > 1.5)
