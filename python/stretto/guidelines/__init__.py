# SPDX-License-Identifier: BSD-3-Clause
"""Guidelines that a consistent MPI keeps: no function is slower than others in its place."""
