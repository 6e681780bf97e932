# SPDX-License-Identifier: BSD-3-Clause
"""Measures nonblocking and persistent collectives under some MPIs; writes a page.

python benchmarks/nonblocking/measure.py PAGE.md MPI-PREFIX…
"""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from statistics import geometric_mean, median, quantiles

import page
from stretto.launch.mpi import Mpi, inspect

SOURCE = Path(__file__).with_name("nonblocking.c")
ENOUGH = 10  # rounds that nothing interrupted; with fewer a point is not judged
PATIENCE = 240  # seconds for a run
# Whose persistent requests cannot be measured. Those of Intel MPI 2021.18 on one node: a gather or
# scatter sends what its buffer held when it was made, and a rank of an allgather crashes.
BROKEN = {"Intel MPI"}
SERVED = re.compile(r"summary: rank 0 (\w+) served \d+.*?, passed on (\d+)", re.MULTILINE)

Point = tuple[str, int]  # function, bytes
Side = tuple[str, str]  # library and form
Times = dict[Point, dict[Side, list[float]]]  # µs of each round; below 0: a rank lost its core


@dataclass
class Found:
    """What was measured under one MPI."""

    mpi: Mpi
    points: Times = field(default_factory=dict)
    overlaps: Times = field(default_factory=dict)
    threaded: Times = field(default_factory=dict)
    passed_on: dict[str, int] = field(default_factory=dict)  # calls that Stretto did not serve

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


def compiled(mpi: Mpi, target: Path) -> Path:
    """Without mpicc: that of Intel MPI wants variables that a script sets."""
    prefix = mpi.mpiexec.parent.parent
    library = mpi.library or prefix / "lib" / "libmpi.so"
    words = ["cc", "-std=c11", "-O2", SOURCE, "-lm", "-o", target, f"-I{prefix}/include"]
    words += [library, f"-Wl,-rpath,{library.parent}"]
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"cannot compile {SOURCE} for the MPI in {prefix}: {done.stderr}")
    return target


def parsed(lines: str) -> Times:
    found: Times = {}
    for line in lines.splitlines():
        if line.startswith("wrong "):
            sys.exit(f"a wrong result: {line}")
        function, size, library, form, *times = line.split()
        point = found.setdefault((function.lower(), int(size)), {})
        point[library, form] = [float(time) for time in times]
    return found


def run(mpi: Mpi, program: Path, *words: str, **variables: str) -> tuple[Times, str]:
    """The times, and what was said."""
    launch = [sys.executable, "-m", "stretto", "run", "-n", "2", "--mpi", mpi.mpiexec, "--"]
    done = subprocess.run(
        [str(word) for word in (*launch, program, *words)],
        env={**os.environ, "STRETTO_LOG": "summary", **variables},
        timeout=PATIENCE, capture_output=True, text=True, check=False,
    )  # fmt: skip
    times = parsed(done.stdout)
    if done.returncode:
        sys.exit(f"{mpi.title}: exit code {done.returncode}\n{done.stderr}")
    return times, done.stderr


def measured(mpi: Mpi, folder: Path) -> Found:
    program = compiled(mpi, folder / f"nonblocking-{mpi.name.replace(' ', '-')}")
    found = Found(mpi)
    found.points, said = run(mpi, program, "points", *(["own"] if mpi.name in BROKEN else []))
    found.passed_on = {name: int(calls) for name, calls in SERVED.findall(said) if int(calls)}
    found.overlaps, _ = run(mpi, program, "overlap")
    found.threaded, _ = run(mpi, program, "overlap", "own", STRETTO_PROGRESS="thread")
    return found


def main(target: Path, prefixes: list[Path]) -> None:
    load, results = os.getloadavg()[0], []
    with tempfile.TemporaryDirectory() as folder:
        for prefix in prefixes:
            mpi = inspect(prefix.absolute() / "bin" / "mpiexec", "benchmark")
            if mpi is None:
                sys.exit(f"{prefix} has no MPI that Stretto knows")
            print(f"{mpi.title} …", file=sys.stderr, flush=True)
            results.append(measured(mpi, Path(folder)))
    text = page.text(results, date.today().isoformat(), load, ENOUGH)
    target.write_text(text, encoding="utf-8")
    print(f"wrote {target}", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main(Path(sys.argv[1]), [Path(prefix) for prefix in sys.argv[2:]])
