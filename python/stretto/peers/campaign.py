# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of runs: all peers one after the other, the state of the machine measured between them."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from ..errors import Error
from ..launch.mpi import Mpi
from ..race import Race, SilenceError, drive
from .cells import plan
from .state import State, agree, measure

Cell = tuple[str, int]  # name and size asked for
DEAR = 8.0  # a cell that took so many times its share is measured in one round only
LATEST_REPEAT = 22 * 60.0  # seconds after which nothing is repeated
LONGEST = 25 * 60.0  # seconds; a round that would not end in them is not begun


@dataclass
class Wish:
    """What to measure; `per_run` cells share a process, `repeats` rounds may replace others."""

    ranks: list[int]
    cells: list[str]
    sizes: list[int]
    rounds: int = 3
    repeats: int = 2
    budget: float = 0.25
    limit: float = 20.0  # seconds that a cell may take
    per_run: int = 2
    all_rounds: bool = False  # however long they take

    def groups(self) -> list[list[Cell]]:
        parts = range(0, len(self.cells), self.per_run)
        return [plan(self.cells[i : i + self.per_run], self.sizes) for i in parts]

    def enough(self) -> int:
        """Rounds that must have agreed before a cell is compared."""
        return -(-self.rounds // 2)


@dataclass
class Round:
    """All peers' runs of one group: what each said, between states of the machine."""

    number: int
    ranks: int
    group: list[Cell]
    agreed: bool = False
    samples: list[dict] = field(default_factory=list)  # as the driver wrote them, and the peer
    failures: list[dict] = field(default_factory=list)


def between(before: State, after: State) -> dict[str, float]:
    """The state during a run."""
    later = after.as_row()
    return {name: (value + later[name]) / 2 for name, value in before.as_row().items()}


def run_cells(mpi: Mpi, ranks: int, cells: list[Cell], wish: Wish) -> tuple[list[dict], list[dict]]:
    """What the driver said of these cells, and why it said nothing of the others.

    After a failure the cells behind it are tried in another run.
    """
    samples: list[dict] = []
    failures: list[dict] = []
    while cells:
        race = Race()
        words = ",".join(f"{cell}:{max(size, 1)}" for cell, size in cells)
        reason = ""
        try:
            drive(mpi, ranks, ["--cells", words], wish.budget, wish.limit, race)
        except SilenceError:
            whose = {"native": mpi.title, "Stretto": "Stretto"}.get(race.stage, "one of both")
            reason = f"{whose} took more than {wish.limit:.0f} s"
        except Error as error:
            reason = str(error)
        samples += race.cells
        rest = cells[len(race.cells) :]
        if rest and not reason:
            reason = "the driver ended before it"
        started = bool(race.machine)
        blamed, cells = (rest[:1], rest[1:]) if started else (rest, [])
        failures += [
            {"cell": cell, "asked": size, "reason": reason, "side": race.stage}
            for cell, size in blamed
        ]
    return samples, failures


class Campaign:
    """Measures what was wished for; `rounds` has it."""

    def __init__(self, mpis: dict[str, Mpi], wish: Wish) -> None:
        self.mpis, self.wish = mpis, wish
        self.rounds: list[Round] = []
        self._once: set[tuple] = set()  # (peer, ranks, cell): not again
        self._begun = time.monotonic()

    def as_rows(self) -> list[dict]:
        return [asdict(one) for one in self.rounds]

    def run(self, advance: Callable[..., None] = lambda done, of=None, what="": None) -> None:
        """Every group in every round; then again those whose rounds did not agree."""
        wish = self.wish
        work = [(ranks, group) for ranks in wish.ranks for group in wish.groups()]
        steps, done = wish.rounds * len(work), 0
        for number in range(1, wish.rounds + wish.repeats + 1):
            if number > wish.rounds:
                work = [one for one in work if self._agreements(*one) < wish.rounds]
                steps += len(work)
            elif number > 1 and self._too_late(number):
                return
            for ranks, group in work:
                if number > wish.rounds and self._elapsed() > LATEST_REPEAT:
                    return
                advance(done, steps, f"round {number}, {ranks} ranks, {group[0][0]}")
                self._round(number, ranks, group)
                done += 1
        advance(done, steps)

    def _elapsed(self) -> float:
        return time.monotonic() - self._begun

    def _too_late(self, number: int) -> bool:
        """Whether this round would not end in time, by the pace of those before it."""
        return not self.wish.all_rounds and self._elapsed() * number / (number - 1) > LONGEST

    def _agreements(self, ranks: int, group: list[Cell]) -> int:
        return sum(r.agreed for r in self.rounds if (r.ranks, r.group) == (ranks, group))

    def _round(self, number: int, ranks: int, group: list[Cell]) -> None:
        todo = {
            peer: [cell for cell in group if (peer, ranks, *cell) not in self._once]
            for peer in self.mpis
        }
        todo = {peer: cells for peer, cells in todo.items() if cells}
        if not todo:
            return
        found = Round(number, ranks, group)
        states: list[State] = [measure()]
        for peer, cells in todo.items():
            samples, failures = run_cells(self.mpis[peer], ranks, cells, self.wish)
            states.append(measure())
            state = between(states[-2], states[-1])
            for said in samples:
                dear = said["seconds"] > DEAR * self.wish.budget
                found.samples.append({**said, **state, "peer": peer, "dear": dear})
            found.failures += [{**said, "peer": peer} for said in failures]
        found.agreed = agree(states)
        self.rounds.append(found)
        self._spare(found)

    def _spare(self, found: Round) -> None:
        """What takes long is measured once more only where the first round did not agree."""
        dear = [said for said in found.samples if said["dear"]]
        if not found.agreed and found.number == 1:
            dear = []
        for said in dear + found.failures:
            self._once.add((said["peer"], found.ranks, said["cell"], said["asked"]))
