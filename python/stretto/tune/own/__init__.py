# SPDX-License-Identifier: BSD-3-Clause
"""Tuning Stretto's own choice: candidates, what the model says of them, measurements, rules."""
