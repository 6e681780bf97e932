# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of runs under the native library: as it is, with each algorithm forced, as it is again."""

import hashlib
import tempfile
from collections.abc import Callable
from itertools import chain, groupby
from pathlib import Path

from ...errors import Error
from ...measure.driver import Results, SilenceError, drive
from ...measure.points import benchmark_points
from ...measure.session import Advance, Request, TuningSession
from .comparison import (
    LEAST_ROUNDS,
    Comparison,
    best,
    comparisons,
    complete,
    group_won,
    table_of,
    together,
    won,
)
from .journal import Failure, Journal, Point, Run, Sample
from .target import Rule, Table, Target

SCAN_SHARE = 0.6  # of the budget; the rest confirms what was found
MOST_ROUNDS = 9
SAMPLED = ("function", "asked", "bytes", "native_us")  # of what the driver says
HOPELESS = 1.3  # times the library's time: not measured again
START = 1.5  # seconds to start a job, roughly
OVERHEAD = 2.5  # a point takes so many times its share, with finding how many calls fill a block


class NativeSession(TuningSession):
    """Fills the journal, as long as the budget lasts."""

    def __init__(self, target: Target, request: Request, journal: Journal, seconds: float) -> None:
        super().__init__(request)
        self.target, self.journal, self.seconds = target, journal, seconds

    def points(self, ranks: int) -> list[Point]:
        """That have a choice."""
        functions = [f for f in self.request.names if self.target.algorithms(f, ranks)]
        every = benchmark_points(functions, self.request.sizes)
        return [Point(function, ranks, size) for function, size in every]

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
        points, line_ups = self.points(ranks), self._line_ups(ranks)
        for i, algorithms in enumerate([{}, *line_ups, {}]):
            if self.left(SCAN_SHARE) < 0:
                return False
            self.say(f"round {number + 1}, {ranks} ranks, {i + 1} of {len(line_ups) + 2}")
            if not algorithms:
                self._plain(Run("scan", number, ranks, "after" if i else "before"), points)
                continue
            own = [point for point in points if point.function in algorithms]
            seen = {point: found.get(point, {}).get(algorithms[point.function]) for point in own}
            hopeful = [point for point, one in seen.items() if not one or one.ratio <= HOPELESS]
            self._forced(number, ranks, algorithms, hopeful)
        return True

    def _line_ups(self, ranks: int) -> list[dict[str, str]]:
        """The k-th algorithms of all functions share a job."""
        lists = {f: self.target.algorithms(f, ranks) for f in self.request.names}
        most = max(map(len, lists.values()), default=0)
        return [{f: own[k] for f, own in lists.items() if k < len(own)} for k in range(most)]

    def _plain(self, run: Run, points: list[Point]) -> None:
        for _ in range(2):
            todo = [point for point in points if not self.journal.has(run, point)]
            if not todo:
                return
            reason = self._drive(lambda _: run, {}, todo)
        if reason:
            title = self.target.mpi.title
            raise Error(f"{title} as it is: {reason}", "`stretto doctor` shows what works")

    def _forced(
        self, number: int, ranks: int, algorithms: dict[str, str], points: list[Point]
    ) -> None:
        def run_of(function: str) -> Run:
            return Run("scan", number, ranks, algorithms[function])

        todo = [
            point
            for point in points
            if not self.journal.has(run_of(point.function), point)
            and not self.journal.failed(point.function, ranks, algorithms[point.function])
        ]
        functions = list(dict.fromkeys(point.function for point in todo))
        if not functions:
            return
        table = {(f, ranks): [Rule(0, algorithms[f])] for f in functions}
        reason = self._drive(run_of, table, todo)
        if reason and len(functions) == 1:
            failure = Failure(functions[0], ranks, algorithms[functions[0]], reason)
            self.journal.add(failures=[failure])
        elif reason:  # the driver's own calls may have failed: each function alone says whose
            for function in functions:
                own = [point for point in todo if point.function == function]
                self._forced(number, ranks, {function: algorithms[function]}, own)

    def _drive(self, run_of: Callable[[str], Run], table: Table, points: list[Point]) -> str:
        """Measures; why it did not come to its end, or nothing."""
        results, ranks, reason = Results(), points[0].ranks, ""
        words = ",".join(f"{point.function}:{max(point.asked, 1)}" for point in points)
        arguments = ["--cells", words, "--native-only"]
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
                right = [said for said in results.cells if said["correct"]]
                rows = [[said[name] for name in SAMPLED] for said in right]
                self.journal.add(Sample(run_of(row[0]), *row) for row in rows)
        return "wrong result" if results.wrong else reason

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
                points = [point for point in self.points(ranks) if point[:2] in table]
                for part in ("before", "table", "after") if points else ():
                    if self.left() < 0:
                        return
                    self.say(f"confirming, round {number + 1}, {ranks} ranks")
                    self._confirm_part(Run(stage, number, ranks, part), table, points)

    def _confirm_part(self, run: Run, table: Table, points: list[Point]) -> None:
        if run.part != "table":
            self._plain(run, points)
            return
        todo = [point for point in points if not self.journal.has(run, point)]
        reason = self._drive(lambda _: run, table, todo) if todo else ""
        if reason:
            raise Error(f"with the tuning files: {reason}", "tune fewer --collectives at a time")

    # --- what follows from both

    def _bytes(self) -> dict[Point, int]:
        return {one.point: one.bytes for one in self.journal.samples}

    def _groups(self) -> list[list[Point]]:
        """Points of a function on so many ranks."""
        every = (point for ranks in self.request.ranks for point in self.points(ranks))
        return [list(group) for _, group in groupby(every, key=lambda point: point[:2])]

    def found(self) -> Table:
        """What the scan says."""
        comparison = comparisons(self.journal.samples, "scan")
        failed = {(one.function, one.ranks, one.algorithm) for one in self.journal.failures}
        chosen: dict[Point, str | None] = {}
        for group in self._groups():
            by_point = [
                {n: one for n, one in comparison.get(p, {}).items() if (*p[:2], n) not in failed}
                for p in group
            ]
            if not self.target.sized(group[0].function):
                picked = [together(by_point)] * len(group)
            elif self.target.complete:
                picked = complete(by_point)
            else:
                picked = [best(one) for one in by_point]
            chosen |= dict(zip(group, picked, strict=True))
        return self._table(chosen)

    def _table(self, chosen: dict[Point, str | None]) -> Table:
        sizes = self._bytes()
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
        points = [point for point in chain(*self._groups()) if point[:2] in table]
        return {point: comparison.get(point, {}) for point in points}

    def confirmed(self, table: Table) -> tuple[Table, dict[Point, tuple]]:
        """What of the table held; its points' algorithms and comparisons."""
        comparison = self._confirmations(table)
        sizes = self._bytes()
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
        for function, count in counts.items():
            points += (count + 2) * len(benchmark_points([function], request.sizes)) * bool(count)
        starts += max(counts.values(), default=0) + 2
    if not points:
        raise Error(f"{target.title} has no choice in any of these functions", "see docs")
    free = SCAN_SHARE * request.budget / 2 - starts * START
    seconds = min(max(free / points / OVERHEAD, 0.003), 0.1)
    return seconds, 2 * (starts * START + points * seconds * OVERHEAD)
