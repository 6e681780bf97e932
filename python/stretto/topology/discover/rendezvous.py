# SPDX-License-Identifier: BSD-3-Clause
"""From which size on messages wait for an answer of their receiver."""

from .contention import Mover, Pair

LEAST, MOST = 64, 4 << 20  # bytes that are looked at
NEAR = 64  # bytes: MPIs' limits are powers of two, less a header
TRIES = 6  # a busy machine hides that a message left at once


def rendezvous(mover: Mover, pair: Pair) -> int:
    """Bytes; 0 where messages of MOST bytes leave before their receiver asks for them, or where
    those of LEAST seem not to, because the machines are busy."""
    eager, waits = 0, LEAST
    while mover.eager(pair, waits, TRIES):
        if waits == MOST:
            return 0
        eager, waits = waits, 2 * waits
    while eager and waits - eager > NEAR:
        middle = (eager + waits) // 2
        if mover.eager(pair, middle, TRIES):
            eager = middle
        else:
            waits = middle
    return waits if eager else 0
