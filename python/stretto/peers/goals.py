# SPDX-License-Identifier: BSD-3-Clause
"""The numbers to reach, and which cells miss them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .cells import LARGEST
from .table import mean_ratio

LEAST = 0.95  # on 2 ranks, of the closest peer's time over Stretto's, in every cell
MEANS = {None: 1.7, "mpich": 4.0, "openmpi": 3.0}  # on 2 ranks; None: the closest peer of each cell
TITLES = {None: "the closest peer", "mpich": "MPICH", "openmpi": "Open MPI"}
LARGE = {
    "allreduce": 1.9,
    "allreduce-maxloc": 4.0,
    "scan": 2.8,
    "exscan": 1.4,
    "reduce": 1.9,
    "reduce_scatter_block": 2.0,
    "allgatherv-spike": 1.5,
    "bcast": 1.1,
    "allgather": 1.1,
    "alltoall": 1.0,
    "gather": 1.0,
    "scatter": 1.0,
}  # on 2 ranks, largest size, against the closest peer
BOUND = 0.6  # of these cells: the share of the bound that memory sets
CROWDED = (4, 8)  # numbers of ranks, more than cores
LONG = 32 << 10  # bytes; of these cells
LEAST_LONG, LEAST_SHORT = 0.9, 0.8  # the closest peer's time over Stretto's


@dataclass
class Goal:
    """One number to reach. `value` is None if nothing was measured for it."""

    words: str
    target: float
    value: float | None = None
    missed: list[dict] = field(default_factory=list)  # cells
    left_out: int = 0  # cells that were not judged

    @property
    def reached(self) -> bool | None:
        return None if self.value is None else self.value >= self.target and not self.missed


def _floor(words: str, target: float, cells: Iterable[dict], of: str = "ratio") -> Goal:
    """A goal for every one of the cells; wrong results and failures miss it."""
    cells = list(cells)
    judged = [cell for cell in cells if cell["status"] != "unstable"]
    missed = [cell for cell in judged if cell["status"] != "ok" or cell[of] < target]
    least = min((cell.get(of, 0.0) for cell in judged), default=None)
    return Goal(words, target, least, missed, len(cells) - len(judged))


def judge(rows: list[dict], cells: list[dict]) -> list[Goal]:
    """All goals in each mode, of the records and their comparison (`table`), but unstable cells."""
    modes = dict.fromkeys(cell["mode"] for cell in cells)
    return [goal for mode in modes for goal in _judge_mode(mode, rows, cells)]


def _judge_mode(mode: str, rows: list[dict], cells: list[dict]) -> Iterator[Goal]:
    rows = [row for row in rows if row["mode"] == mode]
    cells = [cell for cell in cells if cell["mode"] == mode]
    two = [cell for cell in cells if cell["ranks"] == 2]
    yield _floor(f"{mode}, 2 ranks, slowest cell against the closest peer", LEAST, two)
    for peer, target in MEANS.items():
        those = two if peer is None else [r for r in rows if r["ranks"] == 2 and r["peer"] == peer]
        words = f"{mode}, 2 ranks, geometric mean against {TITLES[peer]}"
        left_out = sum(one["status"] != "ok" for one in those)
        yield Goal(words, target, mean_ratio(those), left_out=left_out)
    for name, target in LARGE.items():
        here = [c for c in two if (c["cell"], c["asked"]) == (name, LARGEST)]
        words = f"{mode}, 2 ranks, 16 MiB, {name}"
        yield _floor(f"{words} against the closest peer", target, here)
        yield _floor(f"{words}: share of the bound", BOUND, here, "of_bound")
    for ranks in CROWDED:
        here = [cell for cell in cells if cell["ranks"] == ranks]
        words = f"{mode}, {ranks} ranks, slowest cell"
        long = [cell for cell in here if cell["asked"] >= LONG]
        short = [cell for cell in here if cell["asked"] < LONG]
        yield _floor(f"{words} from 32 KiB on against the closest peer", LEAST_LONG, long)
        yield _floor(f"{words} below 32 KiB against the closest peer", LEAST_SHORT, short)
