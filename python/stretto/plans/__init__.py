# SPDX-License-Identifier: BSD-3-Clause
"""Plans of others: MSCCL's XML and MSCCL++'s JSON (docs/plans.md)."""
