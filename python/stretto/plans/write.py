# SPDX-License-Identifier: BSD-3-Clause
"""Schedules as plans for GPUs."""

from .. import _core
from .write_msccl import msccl
from .write_mscclpp import mscclpp


def write_plan(form: str, schedules: list[_core.Schedule]) -> str:
    """Of all ranks, proved; raises Error for what no plan can say."""
    if form == "msccl":
        return msccl(schedules)
    return mscclpp(schedules)
