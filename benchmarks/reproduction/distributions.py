# SPDX-License-Identifier: BSD-3-Clause
"""Parts of different sizes, and rings of more processes than the simulator can take."""

from collections.abc import Sequence

import numpy as np
import stretto

Counts = tuple[int, ...]


def regular(ranks: int, base: int) -> Counts:
    return (base,) * ranks


def broadcast(ranks: int, base: int) -> Counts:
    return (base,) + (0,) * (ranks - 1)


def spike(ranks: int, base: int) -> Counts:
    return (base // 2,) + (base // (2 * (ranks - 1)),) * (ranks - 1)


def half_full(ranks: int, base: int) -> Counts:
    return tuple(0 if i % 2 else 2 * base for i in range(ranks))


def decreasing(ranks: int, base: int) -> Counts:
    return tuple(2 * base * (ranks - 1 - i) // (ranks - 1) for i in range(ranks))


def geometric(ranks: int, base: int) -> Counts:
    """Process 0 has base · p / lg p, the next two half as much each, the next four a quarter, …"""
    lg = np.log2(ranks)
    return tuple(int(base * ranks / (1 << (i + 1).bit_length() - 1) / lg) for i in range(ranks))


DISTRIBUTIONS = (
    regular,
    broadcast,
    spike,
    half_full,
    decreasing,
    geometric,
)  # as the paper has them


def ring_seconds(counts: Sequence[int], block: int, link: stretto.Link) -> float:
    """What the simulator says of allgather/pipelined_ring with this block and, if no block is
    smaller than the largest part, of allgather/ring: rank by rank and round by round, but without
    the schedules, whose messages grow with the square of the ranks. Every part has at least a byte,
    all ranks are on the same level, and the link has α and β only."""
    sizes = np.asarray(counts, dtype=float)
    own = np.ceil(sizes / block).astype(np.int64)
    if own.min() < 1:
        raise ValueError("a part is empty")
    blocks = int(own.sum())
    seconds = np.tile(np.repeat(sizes / own * link.beta, own), 2)  # twice around
    last = np.cumsum(own) - 1 + blocks
    left = blocks - own  # to receive
    now = np.zeros(len(sizes))
    before, out, into = np.empty_like(now), np.empty_like(now), np.empty_like(now)

    def turned(values: np.ndarray, result: np.ndarray) -> None:
        """np.roll(values, 1), but without new memory, which would take most of the time."""
        result[0], result[1:] = values[-1], values[:-1]

    at = last.copy()
    for _ in range(int(left.min())):  # all send and receive
        np.take(seconds, at, out=out)
        at -= 1
        turned(out, into)
        turned(now, before)
        np.maximum(now, before, out=now)
        now += link.alpha
        now += np.maximum(out, into, out=out)
    for k in range(int(left.min()), int(left.max())):
        receives = k < left
        sends = np.roll(receives, -1)
        out = np.where(sends, seconds[last - k], 0)
        into = np.where(receives, np.roll(out, 1), 0)
        begin = np.where(receives, np.maximum(now, np.roll(now, 1)), now)
        now = begin + np.where(receives | sends, link.alpha + np.maximum(out, into), 0)
    return float(now.max())
