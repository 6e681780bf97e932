# SPDX-License-Identifier: BSD-3-Clause
"""One file per kind of figure: a function from a table to a figure, which runs nothing."""
