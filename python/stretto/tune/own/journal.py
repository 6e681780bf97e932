# SPDX-License-Identifier: BSD-3-Clause
"""What was measured for Stretto's own choice, on disk."""

from collections import defaultdict
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ... import _core
from ...measure.busy import Load
from ...measure.journal import Records
from ...measure.points import BACK_TO_BACK
from .points import NATIVE, Point

FORMAT = 1
FEW = 3  # blocks: fewer say nothing


@dataclass(frozen=True)
class Entry:
    """A candidate's time of one point."""

    words: str
    algorithm: str  # id of what served, or "native"
    us: float
    spread: float  # distance of the quartiles over the median
    blocks: int
    correct: bool

    @property
    def counts(self) -> bool:
        """A native library of which there are few blocks is far behind: one call will do."""
        return self.correct and (self.blocks >= FEW or self.words == NATIVE)


@dataclass
class Measured:
    """One point's paired benchmark. `stage` is "model", "search", "confirm" or "beyond"."""

    point: Point
    stage: str
    seconds: float
    entries: list[Entry] = field(default_factory=list)
    mode: str = BACK_TO_BACK

    def us_of(self, words: str) -> float | None:
        return next((one.us for one in self.entries if one.words == words and one.counts), None)


def read_measured(stage: str, said: dict) -> Measured:
    """From what the driver says of a point."""
    names = Entry.__dataclass_fields__
    entries = [Entry(**{k: one[k] for k in names}) for one in said["candidates"]]
    point = Point(said["cell"], said["ranks"], said["asked"])
    return Measured(point, stage, said["seconds"], entries, said.get("mode", BACK_TO_BACK))


class Journal(Records):
    """A point that is there is not measured again; what hangs is not tried again."""

    def __init__(self, path: Path, machine: str, fresh: bool = False) -> None:
        # Times of another version would choose for this one, by names that it may not have.
        head = {"format": FORMAT, "machine": machine, "version": _core.version()}
        self.measured: list[Measured] = []
        self._benchmarks: dict[Point, list[Measured]] = defaultdict(list)
        self.failed: set[tuple[Point, str]] = set()
        self.load: Load | None = None  # the worst, while others worked on the machine
        super().__init__(path, head, fresh, "name another file with --output")

    def _heard(self, said: dict) -> None:
        if "entries" in said:
            entries = [Entry(**one) for one in said["entries"]]
            point = Point(**said["cell"])
            mode = said.get("mode", BACK_TO_BACK)  # a journal may be older than the modes
            self._keep(Measured(point, said["stage"], said["seconds"], entries, mode))
        elif "others" in said:
            self._worse(Load(said["others"], said["cores"]))
        elif "hung" in said:
            self.failed.add((Point(**said["cell"]), said["hung"]))

    def _keep(self, measured: Measured) -> None:
        self.measured.append(measured)
        self._benchmarks[measured.point].append(measured)

    def add(self, measured: Measured) -> None:
        self._keep(measured)
        said = asdict(measured)
        self._write([{"cell": said.pop("point"), **said}])

    def fail(self, point: Point, words: str) -> None:
        self.failed.add((point, words))
        self._write([{"cell": asdict(point), "hung": words}])

    def _worse(self, load: Load) -> None:
        if self.load is None or load.others > self.load.others:
            self.load = load

    def disturbed(self, load: Load) -> None:
        """What is measured now is less certain, also for who goes on from here."""
        self._worse(load)
        self._write([asdict(load)])

    def has(self, point: Point, stage: str, mode: str = BACK_TO_BACK) -> bool:
        return any((one.stage, one.mode) == (stage, mode) for one in self._benchmarks[point])

    def of(self, point: Point, mode: str | None = None) -> list[Measured]:
        """The paired benchmarks of a point for the choice, the last one last; None: in any mode."""
        every = [one for one in self._benchmarks[point] if one.stage != "model"]
        return [one for one in every if mode in (None, one.mode)]
