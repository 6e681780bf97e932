# SPDX-License-Identifier: BSD-3-Clause
"""Träff, Ripke, Siebert, Balaji, Thakur and Gropp, figures 4 to 10: the pipelined ring."""

import functools
import random
from collections.abc import Callable

import stretto
from claims import (
    FAILS,
    HOLDS,
    PARTLY,
    Claim,
    Finding,
    Model,
    collector,
    in_bytes,
    judged,
    off,
    powers,
    span,
    times,
)
from clusters import BASES, Smpi
from distributions import (
    Counts,
    broadcast,
    decreasing,
    geometric,
    half_full,
    regular,
    ring_seconds,
    spike,
)

CLAIMS: list[Claim] = []
claim = collector(CLAIMS)

Distribution = Callable[[int, int], Counts]
K, M = 1 << 10, 1 << 20
WHOLE = 1 << 60  # no part is cut


def ring(model: Model, counts: Counts, machine: str, per_node: int = 1) -> float:
    return model.seconds(
        "allgather/ring", len(counts), sum(counts), machine, counts=counts, per_node=per_node
    )


def pipelined(
    model: Model,
    counts: Counts,
    machine: str,
    block: int = 0,
    per_node: int = 1,
    order: tuple[int, ...] = (),
) -> float:
    """With the paper's fixed block; 0: the size that Stretto takes from the paper's (2)."""
    return model.seconds(
        "allgather/pipelined_ring",
        len(counts),
        sum(counts),
        machine,
        counts=counts,
        value=block,
        per_node=per_node,
        order=order,
    )


def _ratios(
    model: Model,
    distribution: Distribution,
    bases: list[int],
    machine: str,
    ranks: int,
    block: int,
    per_node: int = 1,
) -> list[float]:
    found = []
    for base in bases:
        counts = distribution(ranks, base)
        found.append(
            ring(model, counts, machine, per_node)
            / pipelined(model, counts, machine, block, per_node)
        )
    return found


@claim("4", "sx-8")
def broadcast_on_30_nodes(model: Model) -> Finding:
    """SX-8, 30 nodes, all data on one: with 32 MB in blocks of 1 MB the pipelined ring can be
    32·29/(29+31) ≈ 15 times as fast as the plain one, and is more than 10 times."""
    (ratio,) = _ratios(model, broadcast, [32 * M], "sx-8", 30, M)
    stated = 32 * 29 / (29 + 31)
    return Finding(
        f"{times(ratio)}",
        HOLDS if 10 < ratio < 1.05 * stated else FAILS,
        f"{off(ratio, stated)} of what is possible",
    )


@claim("4", "sx-8")
def others_on_30_nodes(model: Model) -> Finding:
    """Spike, decreasing and geometric: significantly faster at 32 MB."""
    found = {
        one: _ratios(model, one, [32 * M], "sx-8", 30, M)[0]
        for one in (spike, decreasing, geometric)
    }
    words = ", ".join(f"{one.__name__} {times(ratio)}" for one, ratio in found.items())
    return judged(words, min(found.values()) > 1.2)


@claim("4", "sx-8")
def broadcast_against_spike(model: Model) -> Finding:
    """The plain ring takes twice as long if one process has all as on the spike, the pipelined one
    about as long."""
    one, two = broadcast(30, 32 * M), spike(30, 32 * M)
    plain = ring(model, one, "sx-8") / ring(model, two, "sx-8")
    cut = pipelined(model, one, "sx-8", M) / pipelined(model, two, "sx-8", M)
    alike = abs(plain / 2 - 1) < 0.1, abs(cut - 1) < 0.1
    return Finding(
        f"{times(plain)} and {times(cut)}",
        HOLDS if all(alike) else PARTLY if any(alike) else FAILS,
        "on the spike the other processes' parts, of half a block each, fill the pipeline, "
        "so that there are fewer full rounds",
    )


@claim("4", "sx-8")
def regular_on_30_nodes(model: Model) -> Finding:
    """Regular parts: the two rings are alike."""
    ratios = _ratios(model, regular, powers(4 * K, 32 * M), "sx-8", 30, M)
    blocks = _ratios(model, regular, powers(4 * K, 32 * M), "sx-8", 30, 0)
    worst = 1 - min(ratios + blocks)
    return Finding(
        f"pipelined {span(ratios)} as fast in blocks of 1 MiB, {span(blocks)} in Stretto's",
        HOLDS if worst < 0.1 else FAILS,
        f"within {worst:.0%}: blocks that need not be cost latencies",
    )


@claim("4", "sx-8")
def half_full_on_30_nodes(model: Model) -> Finding:
    """Half full: alike, too."""
    ratios = _ratios(model, half_full, powers(4 * K, 32 * M), "sx-8", 30, M)
    return judged(
        f"pipelined {span(ratios)} as fast",
        max(ratios) < 1.25,
        "in the plain ring every other round of a process is empty, and in the model it "
        "lasts as long as its neighbour's",
    )


@claim("4", "sx-8")
def eight_on_a_node(model: Model) -> Finding:
    """Eight processes on each of 30 nodes, all data on one process or a spike: significantly
    faster."""
    found = [_ratios(model, one, [8 * M, 32 * M], "sx-8", 240, M, 8) for one in (broadcast, spike)]
    return judged(
        f"{span(found[0])} and {span(found[1])} as fast (8 and 32 MiB)", min(map(min, found)) > 2
    )


@claim("4", "sx-8")
def random_order(model: Model) -> Finding:
    """With the processes in random order: almost the same."""
    found = []
    for distribution in (spike, decreasing, geometric):
        counts = distribution(30, 32 * M)
        order = list(range(30))
        random.Random(1).shuffle(order)
        mixed = pipelined(model, counts, "sx-8", M, order=tuple(order))
        found.append(mixed / pipelined(model, counts, "sx-8", M))
    return judged(
        f"{span(found)} of the time (spike, decreasing, geometric, 32 MiB)",
        0.9 < min(found) <= max(found) < 1.1,
    )


BLOCKS = [32 * K, 64 * K, 128 * K, 512 * K, 1024 * K]


@claim("5", "infiniband")
def spike_by_block(model: Model) -> Finding:
    """InfiniBand, 16 × 2 processes, spike: faster than the plain ring with blocks of 32 KB to 1
    MB."""
    found = {
        block: _ratios(model, spike, [8 * M, 32 * M], "infiniband", 32, block, 2)
        for block in BLOCKS
    }
    words = ", ".join(f"{in_bytes(block)} {span(ratios)}" for block, ratios in found.items())
    return judged(f"8 and 32 MiB: {words}", min(map(min, found.values())) > 1)


@claim("5", "infiniband")
def decreasing_by_block(model: Model) -> Finding:
    """Decreasing: too small a block makes it slower than the plain ring."""
    found = {
        block: _ratios(model, decreasing, powers(64 * K, 4 * M), "infiniband", 32, block, 2)
        for block in BLOCKS
    }
    words = ", ".join(f"{in_bytes(block)} {span(ratios)}" for block, ratios in found.items())
    return judged(
        f"as fast, base sizes of 64 KiB to 4 MiB: {words}",
        min(found[BLOCKS[0]]) < 1,
        "4 µs are worth 4 KB here, so that blocks of 32 KB are long ones; what a block costs "
        "beside that is not known",
    )


@claim("5", "infiniband")
def best_block(model: Model) -> Finding:
    """The best block depends on the size and the distribution."""
    found: dict[tuple[str, int], int] = {}
    for distribution in (spike, decreasing):
        for base in (256 * K, M, 8 * M):
            counts = distribution(32, base)
            found[distribution.__name__, base] = min(
                BLOCKS, key=lambda block: pipelined(model, counts, "infiniband", block, 2)
            )
    words = ", ".join(
        f"{in_bytes(block)} ({name} {in_bytes(base)})" for (name, base), block in found.items()
    )
    return judged(words, len(set(found.values())) > 1, "it is the smallest of all throughout")


GIGABIT = "gigabit-96"


@claim("6", GIGABIT)
def spike_on_96(model: Model) -> Finding:
    """Gigabit Ethernet, 24 nodes of 4, spike, blocks of 32 KB: slightly faster for small parts,
    considerably for large ones (to reach: 10 times)."""
    bases = [4 * K, 64 * K, M, 8 * M, 64 * M]
    fixed = _ratios(model, spike, bases, GIGABIT, 96, 32 * K, 4)
    own = _ratios(model, spike, bases, GIGABIT, 96, 0, 4)
    sizes = ", ".join(map(in_bytes, bases))
    return judged(
        f"{' '.join(map(times, fixed))} for {sizes}; in Stretto's blocks "
        f"{' '.join(map(times, own))}",
        fixed[-1] >= 10 and own[-1] >= 10 and min(fixed + own) > 0.98,
        "not 10 times",
    )


@claim("6", GIGABIT)
def geometric_on_96(model: Model) -> Finding:
    """The geometric curve, likewise."""
    bases = [K, 16 * K, 256 * K, M]
    fixed = _ratios(model, geometric, bases, GIGABIT, 96, 32 * K, 4)
    own = _ratios(model, geometric, bases, GIGABIT, 96, 0, 4)
    sizes = ", ".join(map(in_bytes, bases))
    return judged(
        f"{' '.join(map(times, fixed))} for base sizes of {sizes}; in Stretto's blocks "
        f"{' '.join(map(times, own))}",
        fixed[-1] > 2 and own[-1] > 2 and min(fixed + own) > 0.99,
        "smaller parts lose a little",
    )


@claim("6", GIGABIT)
def regular_on_96(model: Model) -> Finding:
    """Regular parts on the same cluster: never slower."""
    bases = powers(64, 256 * K)
    own = _ratios(model, regular, bases, GIGABIT, 96, 0, 4)
    fixed = _ratios(model, regular, bases, GIGABIT, 96, 32 * K, 4)
    return Finding(
        f"{span(own)} as fast in Stretto's blocks, {span(fixed)} in blocks of 32 KiB (64 "
        "bytes to 256 KiB of each process)",
        HOLDS if min(own) > 0.999 else FAILS,
        "Stretto does not cut equal parts, and then the two are one algorithm",
    )


@claim("6", "SimGrid, gigabit-96")
def spike_by_simgrid(smpi: Smpi) -> Finding:
    """The spike again, SMPI's plain ring against the routine of `stretto generate`, which cuts
    parts into 64 KiB: 10 times for large parts, and never slower."""
    ratios = [smpi.allgatherv("spike", base) for base in BASES["spike"]]
    return judged(
        f"{' '.join(map(times, ratios))} for {', '.join(map(in_bytes, BASES['spike']))}",
        ratios[-1] >= 10 and min(ratios) > 0.98,
        "not 10 times",
    )


@claim("6", "SimGrid, gigabit-96")
def regular_by_simgrid(smpi: Smpi) -> Finding:
    """Regular parts, likewise: never slower."""
    ratios = [smpi.allgatherv("regular", base) for base in BASES["regular"]]
    words = ", ".join(map(in_bytes, BASES["regular"]))
    return judged(f"{span(ratios)} as fast ({words})", min(ratios) > 0.999, "slower somewhere")


@claim("7", GIGABIT)
def idle_on_96(model: Model) -> Finding:
    """The plain ring's processes are idle most of the time, the pipelined ring's communicate much
    more."""
    counts = spike(96, 8 * M)
    busy = [
        model.sending("allgather/ring", counts, GIGABIT, 4),
        model.sending("allgather/pipelined_ring", counts, GIGABIT, 4, 32 * K),
    ]
    return judged(
        f"on the mean a process sends for {busy[0]:.0%} and {busy[1]:.0%} of the time (spike, "
        "8 MiB)",
        busy[0] < 0.25 and busy[1] > 4 * busy[0],
        "not much more",
    )


def _of_many(model: Model, ranks: int, base: int, machine: str) -> float:
    """Plain over pipelined on the geometric curve, blocks of 32 KiB."""
    link = model.machine(machine).network
    return _of_many_on(ranks, base, link.alpha, link.beta)


@functools.cache
def _of_many_on(ranks: int, base: int, alpha: float, beta: float) -> float:
    counts, link = geometric(ranks, base), stretto.Link(alpha=alpha, beta=beta)
    return ring_seconds(counts, WHOLE, link) / ring_seconds(counts, 32 * K, link)


@claim("9", "sicortex", slow=True)
def geometric_on_5772(model: Model) -> Finding:
    """SiCortex, 5772 processes, geometric curve, blocks of 32 KB: significantly faster as the parts
    grow."""
    found = {base: _of_many(model, 5772, base, "sicortex") for base in (16, 64, 256, K, 4 * K)}
    words = ", ".join(f"{in_bytes(base)} {times(ratio)}" for base, ratio in found.items())
    rising = list(found.values())
    return judged(f"base size {words}", rising == sorted(rising) and rising[-1] > 2)


@claim("10", "blue-gene-p", slow=True)
def geometric_by_ranks(model: Model) -> Finding:
    """Blue Gene/P, the same with up to 65 536 processes and 64 bytes: significantly faster, the
    more the more processes."""
    found = {
        ranks: _of_many(model, ranks, 64, "blue-gene-p") for ranks in (1 << 12, 1 << 14, 1 << 16)
    }
    words = ", ".join(f"{ranks} {times(ratio)}" for ranks, ratio in found.items())
    return judged(
        f"processes {words}",
        found[1 << 16] > 2 and found[1 << 12] <= found[1 << 14] <= found[1 << 16],
    )


@claim("10", "blue-gene-p", slow=True)
def geometric_by_size(model: Model) -> Finding:
    """65 536 processes: the more the larger the parts."""
    found = {base: _of_many(model, 1 << 16, base, "blue-gene-p") for base in (16, 64, 512)}
    words = ", ".join(f"{in_bytes(base)} {times(ratio)}" for base, ratio in found.items())
    rising = list(found.values())
    return judged(f"base size {words}", rising == sorted(rising) and rising[-1] > 2)
