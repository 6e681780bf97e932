# SPDX-License-Identifier: BSD-3-Clause
"""What each rank holds after every step of a schedule, from the checker's record."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from . import _core
from .algorithms import title_of
from .errors import Error
from .portfolio import refuse
from .units import intervals

Contributions = tuple[int, ...]  # ranks, in the order of the operands
Holding = dict[int, Contributions]  # by block of the vector
MOST_WORK = 600_000  # some five seconds


@dataclass(frozen=True)
class Cell:
    """What a rank holds of one block."""

    block: int
    value: Contributions
    result: bool = False  # it stands in the output of a scan, beside what goes on to others


@dataclass
class Message:
    """One message: what left `source` and what `target` made of it."""

    step: int
    source: int
    target: int
    blocks: tuple[int, ...]  # of the vector
    combined: bool = False


@dataclass
class SymbolicRun:
    """`held[t][r]`: the cells of rank r after step t, each in its place; row 0 is the beginning.

    In an alltoall these are the blocks that are still to be sent on or have arrived, in a scan
    the fullest values to send on, then the results; else every block has one cell.
    """

    algorithm: _core.Algorithm
    shape: _core.Shape
    params: _core.Params
    measured: _core.Measured
    blocks: int  # slots of the input and of the output
    messages: list[Message]
    held: list[list[list[Cell | None]]]

    @property
    def title(self) -> str:
        """The algorithm and its parameters, as `stretto show` takes them."""
        graph = self.shape.graph if _core.facts(self.algorithm.collective).neighbourhood else ""
        shape = _core.Shape(self.shape.ranks, self.shape.root, graph=graph)
        return title_of(self.algorithm, shape, self.params)

    def __post_init__(self) -> None:
        facts = _core.facts(self.algorithm.collective)
        self.rooted, self.reduces = facts.rooted, facts.reduces
        self.alltoall, self.prefixes = facts.pairwise, facts.prefix

    @cached_property
    def ends(self) -> dict[int, tuple[int, int]]:
        """Of an alltoall: the ranks that each block goes from and to, in the order of blocks."""
        ranks = self.shape.ranks
        if not _core.facts(self.algorithm.collective).neighbourhood:
            return {s * ranks + d: (s, d) for s in range(ranks) for d in range(ranks)}
        parts = [_core.destinations(self.shape, s) for s in range(ranks)]
        return {
            s * self.blocks + slot: (s, d)
            for s in range(ranks)
            for slot, d in enumerate(parts[s])
            if d >= 0
        }

    @property
    def steps(self) -> int:
        return len(self.held) - 1

    @property
    def cells(self) -> int:
        """Of each rank."""
        return len(self.held[0][0])

    @cached_property
    def _by_step(self) -> dict[int, list[Message]]:
        found: dict[int, list[Message]] = defaultdict(list)
        for message in self.messages:
            found[message.step].append(message)
        return found

    def messages_of(self, step: int) -> list[Message]:
        return self._by_step.get(step, [])

    def changed(self, step: int, rank: int, place: int) -> bool:
        return step > 0 and self.held[step][rank][place] != self.held[step - 1][rank][place]

    def name_of(self, block: int) -> str:
        """A block's name: in an alltoall "25" goes from rank 2 to rank 5."""
        return self.pair_name(*self.ends[block]) if self.alltoall else str(block)

    def pair_name(self, source: int, target: int) -> str:
        """Of what goes from one rank to the other."""
        return f"{source}{target}" if self.shape.ranks <= 10 else f"{source}.{target}"

    def names_of(self, blocks: list[int] | tuple[int, ...]) -> str:
        if self.alltoall:
            return " ".join(self.name_of(block) for block in blocks)
        return intervals(blocks)


def _fullest(holding: _core.Holding, apart: bool) -> tuple[Holding, Holding]:
    """Of every block the fullest value; those of the output apart."""
    fullest: Holding = {}
    results: Holding = {}
    for one in holding.held:
        row = results if apart and one.result else fullest
        value = tuple(one.contributions)
        if len(value) > len(row.get(one.block, ())):
            row[one.block] = value
    return fullest, results


def _in_cells(run: SymbolicRun, held: list[list[tuple[Holding, Holding]]]) -> list:
    """Every block in the place of its number, a scan's results behind."""
    near = _core.facts(run.algorithm.collective).neighbourhood  # a block of each rank
    places = range(run.shape.ranks if near else run.blocks)

    def row(fullest: Holding, results: Holding) -> list[Cell | None]:
        cells = [Cell(b, fullest[b]) if b in fullest else None for b in places]
        if run.prefixes:
            cells += [Cell(b, results[b], True) if b in results else None for b in places]
        return cells

    return [[row(*one) for one in step] for step in held]


def _wanted(run: SymbolicRun, steps: int) -> list[list[set[int]]]:
    """Of an alltoall: the blocks that rank r, after step t, sends on later or keeps."""
    wanted = [[set[int]() for _ in range(run.shape.ranks)]]
    for block, (_, target) in run.ends.items():
        wanted[0][target].add(block)
    for step in range(steps, 0, -1):
        row = [set(blocks) for blocks in wanted[0]]
        messages = run.messages_of(step)
        for message in messages:
            row[message.target] -= set(message.blocks)
        for message in messages:
            row[message.source] |= set(message.blocks)
        wanted.insert(0, row)
    return wanted


def _in_turns(run: SymbolicRun, steps: int) -> list:
    """Of an alltoall: what arrives takes the place of what left, of the same distance if any."""
    ranks = run.shape.ranks

    def distance(block: int) -> int:
        source, target = run.ends[block]
        return (target - source) % ranks

    def put_in(row: list[int | None], now: set[int]) -> None:
        new = sorted(now.difference(row), key=lambda block: (distance(block), block))
        left: dict[int, list[int]] = defaultdict(list)  # places by the distance of what left
        for place, block in enumerate(row):
            if block is not None and block not in now:
                left[distance(block)].append(place)
                row[place] = None
        # Places that are still empty when they are asked for.
        same = {d: (i for i in own if row[i] is None) for d, own in left.items()}
        empty = (i for i, block in enumerate(row) if block is None)
        for block in new:
            at = next(same.get(distance(block), empty), None)
            at = next(empty, len(row)) if at is None else at
            row[at : at + 1] = [block]

    rows: list[list[list[Cell | None]]] = []
    places: list[list[int | None]] = [[] for _ in range(ranks)]
    for block, (source, _) in run.ends.items():
        places[source].append(block)
    for wanted in _wanted(run, steps):
        for row, now in zip(places, wanted, strict=True):
            put_in(row, now)
        rows.append(
            [[None if b is None else Cell(b, (run.ends[b][0],)) for b in r] for r in places]
        )
    most = max(map(len, places))
    return [[row + [None] * (most - len(row)) for row in step] for step in rows]


def _work(algorithm: _core.Algorithm, shape: _core.Shape, params: _core.Params) -> int:
    """Cells after all steps, and messages, estimated from a few ranks; a message costs four."""
    ranks = shape.ranks
    pairwise = _core.facts(algorithm.collective).pairwise
    cells = ranks if pairwise else algorithm.blocks(shape, params)
    work = (algorithm.rounds(shape, params) + 1) * ranks * max(1, cells)
    if work > MOST_WORK:
        return work
    sent = []
    for rank in (1 % ranks, ranks // 2, max(0, ranks - 2)):
        schedule = _core.build_schedule(algorithm, shape, rank, params)
        sent.append(sum(len(one.sends) for one in schedule.rounds))
    return work + 4 * ranks * sum(sent) // len(sent)


def refuse_what_takes_long(
    algorithm: _core.Algorithm, shape: _core.Shape, params: _core.Params
) -> None:
    """Raises Error where it, and what is made of it, would take more than some seconds."""
    work = _work(algorithm, shape, params)
    if work > MOST_WORK:
        raise Error(
            f"{algorithm.id} on {shape.ranks} ranks is too large to look at: what the ranks hold "
            f"after each step, and their messages, are some {work / 1e6:.3g} million things",
            f"at most {MOST_WORK / 1e6:g} million are shown: take fewer ranks, or see one rank's "
            "schedule with --text --rank 0",
        )


def symbolic_run(
    algorithm: _core.Algorithm, shape: _core.Shape, params: _core.Params | None = None
) -> SymbolicRun:
    """What the checker has recorded of a schedule; raises Error if it refuses it."""
    params = params or _core.Params()
    checked = _core.check_algorithm(algorithm, shape, params)
    refuse(algorithm, checked)
    record = _core.record(algorithm, shape, params)
    messages = [
        Message(one.step, one.from_rank, one.to_rank, tuple(record.blocks_of(one)), one.combined)
        for one in record.messages
    ]
    blocks = _core.build_schedule(algorithm, shape, 0, params).blocks
    result = SymbolicRun(algorithm, shape, params, checked.measured, blocks, messages, [])
    steps = checked.measured.rounds
    if result.alltoall:
        result.held = _in_turns(result, steps)
        return result
    snapshots = [
        {one.step: _fullest(one, result.prefixes) for one in holdings}
        for holdings in record.holdings
    ]
    held = [[one[0] for one in snapshots]]
    for step in range(1, steps + 1):
        rows = zip(snapshots, held[-1], strict=True)
        held.append([found.get(step, before) for found, before in rows])
    result.held = _in_cells(result, held)
    return result
