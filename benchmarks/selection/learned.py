# SPDX-License-Identifier: BSD-3-Clause
"""What a program learns on the calls of a point: a benchmark whose calls are Stretto's and native
ones by turns, with `STRETTO_LEARN`."""

import sys
from pathlib import Path

import stretto
from stretto.launch import Mpi
from stretto.launch.mpi import cores
from stretto.measure.driver import run_benchmark
from stretto.tune.own.points import Point, chosen_words, shipped


def learned(mpi: Mpi, points: list[Point], folder: Path, seconds: float) -> dict[Point, str]:
    """The choice of later runs; that of the shipped rules where nothing was learned in time."""
    found = {}
    for at, point in enumerate(points):
        file = folder / f"learned-{point.ranks}-{at}.rules"
        variables = {"STRETTO_LEARN": str(file), "STRETTO_RULES": "shipped"}
        done = run_benchmark(
            mpi, point.ranks, [point.name], [point.asked], seconds, variables=variables
        )
        if done.wrong:
            sys.exit(f"a wrong result: {done.wrong[0]}")
        found[point] = shipped(point, point.ranks, cores()).words
        if file.exists():
            found[point] = chosen_words(stretto.read_rules(str(file)), point, point.ranks, cores())
        print(point, found[point], file=sys.stderr, flush=True)
    return found
