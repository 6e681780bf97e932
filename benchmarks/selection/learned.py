# SPDX-License-Identifier: BSD-3-Clause
"""What a program learns on the calls of a point: a benchmark whose calls are Stretto's and native
ones by turns, with `STRETTO_LEARN`."""

import sys
from pathlib import Path

from stretto import _core
from stretto.launch import Mpi
from stretto.launch.mpi import cores
from stretto.measure.driver import run_benchmark
from stretto.tune.own.points import Point, chosen_words


def learned(mpi: Mpi, points: list[Point], folder: Path, seconds: float) -> dict[Point, str]:
    """The choice of later runs; that of the shipped rules where nothing was learned in time."""
    found = {}
    for at, point in enumerate(points):
        file = folder / f"learned-{point.ranks}-{at}.rules"
        file.unlink(missing_ok=True)
        variables = {"STRETTO_LEARN": str(file), "STRETTO_RULES": "shipped"}
        done = run_benchmark(
            mpi, point.ranks, [point.name], [point.asked], seconds, variables=variables
        )
        if done.wrong:
            sys.exit(f"a wrong result: {done.wrong[0]}")
        if file.exists():
            rules = _core.complete_rules(file.read_text(encoding="utf-8"), str(file))
        else:
            rules = _core.shipped_rules()
        found[point] = chosen_words(rules, point, point.ranks, cores())
        print(point, found[point], file=sys.stderr, flush=True)
    return found
