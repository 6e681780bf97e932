# SPDX-License-Identifier: BSD-3-Clause
"""Tuning by measurement: `stretto tune`."""
