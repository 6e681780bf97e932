# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of runs: in each, every cell under all peers, one right after the other."""

from contextlib import ExitStack
from dataclasses import dataclass, field

from ..errors import Error
from ..launch.mpi import Mpi
from ..measure.driver import CellError, WaitingDriver
from ..measure.points import MODES, benchmark_points
from ..measure.session import Advance, Session, unseen
from .agreement import agreeing, ratio_of
from .state import measure

Cell = tuple[str, int, str]  # name, size asked for, mode
Key = tuple[int, str, int, str]  # ranks and cell
DEAR = 8.0  # a cell that took so many times its share is measured once only
LONGEST = 30 * 60.0  # seconds; a round that would not end in them is not begun


@dataclass
class Wish:
    """What to measure; up to `repeats` rounds more where the ratios of the others do not agree."""

    ranks: list[int]
    cells: list[str]
    sizes: list[int]
    modes: list[str] = field(default_factory=lambda: list(MODES))
    rounds: int = 3
    repeats: int = 6
    budget: float = 0.1
    limit: float = 10.0  # seconds that a cell may take
    all_rounds: bool = False  # however long they take

    def plan(self) -> list[Cell]:
        """Barriers in one mode: they follow each other in both."""
        return [
            (name, size, mode)
            for name, size in benchmark_points(self.cells, self.sizes)
            for mode in (self.modes[:1] if name == "barrier" else self.modes)
        ]

    def enough(self) -> int:
        """Rounds that must agree before a cell is judged."""
        return -(-self.rounds // 2)


@dataclass
class Round:
    """A cell under all peers, one right after the other."""

    number: int
    ranks: int
    cell: str
    asked: int
    mode: str
    samples: list[dict] = field(default_factory=list)  # the driver's, the peer, the state
    failures: list[dict] = field(default_factory=list)

    @property
    def key(self) -> Key:
        return self.ranks, self.cell, self.asked, self.mode


class PeerSession(Session):
    """Measures what was wished for; `rounds` has it."""

    def __init__(self, mpis: dict[str, Mpi], wish: Wish) -> None:
        super().__init__()
        self.mpis, self.wish = mpis, wish
        self.rounds: list[Round] = []
        self._once: set[tuple] = set()  # (peer, ranks, cell): not again
        self._last: dict[str, float] | None = None
        self._repeatable = 0.0  # seconds of this round, of cells that the next one has as well

    def run(self, advance: Advance = unseen) -> None:
        """Every cell in every round; then again those whose rounds do not agree."""
        wish = self.wish
        cells = wish.plan()
        steps, done = wish.rounds * len(wish.ranks) * len(cells), 0
        for number in range(1, wish.rounds + wish.repeats + 1):
            if 1 < number <= wish.rounds and self._too_late():
                return
            self._repeatable = 0.0
            for ranks in wish.ranks:
                todo = cells
                if number > wish.rounds:
                    todo = [one for one in cells if self._is_unsteady(ranks, one)]
                    steps += len(todo)
                if not todo:
                    continue
                state = self._state()
                with ExitStack() as stack:
                    drivers = {
                        peer: stack.enter_context(
                            WaitingDriver(mpi, ranks, wish.budget, wish.limit)
                        )
                        for peer, mpi in self.mpis.items()
                    }
                    for cell in todo:
                        if number > wish.rounds and self.elapsed() > LONGEST:
                            return
                        what = f"{cell[0]}, {cell[2]}"
                        advance(done, steps, f"round {number}, {ranks} ranks, {what}")
                        self._round(Round(number, ranks, *cell), drivers, state)
                        done += 1
        advance(done, steps)

    def _too_late(self) -> bool:
        """Whether the next round would not end in time, by the pace of the last one."""
        return not self.wish.all_rounds and self.elapsed() + self._repeatable > LONGEST

    def _state(self) -> dict[str, float]:
        """Now, or as it was last; raises Error if it was never measured."""
        try:
            self._last = measure()
        except Error:
            if self._last is None:
                raise
        return self._last

    def _is_unsteady(self, ranks: int, cell: Cell) -> bool:
        """Whether fewer rounds than asked for agree, under a peer that can be measured again."""
        ratios: dict[str, list[float]] = {}
        for one in self.rounds:
            if one.key == (ranks, *cell):
                for said in one.samples:
                    ratios.setdefault(said["peer"], []).append(ratio_of(said))
        return any(
            agreeing(found) < self.wish.rounds
            for peer, found in ratios.items()
            if (peer, ranks, *cell) not in self._once
        )

    def _round(self, one: Round, drivers: dict[str, WaitingDriver], state: dict) -> None:
        for peer, driver in drivers.items():
            once = (peer, *one.key)
            if once in self._once:
                continue
            begun = self.elapsed()
            try:
                said = driver.ask(one.cell, one.asked, one.mode)
            except CellError as error:
                why = {"reason": str(error), "side": error.side, "peer": peer}
                one.failures.append(why)
                self._once.add(once)
                continue
            dear = said["seconds"] > DEAR * self.wish.budget
            if dear:
                self._once.add(once)
            else:
                self._repeatable += self.elapsed() - begun
            one.samples.append({**said, **state, "peer": peer, "dear": dear})
        if one.samples or one.failures:
            self.rounds.append(one)
