# SPDX-License-Identifier: BSD-3-Clause
"""Finding MPIs and starting programs under them with Stretto preloaded."""

from .library import library_of, preload
from .mpi import Mpi, all_mpis, choose_mpi
from .program import mpi_of_program

__all__ = ["Mpi", "all_mpis", "choose_mpi", "library_of", "mpi_of_program", "preload"]
