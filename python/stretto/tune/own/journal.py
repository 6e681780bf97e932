# SPDX-License-Identifier: BSD-3-Clause
"""What was measured for Stretto's own choice, on disk."""

from collections import defaultdict
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ...measure.busy import Load
from ...measure.journal import Records
from .cells import NATIVE, Cell

FORMAT = 1
FEW = 3  # blocks: fewer say nothing


@dataclass(frozen=True)
class Entry:
    """A candidate's time of one cell."""

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
    """One cell's contest. `stage` is "model", "search", "confirm" or "beyond"."""

    cell: Cell
    stage: str
    seconds: float
    entries: list[Entry] = field(default_factory=list)

    def us_of(self, words: str) -> float | None:
        return next((one.us for one in self.entries if one.words == words and one.counts), None)


def read_measured(stage: str, said: dict) -> Measured:
    """From what the driver says of a cell."""
    names = Entry.__dataclass_fields__
    entries = [Entry(**{k: one[k] for k in names}) for one in said["candidates"]]
    cell = Cell(said["cell"], said["ranks"], said["asked"])
    return Measured(cell, stage, said["seconds"], entries)


class Journal(Records):
    """A cell that is there is not measured again; what hangs is not tried again."""

    def __init__(self, path: Path, machine: str, fresh: bool = False) -> None:
        head = {"format": FORMAT, "machine": machine}
        self.measured: list[Measured] = []
        self._contests: dict[Cell, list[Measured]] = defaultdict(list)
        self.failed: set[tuple[Cell, str]] = set()
        self.load: Load | None = None  # the worst, while others worked on the machine
        super().__init__(path, head, fresh, "name another file with --output")

    def _heard(self, said: dict) -> None:
        if "entries" in said:
            entries = [Entry(**one) for one in said["entries"]]
            cell = Cell(**said["cell"])
            self._keep(Measured(cell, said["stage"], said["seconds"], entries))
        elif "others" in said:
            self._worse(Load(said["others"], said["cores"]))
        elif "hung" in said:
            self.failed.add((Cell(**said["cell"]), said["hung"]))

    def _keep(self, measured: Measured) -> None:
        self.measured.append(measured)
        self._contests[measured.cell].append(measured)

    def add(self, measured: Measured) -> None:
        self._keep(measured)
        self._write([asdict(measured)])

    def fail(self, cell: Cell, words: str) -> None:
        self.failed.add((cell, words))
        self._write([{"cell": asdict(cell), "hung": words}])

    def _worse(self, load: Load) -> None:
        if self.load is None or load.others > self.load.others:
            self.load = load

    def disturbed(self, load: Load) -> None:
        """What is measured now is less certain, also for who goes on from here."""
        self._worse(load)
        self._write([asdict(load)])

    def has(self, cell: Cell, stage: str) -> bool:
        return any(one.stage == stage for one in self._contests[cell])

    def of(self, cell: Cell) -> list[Measured]:
        """The contests of a cell for the choice, the last one last."""
        return [one for one in self._contests[cell] if one.stage != "model"]
