# SPDX-License-Identifier: BSD-3-Clause
"""Algorithms that users write in Python (docs/algorithms-in-python.md).

    from stretto import algorithm
    from stretto.blocks import input, output

    @algorithm(collective="allgather")
    def ring(b):
        ...

The function writes the schedule of rank `b.rank` of `b.ranks` with a `stretto.Builder`.
"""

import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import update_wrapper
from pathlib import Path

from . import _core
from .errors import Error
from .files import write_text
from .launch import choose_mpi
from .machine import machine_named
from .measure.driver import Results, run_benchmark
from .measure.points import parse_sizes
from .picture import as_text
from .plot.files import save
from .plot.schedule import draw
from .portfolio import roots_of
from .schedule_files import check_served, variables_for
from .simulation import Call, best_of_each, compare, suitable
from .symbolic_run import SymbolicRun, refuse_what_takes_long, symbolic_run
from .units import intervals, size_in_words, time_in_a_table, time_in_words

Blocks = int | Callable[[int], int]


@dataclass(frozen=True)
class Proofs:
    """What the checker said of an algorithm. True if all was proved."""

    name: str
    ranks: tuple[int, ...]
    cases: int
    refusals: tuple[str, ...]  # one sentence each, the fewest ranks first

    def __bool__(self) -> bool:
        return not self.refusals

    def __repr__(self) -> str:
        if self.refusals:
            more = f" (and {len(self.refusals) - 1} more)" if self.refusals[1:] else ""
            return f"{self.name} is refused: {self.refusals[0]}{more}"
        return f"{self.name} is proved for {intervals(self.ranks)} ranks, {self.cases} cases"


@dataclass(frozen=True)
class Picture:
    """A schedule round by round: text where it is printed, a drawing in a notebook."""

    run: SymbolicRun

    def __repr__(self) -> str:
        return as_text(self.run)

    def _repr_svg_(self) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "picture.svg"
            self.save(path)
            return path.read_text(encoding="utf-8")

    def save(self, path: str | Path) -> None:
        """Into a file that ends in .svg, .png or .pdf."""
        save(draw(self.run), str(path))


@dataclass(frozen=True)
class Times:
    """What the simulator predicts, the fastest first: a row for each algorithm."""

    title: str
    rows: list[dict]

    def __repr__(self) -> str:
        width = max(len(row["algorithm"]) for row in self.rows)
        lines = [self.title]
        for row in self.rows:
            time = time_in_words(row["seconds"])
            lines.append(f"  {row['algorithm']:{width}}  {time:>9}  {row['parameters']}".rstrip())
        return "\n".join(lines)


@dataclass(frozen=True)
class Race:
    """Measured under an MPI: a row for each size, native against this algorithm."""

    title: str
    results: Results

    def __repr__(self) -> str:
        lines = [self.title, "      size      native     Stretto   ratio"]
        for cell in self.results.cells:
            lines.append(
                f"{size_in_words(cell['bytes']):>10}"
                f"{time_in_a_table(1e-6 * cell['native_us']):>12}"
                f"{time_in_a_table(1e-6 * cell['stretto_us']):>12}{cell['ratio']:8.2f}"
            )
        return "\n".join(lines)


class UserAlgorithm:
    """An algorithm of this process; `stretto.algorithm` makes it of a function."""

    def __init__(
        self,
        build: Callable,
        collective: str,
        blocks: Blocks = 1,
        commutative: bool = False,
        name: str | None = None,
    ) -> None:
        update_wrapper(self, build)
        self.build = build
        self.facts = _core.facts(_core.collective_named(collective))
        self.name = name or build.__name__
        self.commutative = commutative
        self.blocks = blocks
        self._files: dict[tuple[int, int], _core.AlgorithmFile] = {}
        if self.facts.neighbourhood:
            raise Error(
                f"{collective} goes by a graph, which an algorithm in Python is not given",
                "write one of another collective",
            )
        if not re.fullmatch(r"[\w.-]+", self.name):
            raise Error(f"'{self.name}' is no name for an algorithm", "write letters and digits")

    def __call__(self, builder: _core.Builder, *root: int) -> None:
        """The function itself, so that it can be a part of another algorithm."""
        self.build(builder, *root)

    def __repr__(self) -> str:
        return f"<algorithm {self.facts.name}/{self.name}>"

    @property
    def id(self) -> str:
        """Unlike that of any algorithm of the portfolio: "allgather/python:ring"."""
        return f"{self.facts.name}/python:{self.name}"

    def schedules(self, ranks: int, root: int = 0) -> list[_core.Schedule]:
        """Of all ranks, as the function writes them; nothing is proved."""
        _core.Shape(ranks, root)  # raises Error if there is no such root
        given = self.blocks(ranks) if callable(self.blocks) else self.blocks
        blocks = given * ranks if self.facts.per_rank else given
        uneven = self.facts.per_rank and given != 1
        parts = [given * rank for rank in range(ranks + 1)] if uneven else []
        written = []
        for rank in range(ranks):
            builder = _core.Builder(rank, ranks, blocks)
            self.build(builder, *([root] if self.facts.rooted else []))
            one = builder.finish(self.id, root)
            if parts:
                one.parts = _core.Parts(parts)
            written.append(one)
        return written

    def _file(self, cases: Iterable[tuple[int, int]]) -> _core.AlgorithmFile:
        schedules = [one for ranks, root in cases for one in self.schedules(ranks, root)]
        return _core.AlgorithmFile(self.id, self.commutative, schedules)

    def _one(self, ranks: int, root: int = 0) -> _core.AlgorithmFile:
        case = (ranks, root)
        if case not in self._files:
            self._files[case] = self._file([case])
        return self._files[case]

    def record(self, ranks: int, root: int = 0) -> _core.Algorithm:
        """As those of the portfolio, for this number of ranks and root."""
        return self._one(ranks, root).algorithm

    def _cases(self, ranks: Iterable[int], roots: str) -> list[tuple[int, int]]:
        found = []
        for p in ranks:
            if p < 1:
                raise Error(f"there is no collective of {p} ranks", "use 1 rank or more")
            found += [(p, r) for r in (roots_of(p, roots) if self.facts.rooted else [0])]
        if not found:
            raise Error("no number of ranks is given", "write ranks=range(1, 71)")
        return found

    def check(self, ranks: Iterable[int] = range(1, 71), roots: str = "some") -> Proofs:
        """Prove it for each number of ranks, in place too where MPI allows that.

        `roots` is "some" (all up to 16 ranks, then a handful), "all" or "0".
        """
        cases = self._cases(ranks, roots)
        refusals = []
        for p, root in cases:
            if why := self._one(p, root).proof(p, root).refused:
                of_root = f", root {root}" if self.facts.rooted else ""
                refusals.append(f"{why.name}: on {p} ranks{of_root}, {why.message}")
        numbers = tuple(dict.fromkeys(p for p, _ in cases))
        return Proofs(f"{self.facts.name}/{self.name}", numbers, len(cases), tuple(refusals))

    def show(self, ranks: int = 8, root: int = 0) -> Picture:
        """What each rank sends and holds, round by round; raises Error if it is refused."""
        algorithm, shape = self.record(ranks, root), _core.Shape(ranks, root)
        refuse_what_takes_long(algorithm, shape, _core.Params())
        return Picture(symbolic_run(algorithm, shape))

    def simulate(
        self,
        ranks: int,
        size: int | str = "1M",
        machine: str = "cluster",
        ranks_per_node: int = 1,
        root: int = 0,
        everything: bool = True,
    ) -> Times:
        """Predicted times of a call of `size` bytes, beside those of the portfolio unless
        `everything` is False; `machine` is a machine file or a name as for `stretto simulate`."""
        bytes_ = _core.parse_size(str(size))
        if bytes_ is None:
            raise Error(f"'{size}' is no size", "write 8, '64K', '2M' or '1G'")
        model = machine_named(machine)
        placement = _core.Placement(ranks_per_node)
        call = Call(self.functions[0], ranks, bytes_, root, True, placement)
        own = self.record(ranks, root)
        why = _core.unsuitable(own, call.function, call.shape(own))
        if why:
            raise Error(f"{own.id}: {why}", "`check` says what is wrong with it")
        others = suitable(call, _core.all_algorithms()) if everything else []
        rows, _ = compare(call, [own, *others], model)
        title = f"{self.facts.name}, {call.where}, {size_in_words(bytes_)} bytes, {model.name}"
        return Times(title, best_of_each(rows))

    @property
    def functions(self) -> list[_core.Function]:
        """The functions of MPI that it can serve."""
        collective = _core.collective_named(self.facts.name)
        return [f for f in _core.all_functions() if _core.facts(f).collective == collective]

    def race(
        self, ranks: int = 2, sizes: str = "8-1M", mpi: str = "auto", seconds: float = 0.3
    ) -> Race:
        """Time it in a real MPI against the native function; every result is checked.

        Raises Error if it was refused, or if there is no MPI.
        """
        with tempfile.TemporaryDirectory(prefix="stretto-") as folder:
            path = Path(folder) / f"{self.name}.stretto"
            self.save(path, [ranks])
            name, chosen = _core.facts(self.functions[0]).name, choose_mpi(mpi)
            variables, wanted = variables_for(path, [name]), parse_sizes(sizes)
            results = run_benchmark(chosen, ranks, [name], wanted, seconds, variables=variables)
            check_served(path, results.cells)
        return Race(f"{name}, {ranks} ranks, {chosen.title}", results)

    def save(self, path: str | Path, ranks: Iterable[int], roots: str = "all") -> None:
        """Write its schedules for these numbers of ranks, and roots if it has one, into a file.

        STRETTO_ALLGATHER=file:PATH runs it; there, as in all that reads the file, it is proved
        first.
        """
        write_text(path, self._file(self._cases(ranks, roots)).text())


def algorithm(
    collective: str, *, blocks: Blocks = 1, commutative: bool = False, name: str | None = None
) -> Callable[[Callable], UserAlgorithm]:
    """Make an algorithm of a function that writes one rank's schedule.

    It is called with a `stretto.Builder`, and with the root if the collective has one. `blocks`
    says into how many the vector is cut (bcast, reduce, allreduce, scan, exscan), or the part of
    each rank; it may be a function of the number of ranks. `commutative`: operands come in any
    order.
    """
    _core.collective_named(collective)  # raises Error if there is none

    def make(build: Callable) -> UserAlgorithm:
        return UserAlgorithm(build, collective, blocks, commutative, name)

    return make
