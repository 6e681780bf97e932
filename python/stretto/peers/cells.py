# SPDX-License-Identifier: BSD-3-Clause
"""What is measured, what its bytes are, and what memory traffic it cannot do without."""

# Powers of two, and some between them, which the shipped rules were not made from.
SIZES = (8, 1 << 10, 24 << 10, 64 << 10, 320 << 10, 1 << 20, 5 << 20, 16 << 20)
LARGEST = SIZES[-1]
MEANING = """\
A cell is a function and a number of bytes. In bcast, reduce, allreduce, scan, exscan and
reduce_scatter_block these are the bytes of the vector (all ranks' parts together). In the others
they are the bytes of one part: what each rank contributes to allgather and gather, what it gets
from scatter, what each rank sends to each other in alltoall. In allgatherv they are the mean of the
parts: in the spike rank 0 has all data, in halving each part is half of the one before. Elements
are doubles, which are added; in allreduce-maxloc they are pairs MPI_DOUBLE_INT of 16 bytes. A cell
has at least one element, in reduce_scatter_block one for each rank."""


def _reads_and_writes(ranks: int) -> dict[str, tuple[int, int]]:
    """Of each cell, in its bytes."""
    return {
        "barrier": (0, 0),
        "bcast": (1, ranks - 1),
        "reduce": (ranks, 1),
        "allreduce": (ranks, ranks),
        "allreduce-maxloc": (ranks, ranks),
        "allgather": (ranks, ranks * ranks),
        "allgatherv-spike": (ranks, ranks * ranks),
        "allgatherv-halving": (ranks, ranks * ranks),
        "alltoall": (ranks * ranks, ranks * ranks),
        "reduce_scatter_block": (ranks, 1),
        "gather": (ranks, ranks),
        "scatter": (ranks, ranks),
        "scan": (ranks, ranks),
        "exscan": (ranks - 1, ranks - 1),
    }


CELLS = tuple(_reads_and_writes(1))


def traffic(cell: str, size: int, ranks: int) -> int:
    """Bytes of all ranks' buffers, those that are read once and those that are written once.

    No implementation moves less, unless caches hold what the program reads or writes.
    """
    return sum(_reads_and_writes(ranks)[cell]) * size
