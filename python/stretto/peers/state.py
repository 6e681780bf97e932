# SPDX-License-Identifier: BSD-3-Clause
"""The state of the machine, which says what its memory and its cores could do at that time."""

import json
import os
import platform
import re
from pathlib import Path

from ..errors import Error
from ..launch.ask import ask
from ..launch.library import machine_program

PATIENCE = 60.0  # seconds
# Between two cores: ns of one way of a cache line; GB/s of reading what the other wrote, and of
# copying memory: read and written, both cores together.
STATE = ("latency_ns", "transfer_gbs", "memory_gbs")


def measure() -> dict[str, float]:
    """The STATE now; raises Error."""
    hint = "two cores and 200 MiB are needed; `stretto bench` without --peers needs neither"
    done = ask([machine_program()], PATIENCE)
    if done is None:
        raise Error(f"stretto-machine did not end within {PATIENCE:.0f} s", hint)
    if done.returncode != 0:
        said = done.stderr.strip() or f"exit code {done.returncode}"
        raise Error(f"the state of the machine was not measured: {said}", hint)
    said = json.loads(done.stdout)
    return {name: said[name] for name in STATE}


def machine_facts() -> dict[str, object]:
    """For the head of the page."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        match = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.MULTILINE)
        cpu = match[1] if match else cpu
    return {
        "cpu": cpu,
        "cores": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.release()}",
        "stretto_variables": {
            name: value for name, value in os.environ.items() if name.startswith("STRETTO_")
        },
    }
