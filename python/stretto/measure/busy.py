# SPDX-License-Identifier: BSD-3-Clause
"""How busy this machine is: what other processes use of the cores that ranks would run on."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from ..launch.cores import quota

SECONDS = 0.3  # of a look
SLIGHT = 0.2  # cores: less disturbs nobody


@dataclass(frozen=True)
class Load:
    """What others use, of the cores that this process may use."""

    others: float
    cores: float

    def disturbs(self, ranks: int) -> bool:
        """Whether so many ranks, each with a core as far as there are cores, get in its way."""
        return self.others > SLIGHT and self.others + min(ranks, self.cores) > self.cores

    def __str__(self) -> str:
        return f"other processes use {self.others:.1f} of {self.cores:g} cores"


def _used(cores: set[int]) -> float:
    """Seconds of these cores since the machine was started, those that its host took included."""
    ticks = 0
    for line in Path("/proc/stat").read_text(encoding="ascii").splitlines():
        name, *numbers = line.split()
        if name.startswith("cpu") and name[3:].isdigit() and int(name[3:]) in cores:
            user, nice, system, _idle, _waiting, *others = map(int, numbers[:8])
            ticks += user + nice + system + sum(others)
    return ticks / os.sysconf("SC_CLK_TCK")


def _used_in(group: Path) -> float:
    words = (group / "cpu.stat").read_text(encoding="ascii").split()
    return int(words[words.index("usage_usec") + 1]) / 1e6


def _own() -> float:
    """With all that it started, once that has ended and was waited for."""
    return sum(os.times()[:4])


class Span:
    """From its making to its end, which is None where Linux does not say."""

    def __init__(self) -> None:
        self._allowed, self._quota = os.sched_getaffinity(0), quota()
        self._before = self._read()
        self._begun = time.monotonic()

    def _read(self) -> tuple[float, float, float] | None:
        try:
            in_group = _used_in(self._quota[1]) if self._quota else 0.0
            return _used(self._allowed), in_group, _own()
        except (OSError, ValueError):
            return None

    def end(self) -> Load | None:
        passed, now = time.monotonic() - self._begun, self._read()
        if not self._before or not now:
            return None
        spent = zip(self._before, now, strict=True)
        everywhere, in_group, own = ((b - a) / passed for a, b in spent)
        all_cores = len(self._allowed)
        cores = min(float(all_cores), self._quota[0] if self._quota else float("inf"))
        # Of cores beyond the quota others may use all.
        others = max(everywhere - (all_cores - cores), in_group) - own
        return Load(min(max(others, 0.0), cores), cores)


def look(seconds: float = SECONDS) -> Load | None:
    """While this process and those that it started do nothing; None where Linux does not say."""
    span = Span()
    time.sleep(seconds)
    return span.end()
