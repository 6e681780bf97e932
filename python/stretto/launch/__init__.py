# SPDX-License-Identifier: BSD-3-Clause
"""Finding MPIs and starting programs under them with Stretto preloaded."""

from .library import folder_of, library_of, link_flags, preload
from .mpi import Mpi, all_mpis, choose_mpi
from .program import mpi_of_program

__all__ = [
    "Mpi",
    "all_mpis",
    "choose_mpi",
    "folder_of",
    "library_of",
    "link_flags",
    "mpi_of_program",
    "preload",
]
