# SPDX-License-Identifier: BSD-3-Clause
"""Measures nonblocking and persistent collectives under some MPIs; writes a page.

python benchmarks/nonblocking/measure.py PAGE.md MPI-PREFIX…
"""

import os
import sys
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from statistics import geometric_mean, median, quantiles

import page
from stretto import all_functions, facts
from stretto.launch.mpi import Mpi, inspect
from stretto.measure.driver import Results, drive, run_benchmark
from stretto.measure.overlap import LIBRARIES, Parts
from stretto.measure.points import FORMS, benchmark_points

RANKS = 2
SIZES = [8, 64, 1024]
SECONDS = 0.3  # for a point
OVERLAPPED = ["bcast", "alltoall", "allreduce"]
OVERLAPPED_SIZES = [64 << 10, 1 << 20, 4 << 20]
ENOUGH = 10  # rounds that nothing interrupted; with fewer a point is not judged
PATIENCE = 240  # seconds without a word

Point = tuple[str, int]  # function, bytes
Side = tuple[str, str]  # library and form
Times = dict[Point, dict[Side, list[float]]]  # µs of each round; below 0: a rank lost its core


@dataclass
class Found:
    """What was measured under one MPI."""

    mpi: Mpi
    points: Times = field(default_factory=dict)
    overlaps: dict[Point, dict[str, Parts]] = field(default_factory=dict)  # by library
    threaded: dict[Point, dict[str, Parts]] = field(default_factory=dict)
    passed_on: list[str] = field(default_factory=list)  # functions that Stretto did not serve

    def has(self, *sides: Side) -> bool:
        return all(side in times for times in self.points.values() for side in sides)

    def judged(self, point: Point, *sides: Side) -> bool:
        return is_clear(*(self.points[point][side] for side in sides))

    def us(self, point: Point, side: Side) -> float:
        return median(chosen for (chosen,) in undisturbed(self.points[point][side]))

    def ratio(self, point: Point, over: Side, under: Side) -> float:
        """By rounds: within one the machine was in one state."""
        times = self.points[point]
        return median(a / b for a, b in undisturbed(times[over], times[under]))

    def mean(self, over: Side, under: Side, size: int | None = None) -> float:
        """Over the functions, and over the sizes if none is given."""
        chosen = [one for one in self.points if size is None or one[1] == size]
        chosen = [one for one in chosen if self.judged(one, over, under)] or chosen
        return geometric_mean(self.ratio(one, over, under) for one in chosen)

    def spread(self) -> float:
        """Between the quartiles of its rounds, as a share of a time; the median of all times."""
        found = []
        for times in (times for point in self.points.values() for times in point.values()):
            low, middle, high = quantiles((time for (time,) in undisturbed(times)), n=4)
            found.append((high - low) / middle)
        return median(found)

    def interrupted(self) -> float:
        """The share of blocks."""
        of_all = [x for point in self.points.values() for times in point.values() for x in times]
        return sum(x < 0 for x in of_all) / len(of_all)


def undisturbed(*sides: list[float]) -> list[tuple[float, ...]]:
    """The rounds in which no side was interrupted, or all if these are too few."""
    rounds = list(zip(*sides, strict=True))
    chosen = [one for one in rounds if min(one) > 0]
    return chosen if len(chosen) >= ENOUGH else [tuple(map(abs, one)) for one in rounds]


def is_clear(*sides: list[float]) -> bool:
    return sum(min(one) > 0 for one in zip(*sides, strict=True)) >= ENOUGH


def right(mpi: Mpi, race: Results) -> Results:
    if race.wrong:
        sys.exit(f"{mpi.title}: a wrong result: {race.wrong[0]}")
    return race


def overlaps(mpi: Mpi, **variables: str) -> dict[Point, dict[str, Parts]]:
    race = right(
        mpi,
        run_benchmark(
            mpi, RANKS, OVERLAPPED, OVERLAPPED_SIZES, 2 * SECONDS, variables=variables, overlap=True
        ),
    )
    return {
        (said["function"], said["asked"]): {library: said[library] for library in LIBRARIES}
        for said in race.cells
    }


def measured(mpi: Mpi) -> Found:
    """Each function in its three forms, which take turns."""
    every = [facts(function) for function in all_functions()]
    names = [one.name for one in every if not facts(one.collective).neighbourhood]
    points = benchmark_points(names, SIZES)
    words = ["/".join(f"{name}:{size}:{form}" for form in FORMS) for name, size in points]
    race, found = Results(), Found(mpi)
    drive(mpi, RANKS, ["--pairs", ",".join(words)], SECONDS, PATIENCE, race)
    for point, said in zip(points, right(mpi, race).pairs, strict=True):
        found.points[point] = {
            (library, form): [-us if disturbed else us for us, disturbed in batches]
            for library in LIBRARIES
            for form, batches in zip(FORMS, said[library], strict=True)
            if batches
        }
        if "native" in said["algorithms"]:
            found.passed_on.append(point[0])
    found.overlaps = overlaps(mpi)
    found.threaded = overlaps(mpi, STRETTO_PROGRESS="thread")
    return found


def main(target: Path, prefixes: list[Path]) -> None:
    load, results = os.getloadavg()[0], []
    for prefix in prefixes:
        mpi = inspect(prefix.absolute() / "bin" / "mpiexec", "benchmark")
        if mpi is None:
            sys.exit(f"{prefix} has no MPI that Stretto knows")
        print(f"{mpi.title} …", file=sys.stderr, flush=True)
        results.append(measured(mpi))
    text = page.text(results, date.today().isoformat(), load, ENOUGH)
    target.write_text(text, encoding="utf-8")
    print(f"wrote {target}", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main(Path(sys.argv[1]), [Path(prefix) for prefix in sys.argv[2:]])
