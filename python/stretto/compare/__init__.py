# SPDX-License-Identifier: BSD-3-Clause
"""A program of the user's with and without Stretto, in turn: what `stretto compare` measures."""
