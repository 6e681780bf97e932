# SPDX-License-Identifier: BSD-3-Clause
"""What a program learns that makes nothing but the calls of a point, with `STRETTO_LEARN`."""

import sys
from pathlib import Path

from stretto.launch import Mpi
from stretto.launch.mpi import cores
from stretto.learned import read_learned
from stretto.measure.driver import Results, drive
from stretto.tune.own.points import Point

PARTS = 5  # of the time: a part ends after so many calls, too


def learned(mpi: Mpi, points: list[Point], folder: Path, seconds: float) -> dict[Point, str]:
    """The choice of later runs, where one was learned: not on ranks that share cores."""
    found = {}
    for at, point in enumerate(one for one in points if one.ranks <= cores()):
        file = folder / f"learned-{point.ranks}-{at}.rules"
        file.unlink(missing_ok=True)
        variables = {"STRETTO_LEARN": str(file), "STRETTO_RULES": "shipped"}
        cells = ",".join([f"{point.name}:{max(point.asked, 1)}"] * PARTS)
        arguments = ["--cells", cells, "--stretto-only"]
        done = drive(mpi, point.ranks, arguments, seconds / PARTS, 60 + 2 * seconds, Results(),
                     variables=variables)  # fmt: skip
        if done.wrong:
            sys.exit(f"a wrong result: {done.wrong[0]}")
        # Of its classes of calls that with the most is the point's: what comes between batches are
        # calls of Stretto's as well.
        own = [
            one
            for one in (read_learned(file) if file.exists() else [])
            if one.function == point.name
        ]
        if own:
            most = max(own, key=lambda one: one.pairs)
            found[point] = most.choice.replace(" ", ",")
        print(point, found.get(point), file=sys.stderr, flush=True)
    return found
