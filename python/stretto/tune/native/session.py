# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of runs under the native library: as it is, with each algorithm forced, as it is again."""

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path

from ...errors import Error
from ...measure.driver import Results, SilenceError, drive
from ...measure.points import benchmark_points
from ...measure.session import Advance, Request, TuningSession
from .comparison import (
    LEAST_ROUNDS,
    Comparison,
    Point,
    best,
    comparisons,
    complete,
    group_won,
    table_of,
    together,
    won,
)
from .journal import Failure, Journal, Run, Sample
from .target import Table, Target, everywhere

SCAN_SHARE = 0.6  # of the budget; the rest confirms what was found
MOST_ROUNDS = 9
HOPELESS = 1.3  # times the library's time: not measured again
START = 1.5  # seconds to start a job, roughly
OVERHEAD = 2.5  # a point takes so many times its share, with finding how many calls fill a block


class NativeSession(TuningSession):
    """Fills the journal, as long as the budget lasts."""

    def __init__(self, target: Target, request: Request, journal: Journal, seconds: float) -> None:
        super().__init__(request)
        self.target, self.journal, self.seconds = target, journal, seconds

    def points(self, ranks: int) -> list[tuple[str, int]]:
        """That have a choice."""
        return benchmark_points(
            [f for f in self.request.names if self._choices(f, ranks)], self.request.sizes
        )

    def _choices(self, function: str, ranks: int) -> list[str]:
        return self.target.algorithms(function, ranks)

    def run(self, advance: Advance) -> tuple[Table, dict[Point, tuple]]:
        """Both stages, as far as the budget goes; what held of what was found."""
        self.scan(advance)
        found = self.found()
        if found:
            self.confirm(found, advance)
        return self.confirmed(found)

    # --- the first stage: every algorithm

    def scan(self, advance: Callable[..., None]) -> None:
        """Rounds until the scan's share of the budget is used up."""
        self._advance = advance
        for number in range(MOST_ROUNDS):
            for ranks in self.request.ranks:
                found = comparisons(self.journal.samples, "scan")
                if not self._round(number, ranks, found):
                    return

    def _round(self, number: int, ranks: int, found: dict[Point, dict[str, Comparison]]) -> bool:
        points = self.points(ranks)
        line_ups = self._line_ups(ranks)
        for i, algorithms in enumerate([{}, *line_ups, {}]):
            if self.left(SCAN_SHARE) < 0:
                return False
            what = f"round {number + 1}, {ranks} ranks, {i + 1} of {len(line_ups) + 2}"
            self.say(what)
            if not algorithms:
                part = "before" if i == 0 else "after"
                self._plain(Run("scan", number, ranks, part), points)
                continue
            self._forced("scan", number, ranks, algorithms, [
                (function, size)
                for function, size in points
                if function in algorithms
                and not self._hopeless(found.get((function, ranks, size), {}), algorithms[function])
            ])  # fmt: skip
        return True

    def _line_ups(self, ranks: int) -> list[dict[str, str]]:
        """The k-th algorithms of all functions share a job."""
        lists = {f: self._choices(f, ranks) for f in self.request.names}
        most = max(map(len, lists.values()), default=0)
        return [{f: own[k] for f, own in lists.items() if k < len(own)} for k in range(most)]

    @staticmethod
    def _hopeless(found: dict[str, Comparison], algorithm: str) -> bool:
        return algorithm in found and found[algorithm].ratio > HOPELESS

    def _plain(self, run: Run, points: list[tuple[str, int]]) -> None:
        for _ in range(2):
            todo = [point for point in points if not self.journal.has(run, *point)]
            if not todo:
                return
            reason = self._drive(lambda _: run, {}, todo)
        if reason:
            title = self.target.mpi.title
            raise Error(f"{title} as it is: {reason}", "`stretto doctor` shows what works")

    def _forced(
        self,
        stage: str,
        number: int,
        ranks: int,
        algorithms: dict[str, str],
        points: list[tuple[str, int]],
    ) -> None:
        def run_of(function: str) -> Run:
            return Run(stage, number, ranks, algorithms[function])

        todo = [
            (function, size)
            for function, size in points
            if not self.journal.has(run_of(function), function, size)
            and not self.journal.failed(function, ranks, algorithms[function])
        ]
        functions = list(dict.fromkeys(function for function, _ in todo))
        if not functions:
            return
        table = everywhere({f: algorithms[f] for f in functions}, ranks)
        reason = self._drive(run_of, table, todo)
        if not reason:
            return
        if len(functions) == 1:
            failure = Failure(functions[0], ranks, algorithms[functions[0]], reason)
            self.journal.add(failures=[failure])
            return
        # The driver's own calls may have been the ones that failed: each alone says whose.
        for function in functions:
            own = [point for point in todo if point[0] == function]
            self._forced(stage, number, ranks, {function: algorithms[function]}, own)

    def _drive(
        self, run_of: Callable[[str], Run], table: Table, points: list[tuple[str, int]]
    ) -> str:
        """Measures; why it did not come to its end, or nothing."""
        results, ranks = Results(), run_of(points[0][0]).ranks
        words = ",".join(f"{point}:{max(size, 1)}" for point, size in points)
        arguments = ["--cells", words, "--native-only"]
        reason = ""
        # Beside the journal: all nodes of a job must see it.
        with tempfile.TemporaryDirectory(prefix="tuning-", dir=self.journal.path.parent) as name:
            variables = {}
            if table:
                self.target.write(table, Path(name))
                variables = self.target.variables(table, Path(name), ranks)
            try:
                drive(
                    self.target.mpi, ranks, arguments, self.seconds, self.request.limit, results,
                    variables=variables, quiet=bool(table),
                )  # fmt: skip
            except SilenceError:
                reason = f"took more than {self.request.limit:.0f} s"
            except Error as error:
                reason = str(error)
            finally:
                self._keep(results, run_of)
        if results.wrong:
            reason = "wrong result"
        return reason

    def _keep(self, results: Results, run_of: Callable[[str], Run]) -> None:
        self.journal.add(
            Sample(
                run_of(said["function"]),
                said["function"],
                said["asked"],
                said["bytes"],
                said["native_us"],
            )
            for said in results.cells
            if said["correct"]
        )

    # --- the second: the table that was found

    @staticmethod
    def _stage(table: Table) -> str:
        """Of the journal."""
        return hashlib.sha256(repr(sorted(table.items())).encode()).hexdigest()[:12]

    def confirm(self, table: Table, advance: Callable[..., None]) -> None:
        """The same rounds with the whole table in use."""
        self._advance = advance
        stage = self._stage(table)
        for number in range(MOST_ROUNDS):
            for ranks in self.request.ranks:
                points = [point for point in self.points(ranks) if (point[0], ranks) in table]
                for part in ("before", "table", "after") if points else ():
                    if self.left() < 0:
                        return
                    what = f"confirming, round {number + 1}, {ranks} ranks"
                    self.say(what)
                    self._confirm_part(Run(stage, number, ranks, part), table, points)

    def _confirm_part(self, run: Run, table: Table, points: list[tuple[str, int]]) -> None:
        if run.part != "table":
            self._plain(run, points)
            return
        todo = [point for point in points if not self.journal.has(run, *point)]
        reason = self._drive(lambda _: run, table, todo) if todo else ""
        if reason:
            raise Error(f"with the tuning files: {reason}", "tune fewer --collectives at a time")

    # --- what follows from both

    def sizes_of(self) -> dict[Point, int]:
        return {(one.function, one.run.ranks, one.asked): one.bytes for one in self.journal.samples}

    def _groups(self) -> list[list[Point]]:
        """Cells of a function on so many ranks."""
        return [
            [(function, ranks, size) for name, size in self.points(ranks) if name == function]
            for ranks in self.request.ranks
            for function in self.request.names
            if self._choices(function, ranks)
        ]

    def found(self) -> Table:
        """What the scan says."""
        comparison = comparisons(self.journal.samples, "scan")
        failed = {(one.function, one.ranks, one.algorithm) for one in self.journal.failures}
        chosen: dict[Point, str | None] = {}
        for group in self._groups():
            function, ranks, _ = group[0]
            by_point = [
                {
                    name: one
                    for name, one in comparison.get(point, {}).items()
                    if (function, ranks, name) not in failed
                }
                for point in group
            ]
            if not self.target.sized(function):
                picked = [together(by_point)] * len(group)
            elif self.target.complete:
                picked = complete(by_point)
            else:
                picked = [best(one) for one in by_point]
            chosen |= dict(zip(group, picked, strict=True))
        return self._table(chosen)

    def _table(self, chosen: dict[Point, str | None]) -> Table:
        sizes = self.sizes_of()
        known = {point: name for point, name in chosen.items() if point in sizes}
        return table_of(known, sizes, self.target.sized, self.target.complete)

    def finished(self) -> bool:
        """Whether both stages had the rounds that a verdict needs."""
        found = self.found()
        scanned = {one.run for one in self.journal.samples if one.run.stage == "scan"}
        enough = all(
            Run("scan", LEAST_ROUNDS - 1, ranks, "after") in scanned
            for ranks in self.request.ranks
            if self.points(ranks)
        )
        last = [points.get("table") for points in self._confirmations(found).values()]
        return enough and all(one and len(one.ratios) >= LEAST_ROUNDS for one in last)

    def _confirmations(self, table: Table) -> dict[Point, dict[str, Comparison]]:
        """Of the table's points."""
        comparison = comparisons(self.journal.samples, self._stage(table))
        return {
            point: comparison.get(point, {})
            for group in self._groups()
            for point in group
            if point[:2] in table
        }

    def confirmed(self, table: Table) -> tuple[Table, dict[Point, tuple]]:
        """What of the table held; its points' algorithms and comparisons."""
        comparison = self._confirmations(table)
        sizes = self.sizes_of()
        chosen: dict[Point, str | None] = {}
        gains: dict[Point, tuple] = {}
        for group in self._groups():
            rules = table.get(group[0][:2], [])
            seen = [comparison.get(point, {}).get("table") for point in group]
            if not rules or None in seen:
                continue
            share = self.target.complete or not self.target.sized(group[0][0])
            held = group_won(seen) if share else True
            for point, one in zip(group, seen, strict=True):
                name = [rule.algorithm for rule in rules if rule.least <= sizes[point]][-1]
                holds = held and (share or won(one.ratios, one.noise))
                chosen[point] = name if holds else None
                if chosen[point]:
                    gains[point] = (name, one)
        return self._table(chosen), gains


def seconds_for(target: Target, request: Request) -> tuple[float, float]:
    """Of each point, so that two rounds fit into the scan's share; and what two will take."""
    points = starts = 0
    for ranks in request.ranks:
        counts = {f: len(target.algorithms(f, ranks)) for f in request.names}
        points += sum(
            (n + 2) * len(benchmark_points([f], request.sizes)) for f, n in counts.items() if n
        )
        starts += max(counts.values(), default=0) + 2
    if not points:
        raise Error(f"{target.title} has no choice in any of these functions", "see docs")
    free = SCAN_SHARE * request.budget / 2 - starts * START
    seconds = min(max(free / points / OVERHEAD, 0.003), 0.1)
    return seconds, 2 * (starts * START + points * seconds * OVERHEAD)
