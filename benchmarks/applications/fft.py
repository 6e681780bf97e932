# SPDX-License-Identifier: BSD-3-Clause
"""python fft.py N STEPS: a Fourier transform of N × N numbers and back, STEPS times.

Every rank has N / ranks rows. They are transformed where they are, the array is transposed by an
alltoall, whose messages have (N / ranks)² numbers of 16 bytes, and the columns are transformed.
"""

import sys

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD


def transposed(rows: np.ndarray) -> np.ndarray:
    """The rows that this rank has of the transposed array."""
    ranks, here = world.size, len(rows)
    outgoing = np.ascontiguousarray(rows.reshape(here, ranks, here).transpose(1, 2, 0))
    incoming = np.empty_like(outgoing)
    world.Alltoall(outgoing, incoming)
    return np.ascontiguousarray(incoming.transpose(1, 0, 2)).reshape(here, ranks * here)


def main(n: int, steps: int) -> None:
    if n % world.size:
        sys.exit(f"{n} rows are not shared evenly by {world.size} ranks")
    here = n // world.size
    first = world.rank * here
    i, j = np.mgrid[first : first + here, 0:n]
    begin = np.cos(0.1 * i) + 1j * np.sin(0.3 * j)
    rows = begin
    for _ in range(steps):
        spectrum = np.fft.fft(transposed(np.fft.fft(rows)))
        rows = np.fft.ifft(transposed(np.fft.ifft(spectrum)))
    off = world.allreduce(float(abs(rows - begin).max()), MPI.MAX)
    if world.rank == 0:
        print("back where it began" if off < 1e-10 else f"off by {off}")
    sys.exit(off >= 1e-10)


main(int(sys.argv[1]), int(sys.argv[2]))
