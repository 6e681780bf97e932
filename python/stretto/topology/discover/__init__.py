# SPDX-License-Identifier: BSD-3-Clause
"""Finds the tree of switches behind the ranks, by which transfers slow each other down.

`contention` says whether some transfers share a link, `splits` which links between switches that
means, `links` how fast these are, `found` what is written down. What moves the messages is given:
`measure/probe.py` runs them under an MPI.
"""

from .contention import Contention, Mover
from .found import Discovered, Machine, discover

__all__ = ["Contention", "Discovered", "Machine", "Mover", "discover"]
