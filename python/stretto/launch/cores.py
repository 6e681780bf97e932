# SPDX-License-Identifier: BSD-3-Clause
"""The cores that this process may use, and how Linux divides them: control groups, autogroups."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

GROUPS = Path("/sys/fs/cgroup")
MEMBERSHIPS = Path("/proc/self/cgroup")
AUTOGROUPS = Path("/proc/sys/kernel/sched_autogroup_enabled")


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0))


@contextmanager
def pool() -> "Iterator[ThreadPoolExecutor]":
    """Threads, one for each core, for calls of the core library, which lets go of the interpreter's
    lock. After Ctrl-C nobody waits for what they were still to do."""
    from concurrent.futures import ThreadPoolExecutor

    threads = ThreadPoolExecutor(max_workers=cores())
    try:
        yield threads
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


def _memberships() -> Iterator[tuple[list[str], str]]:
    """Controllers and path of each group of this process: no controllers in version 2."""
    for line in MEMBERSHIPS.read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        yield [one for one in controllers.split(",") if one], path.strip("/")


def _groups() -> list[Path]:
    """Folders of this process's control group of version 2 and of those around it."""
    for controllers, path in _memberships():
        if not controllers:
            inner = GROUPS / path
            return [one for one in (inner, *inner.parents) if one.is_relative_to(GROUPS)]
    return []


def quota() -> tuple[float, Path] | None:
    """The least quota of this process's control groups, in cores, and whose it is."""
    found = []
    with suppress(OSError, ValueError):
        for group in _groups():
            limit = group / "cpu.max"
            if limit.exists():
                share, period = limit.read_text(encoding="ascii").split()
                found += [(int(share) / int(period), group)] if share != "max" else []
    return min(found, default=None, key=lambda each: each[0])


def _has_share() -> bool:
    """Is this process in a control group that has a share of the cores?"""
    if any("cpu" in controllers and path for controllers, path in _memberships()):
        return True
    return any((group / "cpu.weight").exists() for group in _groups())


def autogroups() -> bool:
    """Does Linux divide the cores among sessions, and not among processes? See sched(7)."""
    try:
        on = AUTOGROUPS.read_text(encoding="ascii").strip() == "1"
        return on and not _has_share()  # within such a group sessions have none
    except (OSError, ValueError):
        return False
