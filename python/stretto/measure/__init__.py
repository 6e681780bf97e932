# SPDX-License-Identifier: BSD-3-Clause
"""What all that measures shares: the driver under an MPI, points, journals, how busy it is here."""
