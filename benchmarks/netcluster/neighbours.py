# SPDX-License-Identifier: BSD-3-Clause
"""Neighbourhood collectives on skewed graphs, between two hosts of four ranks.

Native calls and Stretto's take turns in one launch.
"""

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, median

from openmpi import on_cluster
from paired import PATIENCE, Lab, as_program, lab
from stretto import _core
from stretto.errors import Error
from stretto.launch import choose_mpi
from stretto.launch.mpi import cores
from stretto.measure.driver import Results, drive
from stretto.measure.points import SYNCHRONISED
from stretto.units import size_in_words
from tree import Tree

PAGE = Path(__file__).with_name("neighbours.md")
FUNCTIONS = [
    "neighbor_alltoallv", "neighbor_alltoall", "neighbor_allgatherv", "neighbor_allgather",
]  # fmt: skip
GRAPHS = ["random=2", "random=5", "random=12"]
SIZES = [8, 1 << 10, 16 << 10, 128 << 10]  # of a part, on average
PER_HOST = 4


@dataclass(frozen=True)
class Row:
    name: str
    graph: str
    size: int
    native_us: float
    stretto_us: float
    algorithm: str

    @property
    def ratio(self) -> float:
        return self.native_us / self.stretto_us


def measure(
    here: Lab, graph: str, functions: list[str], sizes: list[int], wish: argparse.Namespace
) -> list[Row]:
    """Medians of some launches: one may have had the cores less than another."""
    found: dict[tuple[str, int], list[dict]] = {}
    for _ in range(wish.launches):
        mpi, race = on_cluster(here.mpi, here.cluster, here.placement), Results()
        words = ["--collectives", ",".join(functions), "--sizes", ",".join(map(str, sizes))]
        words += ["--modes", SYNCHRONISED, "--graph", graph]
        drive(mpi, here.ranks, words, wish.seconds, PATIENCE, race)
        if race.wrong:
            raise Error(
                f"a wrong result: {race.wrong[0]}", "that is a bug of Stretto, or of the MPI"
            )
        for cell in race.cells:
            found.setdefault((cell["cell"], cell["asked"]), []).append(cell)
    return [
        Row(name, graph, size, median(c["native_us"] for c in cells),
            median(c["stretto_us"] for c in cells), cells[0]["algorithm"])
        for (name, size), cells in found.items()
    ]  # fmt: skip


def table(rows: list[Row]) -> str:
    lines = [
        "| function | graph | bytes | native, µs | Stretto, µs | times as fast | algorithm |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    for r in rows:
        lines.append(
            f"| {r.name} | `{r.graph}` | {size_in_words(r.size)} | {r.native_us:.0f} "
            f"| {r.stretto_us:.0f} | {r.ratio:.2f} | {r.algorithm.partition('/')[2]} |"
        )
    return "\n".join(lines)


def finding(rows: list[Row]) -> str:
    said = []
    for name in dict.fromkeys(r.name for r in rows):
        ratios = [r.ratio for r in rows if r.name == name]
        said.append(
            f"`{name}` {geometric_mean(ratios):.2f} times as fast on average, {min(ratios):.2f} to "
            f"{max(ratios):.2f}"
        )
    return ";\n".join(said)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/netcluster/neighbours", description=__doc__)
    parser.add_argument("--mpi", default="openmpi", help="or the path of an Open MPI's mpiexec")
    parser.add_argument("--mbit", type=float, default=100.0, help="of every link")
    parser.add_argument("--functions", default=",".join(FUNCTIONS))
    parser.add_argument("--graphs", default=",".join(GRAPHS), help="as `stretto bench` takes them")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="of a part, on average")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a point, at least")
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--page", type=Path, help="to write, beside what is printed")
    wish = parser.parse_args()
    sizes = [_core.parse_size(one) or 0 for one in wish.sizes.split(",")]
    if 0 in sizes:
        raise Error(f"--sizes: '{wish.sizes}' are no sizes", "write 8,1K,16K")
    begun, mpi, rows = time.monotonic(), choose_mpi(wish.mpi), []
    with lab(mpi, Tree((2,), None, wish.mbit / 8 * 1e6, 0.0), "by-host", PER_HOST) as here:
        for graph in wish.graphs.split(","):
            print(f"{graph} …", file=sys.stderr, flush=True)
            rows += measure(here, graph, wish.functions.split(","), sizes, wish)
    rows.sort(key=lambda r: wish.functions.index(r.name))
    print(f"{table(rows)}\n\n{finding(rows)}")
    if wish.page:
        text = PAGE.read_text(encoding="utf-8").format(
            minutes=(time.monotonic() - begun) / 60, table=table(rows), finding=finding(rows),
            mpi=mpi.title, mbit=wish.mbit, cores=cores(), launches=wish.launches,
            per_host=PER_HOST,
        )  # fmt: skip
        wish.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    as_program(main)
