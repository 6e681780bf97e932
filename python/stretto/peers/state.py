# SPDX-License-Identifier: BSD-3-Clause
"""The state of the machine: times are compared only if they were taken in the same one."""

import json
import os
import platform
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from ..errors import Error
from ..launch.ask import ask
from ..launch.library import machine_program

AGREE = 1.25  # the factor within which the states of one round lie
LARGE = 1 << 20  # bytes of cells whose time is also that of memory
PATIENCE = 60.0  # seconds


@dataclass(frozen=True)
class State:
    """Between two cores: one way of a cache line, reading what the other wrote; copying memory."""

    latency_ns: float
    transfer_gbs: float
    memory_gbs: float  # read and written, both cores together

    def as_row(self) -> dict[str, float]:
        return asdict(self)


def measure(memory_gbs: float | None = None) -> State:
    """Now; raises Error. What is known of the memory is not measured again: it takes longest."""
    hint = "two cores and 200 MiB are needed; `stretto bench` without --peers needs neither"
    done = ask([machine_program(), *(() if memory_gbs is None else ["--brief"])], PATIENCE)
    if done is None:
        raise Error(f"stretto-machine did not end within {PATIENCE:.0f} s", hint)
    if done.returncode != 0:
        said = done.stderr.strip() or f"exit code {done.returncode}"
        raise Error(f"the state of the machine was not measured: {said}", hint)
    said = json.loads(done.stdout)
    return State(said["latency_ns"], said["transfer_gbs"], said.get("memory_gbs", memory_gbs))


def agree(states: list[State], size: int, factor: float = AGREE) -> bool:
    """Whether all of them are one state, within the factor, in what a cell of that size uses."""
    used = ["latency_ns", *(["memory_gbs"] if size >= LARGE else [])]
    rows = [state.as_row() for state in states]
    return all(
        max(row[name] for row in rows) <= factor * min(row[name] for row in rows) for name in used
    )


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
