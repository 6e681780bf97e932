# SPDX-License-Identifier: BSD-3-Clause
"""How much of a nonblocking collective a computation hides on eight hosts.

The computation makes no MPI calls. Each library is measured with and without
STRETTO_PROGRESS=thread.
"""

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from openmpi import on_cluster
from paired import PATIENCE, Lab, as_program, lab
from stretto import _core
from stretto.errors import Error
from stretto.launch import choose_mpi
from stretto.launch.mpi import cores
from stretto.measure.driver import Results, drive
from stretto.measure.overlap import Overlap, overlap_of
from stretto.tune.own.points import in_parts
from stretto.units import size_in_words
from tree import Tree

PAGE = Path(__file__).with_name("overlap.md")
FUNCTIONS = ["bcast", "allreduce", "alltoall"]
SIZES = [64 << 10, 512 << 10, 4 << 20]  # of the whole vector; of an alltoall, of what a rank sends
TO_REACH = 0.7

Point = tuple[str, int]  # function, bytes


@dataclass(frozen=True)
class How:
    thread: bool  # STRETTO_PROGRESS
    elsewhere: bool  # each rank has a core of its own for the computation, which sleeps here


Side = tuple[str, How]  # library, how
WAYS = [How(False, True), How(True, True), How(True, False)]
SIDES: list[Side] = [("native", WAYS[0]), *(("stretto", how) for how in WAYS)]
THREAD: Side = ("stretto", WAYS[1])
Found = dict[Point, dict[Side, Overlap]]


def measure(here: Lab, name: str, size: int, seconds: float, how: How) -> dict[Side, Overlap]:
    """Of both libraries, which take turns in one launch."""
    function = next(f for f in _core.all_functions() if _core.facts(f).name == name)
    asked = size // here.ranks if in_parts(function) else size
    mpi, race = on_cluster(here.mpi, here.cluster, here.placement), Results()
    words = ["--overlap", "--collectives", name, "--sizes", str(asked)]
    if how.elsewhere:
        words.append("--compute-elsewhere")
    variables = {"STRETTO_PROGRESS": "thread"} if how.thread else {}
    drive(mpi, here.ranks, words, seconds, PATIENCE, race, variables=variables)
    if race.wrong:
        raise Error(f"a wrong result: {race.wrong[0]}", "that is a bug of Stretto")
    (said,) = race.cells
    return {(library, how): overlap_of(said[library]) for library in ("native", "stretto")}


def table(found: Found) -> str:
    def cell(one: Overlap) -> str:
        return f"{100 * one.share:.0f} % of {one.call_us * 1e-3:.1f}"

    lines = [
        "| function, bytes | Open MPI, ms | Stretto | thread | thread, computing here |",
        "|---|---:|---:|---:|---:|",
    ]
    for (name, size), sides in found.items():
        cells = " | ".join(cell(sides[side]) for side in SIDES)
        lines.append(f"| i{name}, {size_in_words(size)} | {cells} |")
    return "\n".join(lines)


def finding(found: Found) -> str:
    def span(side: Side) -> str:
        shares = [100 * sides[side].share for sides in found.values()]
        return f"{min(shares):.0f} to {max(shares):.0f} %"

    met = all(sides[THREAD].share >= TO_REACH for sides in found.values())
    return (
        f"Where each rank computes on a core of its own, Open MPI's\n"
        f"collectives hide {span(SIDES[0])} of their time, Stretto's {span(SIDES[1])}, and with "
        f"`STRETTO_PROGRESS=thread` {span(THREAD)}: at least\n{100 * TO_REACH:.0f} % were to be "
        f"reached, which is {'reached' if met else 'missed'}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/netcluster/overlap", description=__doc__)
    parser.add_argument("--mpi", default="openmpi", help="or the path of an Open MPI's mpiexec")
    parser.add_argument("--mbit", type=float, default=200.0, help="of every link")
    parser.add_argument("--functions", default=",".join(FUNCTIONS))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="of the whole vector")
    parser.add_argument("--seconds", type=float, default=4.0, help="of a point, at least")
    parser.add_argument("--page", type=Path, help="to write, beside what is printed")
    wish = parser.parse_args()
    sizes = [_core.parse_size(one) or 0 for one in wish.sizes.split(",")]
    if 0 in sizes:
        raise Error(f"--sizes: '{wish.sizes}' are no sizes", "write 64K,512K,4M")
    begun, found, mpi = time.monotonic(), Found(), choose_mpi(wish.mpi)
    with lab(mpi, Tree((4, 4), None, wish.mbit / 8 * 1e6, 0.0), "by-host") as here:
        for name in wish.functions.split(","):
            for size in sizes:
                print(f"{name}, {size_in_words(size)} …", file=sys.stderr, flush=True)
                found[name, size] = {}
                for how in WAYS:
                    found[name, size] |= measure(here, name, size, wish.seconds, how)
    rows = table(found)
    print(f"{rows}\n\n{finding(found)}")
    if wish.page:
        text = PAGE.read_text(encoding="utf-8").format(
            minutes=(time.monotonic() - begun) / 60, table=rows, finding=finding(found),
            mpi=mpi.title, mbit=wish.mbit, cores=cores(), ranks=here.ranks,
        )  # fmt: skip
        wish.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    as_program(main)
