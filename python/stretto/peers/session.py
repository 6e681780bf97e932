# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of runs: all peers one after the other, the state of the machine measured between them."""

from contextlib import ExitStack
from dataclasses import asdict, dataclass, field

from ..launch.mpi import Mpi
from ..measure.points import MODES, benchmark_points
from ..measure.session import Advance, Session, unseen
from ..measure.waiting import CellError, WaitingDriver
from .state import LARGE, State, agree, measure

Cell = tuple[str, int, str]  # name, size asked for, mode
DEAR = 8.0  # a cell that took so many times its share is measured in one round only
LATEST_REPEAT = 22 * 60.0  # seconds after which nothing is repeated
LONGEST = 25 * 60.0  # seconds; a round that would not end in them is not begun


@dataclass
class Wish:
    """What to measure; `repeats` rounds may replace those that did not agree."""

    ranks: list[int]
    cells: list[str]
    sizes: list[int]
    modes: list[str] = field(default_factory=lambda: list(MODES))
    rounds: int = 3
    repeats: int = 6
    budget: float = 0.1
    limit: float = 20.0  # seconds that a cell may take
    all_rounds: bool = False  # however long they take

    def plan(self) -> list[Cell]:
        """Barriers in one mode: they follow each other in both."""
        return [
            (name, size, mode)
            for name, size in benchmark_points(self.cells, self.sizes)
            for mode in (self.modes[:1] if name == "barrier" else self.modes)
        ]

    def enough(self) -> int:
        """Rounds that must have agreed before a cell is compared."""
        return -(-self.rounds // 2)


@dataclass
class Round:
    """A cell under all peers, one right after the other, between states of the machine."""

    number: int
    ranks: int
    cell: str
    asked: int
    mode: str
    agreed: bool = False
    samples: list[dict] = field(default_factory=list)  # as the driver wrote them, and the peer
    failures: list[dict] = field(default_factory=list)


def between(before: State, after: State) -> dict[str, float]:
    """The state during a run."""
    later = after.as_row()
    return {name: (value + later[name]) / 2 for name, value in before.as_row().items()}


class PeerSession(Session):
    """Measures what was wished for; `rounds` has it."""

    def __init__(self, mpis: dict[str, Mpi], wish: Wish) -> None:
        super().__init__()
        self.mpis, self.wish = mpis, wish
        self.rounds: list[Round] = []
        self._once: set[tuple] = set()  # (peer, ranks, cell): not again
        self._memory = 0.0  # GB/s, as measured last

    def as_rows(self) -> list[dict]:
        return [asdict(one) for one in self.rounds]

    def run(self, advance: Advance = unseen) -> None:
        """Every cell in every round; then again those whose rounds did not agree."""
        wish = self.wish
        cells = wish.plan()
        steps, done = wish.rounds * len(wish.ranks) * len(cells), 0
        for number in range(1, wish.rounds + wish.repeats + 1):
            if number <= wish.rounds and number > 1 and self._too_late(number):
                return
            for ranks in wish.ranks:
                todo = cells
                if number > wish.rounds:
                    todo = [one for one in cells if self._agreements(ranks, one) < wish.rounds]
                    steps += len(todo)
                with ExitStack() as stack:
                    drivers = {
                        peer: stack.enter_context(
                            WaitingDriver(mpi, ranks, wish.budget, wish.limit)
                        )
                        for peer, mpi in self.mpis.items()
                    }
                    for cell in todo:
                        if number > wish.rounds and self.elapsed() > LATEST_REPEAT:
                            return
                        what = f"{cell[0]}, {cell[2]}"
                        advance(done, steps, f"round {number}, {ranks} ranks, {what}")
                        self._round(number, ranks, cell, drivers)
                        done += 1
        advance(done, steps)

    def _too_late(self, number: int) -> bool:
        """Whether this round would not end in time, by the pace of those before it."""
        return not self.wish.all_rounds and self.elapsed() * number / (number - 1) > LONGEST

    def _agreements(self, ranks: int, cell: Cell) -> int:
        key = (ranks, *cell)
        return sum(r.agreed for r in self.rounds if (r.ranks, r.cell, r.asked, r.mode) == key)

    def _state(self, size: int, edge: bool) -> State:
        """Of a round of that size; its memory is measured at the edges only, if it counts."""
        again = not self._memory or (edge and size >= LARGE)
        state = measure(None if again else self._memory)
        self._memory = state.memory_gbs
        return state

    def _round(
        self, number: int, ranks: int, cell: Cell, drivers: dict[str, WaitingDriver]
    ) -> None:
        name, size, mode = cell
        todo = [peer for peer in drivers if (peer, ranks, *cell) not in self._once]
        if not todo:
            return
        found = Round(number, ranks, name, size, mode)
        states = [self._state(size, True)]
        for peer in todo:
            try:
                said = drivers[peer].ask(name, size, mode)
            except CellError as error:
                why = {"reason": str(error), "side": error.side, "peer": peer}
                found.failures.append(why)
                said = {}
            states.append(self._state(size, peer == todo[-1]))
            if said:
                dear = said["seconds"] > DEAR * self.wish.budget
                state = between(states[-2], states[-1])
                found.samples.append({**said, **state, "peer": peer, "dear": dear})
        found.agreed = agree(states, size)
        self.rounds.append(found)
        self._spare(found)

    def _spare(self, found: Round) -> None:
        """What takes long is measured once more only where the first round did not agree."""
        dear = [said for said in found.samples if said["dear"]]
        if not found.agreed and found.number == 1:
            dear = []
        for said in dear + found.failures:
            self._once.add((said["peer"], found.ranks, found.cell, found.asked, found.mode))
