# SPDX-License-Identifier: BSD-3-Clause
"""From which size on messages wait for an answer of their receiver."""

from .contention import Mover, Pair

MOST = 4 << 20  # bytes that are looked at
NEAR = 64  # bytes: MPIs' limits are powers of two, less a header
TRIES = 6  # a busy machine hides that a message left at once


def rendezvous(mover: Mover, pair: Pair) -> int:
    """Bytes; 0 where messages of MOST bytes leave before their receiver asks for them."""
    if mover.eager(pair, MOST, TRIES):
        return 0
    eager, waits = 0, MOST
    while waits - eager > NEAR:
        middle = (eager + waits) // 2
        if mover.eager(pair, middle, TRIES):
            eager = middle
        else:
            waits = middle
    return waits
