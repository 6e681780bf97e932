# SPDX-License-Identifier: BSD-3-Clause
"""What came out of the runs: times of the program and of its collectives, on both sides."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from statistics import mean, median

from ..measure.busy import Load
from ..report.read import Profile, Row
from .output import Sameness
from .output import compare as compare_output
from .runs import NATIVE, SIDES, STRETTO, Comparison, Run
from .statistics import Ratio, ratio_of


@dataclass(frozen=True)
class Part:
    """The program, its collectives, or one function; seconds are medians of the runs, per rank."""

    name: str
    native: float
    stretto: float
    ratio: Ratio | None
    calls: float = 0.0  # of a rank
    algorithms: list[str] = field(default_factory=list)  # with Stretto, the longest first


@dataclass(frozen=True)
class Outcome:
    """Of one MPI. Without a profile the parts are only the program."""

    job: str
    mpi: str
    ranks: int | None
    repeat: int
    program: Part
    collectives: Part | None
    functions: list[Part]
    moving: dict[str, float]  # with Stretto, by function: the share of the time but for waiting
    start: float | None  # seconds until the first collective, natively
    measuring: dict[str, float]  # by side: the share of the time that timing calls takes
    timing_ns: dict[str, float]
    load: Load | None  # the most that others used in a run
    output: Sameness | None
    runs: list[Run]

    def as_row(self) -> dict:
        """For JSON, without the runs' files."""
        row = asdict(replace(self, runs=[]))
        row["runs"] = [
            {
                "side": run.side,
                "seconds": run.seconds,
                "collectives": per_rank(run.profile, run.profile.rows) if run.profile else None,
                "others_cores": run.load.others if run.load else None,
            }
            for run in self.runs
        ]
        return row


def per_rank(profile: Profile, rows: list[Row]) -> float:
    return sum(row.seconds for row in rows) / max(len(profile.ranks), 1)


def _part(name: str, pairs: list[tuple[Run, Run]], wanted: Callable[[Row], bool]) -> Part:
    """Of runs that all have a profile."""

    def rows_of(run: Run) -> list[Row]:
        return [row for row in run.profile.rows if wanted(row)]

    native, stretto = (
        [per_rank(run.profile, rows_of(run)) for run in side] for side in zip(*pairs, strict=True)
    )
    mine = [rows_of(run) for _, run in pairs]
    served = (
        (f"native ({row.reason})" if row.native else row.algorithm, row.seconds)
        for row in chain.from_iterable(mine)
    )
    calls = median(sum(row.calls for row in own) for own in mine)
    ratio = ratio_of(native, stretto)
    return Part(name, median(native), median(stretto), ratio, calls, list(_summed(served)))


def _summed(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    """By name, the most first."""
    spent: dict[str, float] = defaultdict(float)
    for name, own in pairs:
        spent[name] += own
    return dict(sorted(spent.items(), key=lambda item: -item[1]))


def _moving(runs: list[Run]) -> dict[str, float]:
    """The mean of the runs' shares, by function."""
    return _summed(
        (row.function, row.moving / len(run.profile.ranks) / run.seconds / len(runs))
        for run in runs
        if run.profile
        for row in run.profile.rows
    )


def _measuring(run: Run) -> float:
    """The share of a run's time that it took to time its calls, as far as that is known."""
    profile = run.profile
    if not profile or not profile.timing_ns or profile.wall == 0:
        return 0.0
    nanoseconds = sum(
        row.calls * row.ranks * row.timed * profile.timing_ns["native" if row.native else "served"]
        for row in profile.rows
    )
    return nanoseconds * 1e-9 / profile.wall


def _start(runs: list[Run]) -> float | None:
    """Seconds from the start of the launcher to the first collective, of the median run."""
    found = []
    for run in runs:
        ranks = run.profile.ranks if run.profile else []
        known = [rank.before for rank in ranks if rank.before is not None]
        if known:
            launching = max(run.seconds - max(rank.wall for rank in ranks), 0.0)
            found.append(launching + max(known))
    return median(found) if found else None


def _same_output(comparison: Comparison) -> Sameness:
    sides = [[run.out.read_bytes() for run in comparison.of(side)] for side in SIDES]
    return compare_output(*sides)


def outcome_of(comparison: Comparison) -> Outcome:
    """Of all runs that were measured; of the first one where its program calls nothing."""
    pairs = comparison.pairs()
    first = comparison.first
    profiled = [run for run in (*comparison.runs, first) if run and run.profile]
    profile = profiled[0].profile if profiled else None
    with_rows = bool(pairs) and all(run.profile and run.profile.rows for run in comparison.runs)
    times = {side: [run.seconds for run in comparison.of(side)] for side in SIDES}
    program = Part(
        "the program",
        median(times[NATIVE]) if pairs else first.seconds if first else 0.0,
        median(times[STRETTO]) if pairs else 0.0,
        ratio_of(times[NATIVE], times[STRETTO]),
    )
    rows = [row for run in comparison.runs if run.profile for row in run.profile.rows]
    titles = _summed((row.title, row.seconds) for row in rows) if with_rows else {}
    loads = [run.load for run in comparison.runs if run.load]
    mine = comparison.of(STRETTO)
    return Outcome(
        job=str(comparison.job),
        mpi=comparison.mpi,
        ranks=len(profile.ranks) if profile else comparison.job.known_ranks,
        repeat=len(pairs),
        program=program,
        collectives=_part("in collectives", pairs, lambda row: True) if with_rows else None,
        functions=[_part(title, pairs, lambda row, t=title: row.title == t) for title in titles],
        moving=_moving(mine) if with_rows else {},
        start=_start(comparison.of(NATIVE)),
        measuring={side: mean(map(_measuring, comparison.of(side))) for side in SIDES if pairs},
        timing_ns=profile.timing_ns if profile else {},
        load=max(loads, key=lambda load: load.others, default=None),
        output=_same_output(comparison) if comparison.wish.same_output and pairs else None,
        runs=comparison.runs,
    )
