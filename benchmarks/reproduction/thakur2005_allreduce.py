# SPDX-License-Identifier: BSD-3-Clause
"""Thakur, Rabenseifner and Gropp 2005, figures 14 to 18: the fastest allreduce, and by how much."""

import itertools
from collections import defaultdict
from statistics import mean

from claims import (
    FAILS,
    HOLDS,
    OPEN,
    PARTLY,
    Claim,
    Finding,
    Model,
    collector,
    crossing,
    cutoff,
    in_bytes,
    judged,
    powers,
    span,
)
from thakur2005 import is_power

CLAIMS: list[Claim] = []
claim = collector(CLAIMS)

TREE = "reduce_bcast"
NEW = ("recursive_doubling", "halving_doubling", "binary_blocks", "ring")
MACHINE = "cray-t3e"
SENDERS = "cray-t3e-senders"
MOST_RANKS = 131  # of figure 15
RING_15 = {3, 5, 7, 9, 10, 11, 17}  # where the paper has the ring first at 32 KB
HALVING_15 = {33, 65, 66, 97, 129, 130, 131}  # halving and doubling; 128 is the same algorithm
ONE_LATENCY = (
    "a round costs one latency here, however many messages a rank of a small block sends in it"
)
IN_TURN = "if the whole latency is the sender's, message by message"


def allreduce(model: Model, name: str, ranks: int, size: int, machine: str = MACHINE) -> float:
    return model.seconds(f"allreduce/{name}", ranks, size, machine)


def winner(model: Model, ranks: int, size: int) -> str:
    """Of the paper's five; where halving and doubling is binary blocks, the former."""
    return min((*NEW, TREE), key=lambda name: allreduce(model, name, ranks, size))


def gap(ranks: int) -> int:
    """δ_expo,max of section 5.2."""
    exponents = [e for e in range(ranks.bit_length()) if ranks >> e & 1]
    return max((b - a for a, b in itertools.pairwise(exponents)), default=0)


def listed(ranks: set[int]) -> str:
    return ", ".join(map(str, sorted(ranks))) or "none"


@claim("14", MACHINE)
def winner_of_short(model: Model) -> Finding:
    """Up to 32 bytes recursive doubling is the fastest."""
    cells = [(p, size) for p in range(2, MOST_RANKS + 1) for size in powers(8, 32)]
    worst = max(
        allreduce(model, "recursive_doubling", *cell)
        / allreduce(model, winner(model, *cell), *cell)
        for cell in cells
    )
    words = f"never behind by more than {worst - 1:.0%}, for 2 to {MOST_RANKS} processes"
    return judged(words, worst < 1.02)


@claim("14", MACHINE)
def tree_at_1k(model: Model) -> Finding:
    """Up to 1 KB the binomial tree is the best if p ≠ 2^k, but not much better than recursive
    doubling."""
    ratios = [
        allreduce(model, TREE, p, 1024) / allreduce(model, "recursive_doubling", p, 1024)
        for p in range(3, MOST_RANKS + 1)
        if not is_power(p)
    ]
    return judged(
        f"the tree takes {span(ratios)} of the time of recursive doubling",
        max(ratios) < 1,
        "it has up to twice the rounds, and the model knows nothing that speaks for it",
    )


def _ring_wins(model: Model, size: int) -> set[int]:
    return {
        p for p in range(2, MOST_RANKS + 1) if not is_power(p) and winner(model, p, size) == "ring"
    }


@claim("14", MACHINE)
def ring_region(model: Model) -> Finding:
    """For longer vectors the ring is the best of some numbers of processes below 32."""
    found = {size: _ring_wins(model, size) for size in powers(2 << 10, 256 << 10)}
    most = {size: max(wins, default=0) for size, wins in found.items()}
    below = max((size for size, p in most.items() if p < 32), default=0)
    words = "; ".join(
        f"{in_bytes(size)}: {len(wins)}, up to p = {most[size]}"
        for size, wins in found.items()
        if wins
    )
    return Finding(
        f"how many of p ≠ 2^k up to {MOST_RANKS}: {words}",
        HOLDS if max(most.values()) < 32 else PARTLY if below else FAILS,
        f"so up to {in_bytes(below)}; with a longer vector the ring's volume pays on more "
        "processes",
    )


@claim("14", MACHINE)
def ring_of_15(model: Model) -> Finding:
    """On 15 processes the ring is the best from 64 KB on (Rabenseifner 2004, section 4)."""
    size = crossing(
        lambda size: min(allreduce(model, name, 15, size) for name in (TREE, *NEW[:3])),
        lambda size: allreduce(model, "ring", 15, size),
        8 << 20,
    )
    return cutoff(size, 64 << 10, f"from {in_bytes(size)} on", "it is proportional to the latency")


@claim("14", MACHINE)
def binary_blocks_by_rule(model: Model) -> Finding:
    """On more than 32 processes and from 16 KB on binary blocks beat halving and doubling if δ <
    lg(bytes)/2 - 2.5."""
    inside = outside = right = wrong = 0
    for p in range(33, MOST_RANKS + 1):
        for size in powers(16 << 10, 8 << 20):
            if is_power(p):
                continue
            faster = allreduce(model, "binary_blocks", p, size) < allreduce(
                model, "halving_doubling", p, size
            )
            if gap(p) < (size.bit_length() - 1) / 2 - 2.5:
                inside, right = inside + 1, right + faster
            else:
                outside, wrong = outside + 1, wrong + faster
    return Finding(
        f"faster in {right} of {inside} cells where the rule says so, and in {wrong} of "
        f"{outside} where it does not",
        HOLDS if right == inside and not wrong else PARTLY if right > 0.95 * inside else FAILS,
        ONE_LATENCY,
    )


@claim("14", MACHINE)
def halving_of_33(model: Model) -> Finding:
    """On 33 processes halving and doubling is the best below 32 KB."""
    sizes = powers(2 << 10, 16 << 10)
    behind = {
        machine: [
            allreduce(model, "halving_doubling", 33, size, machine)
            / min(allreduce(model, name, 33, size, machine) for name in (*NEW, TREE))
            - 1
            for size in sizes
        ]
        for machine in (MACHINE, SENDERS)
    }
    wins, in_turn = (sum(share == 0 for share in one) for one in behind.values())
    return Finding(
        f"in {wins} of {len(sizes)} sizes from 2 to 16 KiB, {max(behind[MACHINE]):.0%} behind at "
        f"most; {IN_TURN}, in {in_turn}, {max(behind[SENDERS]):.0%} behind at most",
        HOLDS if wins == len(sizes) else PARTLY if in_turn == len(sizes) else FAILS,
        ONE_LATENCY,
    )


@claim("15", MACHINE)
def new_over_tree(model: Model) -> Finding:
    """At 32 KB the new algorithms beat the binomial tree on every number of processes."""
    ratios = [
        allreduce(model, TREE, p, 32 << 10)
        / min(allreduce(model, name, p, 32 << 10) for name in NEW)
        for p in range(2, MOST_RANKS + 1)
    ]
    return judged(f"{span(ratios)} as fast on 2 to {MOST_RANKS}", min(ratios) > 1, "not on all")


@claim("15", MACHINE)
def ring_at_32k(model: Model) -> Finding:
    """The ring is the fastest on 3, 5, 7, 9, 10, 11 and 17 processes."""
    found = _ring_wins(model, 32 << 10)
    same = found & RING_15
    return Finding(
        f"on {listed(found)}",
        HOLDS if found == RING_15 else PARTLY if len(same) >= 3 else FAILS,
        f"{len(same)} of {len(RING_15)}, and {len(found - RING_15)} more; elsewhere binary "
        "blocks are ahead by up to "
        f"{max((_behind(model, p) for p in RING_15 - found), default=0):.0%}",
    )


def _behind(model: Model, ranks: int) -> float:
    """How far the ring is behind at 32 KB."""
    return (
        allreduce(model, "ring", ranks, 32 << 10)
        / allreduce(model, winner(model, ranks, 32 << 10), ranks, 32 << 10)
        - 1
    )


def _halving_wins(model: Model, machine: str) -> set[int]:
    """At 32 KB against binary blocks, up to 131 processes."""
    return {
        p
        for p in range(3, MOST_RANKS + 1)
        if allreduce(model, "halving_doubling", p, 32 << 10, machine)
        < 0.999 * allreduce(model, "binary_blocks", p, 32 << 10, machine)
    }


@claim("15", MACHINE)
def halving_at_32k(model: Model) -> Finding:
    """Halving and doubling is faster than binary blocks on 33, 65, 66, 97, 129, 130 and 131
    processes."""
    found, in_turn = _halving_wins(model, MACHINE), _halving_wins(model, SENDERS)
    return Finding(
        f"on {listed(found & HALVING_15)}; {IN_TURN}, on {listed(in_turn & HALVING_15)}, and on "
        f"{len(in_turn - HALVING_15)} others up to {MOST_RANKS}",
        HOLDS if found == HALVING_15 else FAILS,
        f"{ONE_LATENCY}; for {listed(HALVING_15 - in_turn)} that is not the reason, and none is "
        "known",
    )


def _speeds_by_gap(model: Model, machine: str) -> list[float]:
    """Mean MB/s of binary blocks at 32 KB on 33 to 131 processes, for δ = 1, 2, …"""
    speeds = defaultdict(list)
    for p in range(33, MOST_RANKS + 1):
        if not is_power(p):
            speeds[gap(p)].append(
                (32 << 10) / allreduce(model, "binary_blocks", p, 32 << 10, machine) / 1e6
            )
    return [mean(speeds[delta]) for delta in sorted(speeds)]


@claim("15", MACHINE)
def blocks_by_gap(model: Model) -> Finding:
    """The bandwidth of binary blocks falls with δ, the largest gap between the powers of two in
    p."""
    own, in_turn = _speeds_by_gap(model, MACHINE), _speeds_by_gap(model, SENDERS)
    falls, falls_in_turn = (one == sorted(one, reverse=True) for one in (own, in_turn))
    words = [" ".join(f"{speed:.0f}" for speed in one) for one in (own, in_turn)]
    return Finding(
        f"MB/s on 33 to {MOST_RANKS} processes for δ = 1, 2, …: {words[0]}; {IN_TURN}: {words[1]}",
        HOLDS if falls else PARTLY if falls_in_turn else FAILS,
        ONE_LATENCY,
    )


@claim("16", "ibm-sp")
def against_ibm(_model: Model) -> Finding:
    """Allreduce and reduce against IBM's MPI: 1.5 times at 8 to 64 KB, 2 to 5 times beyond; hybrid
    1.5 to 3 times."""
    return Finding("none", OPEN, "nobody knows IBM's algorithm")


def _against_old(model: Model, name: str, old: str, nodes: list[int], per_node: int) -> list[float]:
    """Best of the new ones over the old one, for long vectors."""
    new = list(NEW[1:]) if name == "allreduce" else ["halving_gather", "binary_blocks", "ring"]

    def seconds(algorithm: str, ranks: int, size: int) -> float:
        return model.seconds(f"{name}/{algorithm}", ranks, size, "helics", per_node=per_node)

    return [
        seconds(old, n * per_node, size) / min(seconds(one, n * per_node, size) for one in new)
        for n in nodes
        for size in powers(32 << 10, 8 << 20)
    ]


def _within(ratios: list[float], low: float, high: float) -> tuple[str, str]:
    """Words and verdict: the share of cells in a range."""
    inside = sum(low <= ratio <= high for ratio in ratios) / len(ratios)
    words = f"{span(ratios)}, {inside:.0%} of the cells within {low:g} to {high:g}"
    return words, HOLDS if inside > 0.9 else PARTLY if inside >= 0.5 else FAILS


@claim("17", "helics")
def against_mpich1(model: Model) -> Finding:
    """Against MPICH-1's allreduce (two binomial trees), a process per processor, two to a node: 3
    to 7 times."""
    ratios = _against_old(model, "allreduce", TREE, [4, 8, 16, 32, 64], 2)
    words, verdict = _within(ratios, 3, 7)
    return Finding(
        f"{words} (8 to 128 processes, 32 KiB to 8 MiB)",
        verdict,
        "it grows with lg p and with the vector",
    )


@claim("17", "helics")
def against_mpich1_hybrid(model: Model) -> Finding:
    """The same, a process per node: 2 to 5 times."""
    ratios = _against_old(model, "allreduce", TREE, [4, 8, 16, 32, 64], 1)
    words, verdict = _within(ratios, 2, 5)
    return Finding(
        f"{words} (4 to 64 processes, 32 KiB to 8 MiB)",
        verdict,
        "it grows with lg p and with the vector",
    )


@claim("17", "helics")
def reduce_against_mpich1(model: Model) -> Finding:
    """Reduce against MPICH-1's binomial tree, a process per node: 2 to 5 times."""
    ratios = _against_old(model, "reduce", "binomial", [4, 8, 16, 32, 64], 1)
    words, verdict = _within(ratios, 2, 5)
    return Finding(
        f"{words} (4 to 64 processes, 32 KiB to 8 MiB)", verdict, "few processes have less to gain"
    )


@claim("18", MACHINE)
def against_cray(_model: Model) -> Finding:
    """Against Cray's MPI: 3 to 5 times with MPI_SUM, up to 100 times with MPI_MAXLOC."""
    return Finding(
        "none",
        OPEN,
        "nobody knows Cray's algorithm, and the 100 times are the cost of its derived types",
    )
