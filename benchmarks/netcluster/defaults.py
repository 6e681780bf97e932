# SPDX-License-Identifier: BSD-3-Clause
"""What the shipped rules choose where ranks are on several nodes, against the native functions.

Each call follows a barrier; its time is that of the slowest rank. Both take turns. What is above
the limit is measured again, and the median counts: all ranks share the cores of one machine.
"""

import argparse
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from paired import RULES, Lab, Plan, as_program, lab
from stretto import _core
from stretto.algorithms import function_named
from stretto.errors import Error
from stretto.launch import choose_mpi
from stretto.launch.mpi import cores
from stretto.measure.points import SYNCHRONISED
from stretto.tune.own.points import NATIVE, Point, in_parts
from stretto.units import size_in_words
from tree import Tree

LIMIT = 1.5
PAGE = Path(__file__).with_name("defaults.md")
AGAIN = 4  # launches more of what is above it
SIZES = [8 << 2 * i for i in range(11)] + [16 << 20]  # of the whole vector: 8, 32, … 8M, 16M


@dataclass(frozen=True)
class Layout:
    hosts: tuple[int, ...]  # on each switch, of a line
    place: str
    per_host: int
    title: str


LAYOUTS = {
    "switches": Layout((4, 4), "alternating", 1, "two switches of four hosts, ranks by turns"),
    "hosts": Layout((8,), "by-host", 1, "eight hosts on a switch"),
    "nodes": Layout((2,), "by-host", 4, "two hosts of four ranks"),
    "small-nodes": Layout((3,), "by-host", 2, "three hosts of two ranks"),
    "by-turns": Layout((2,), "h0,h1,h0,h1,h0,h1,h0,h1", 1, "two hosts of four ranks, by turns"),
    "uneven": Layout((2,), "h0,h0,h0,h0,h1,h1,h1", 1, "hosts of four and of three ranks"),
}


@dataclass
class Compared:
    """Of a point: seconds by launch."""

    algorithm: str = ""
    native: list[float] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        return median(own / native for own, native in zip(self.ours, self.native, strict=True))


def points_of(names: list[str], ranks: int, sizes: list[int]) -> list[Point]:
    """Of vectors of so many bytes; where every rank has a part, of at least 8 bytes a part."""
    found = []
    for name in names:
        function = function_named(name)
        if function is None:
            raise Error(f"there is no function '{name}'", "`stretto list` names them")
        parts = in_parts(function)
        for size in sizes if name != "barrier" else [0]:
            asked = max(size // ranks, 8) if parts and size else size
            found.append(Point(name, ranks, asked))
    return list(dict.fromkeys(found))


def measure(here: Lab, points: list[Point], seconds: float, rules: str) -> dict[Point, Compared]:
    found = {point: Compared() for point in points}
    left = points
    for _ in range(1 + AGAIN):
        plan: Plan = {point: [f"+{NATIVE}", f"+{RULES}"] for point in left}
        for point, one in here.run(plan, seconds, rules, SYNCHRONISED).items():
            times = {entry.words: entry for entry in one.entries}
            found[point].algorithm = times[RULES].algorithm.partition("/")[2] or NATIVE
            found[point].native.append(times[NATIVE].us * 1e-6)
            found[point].ours.append(times[RULES].us * 1e-6)
        left = [p for p in left if found[p].ratio > LIMIT or len(found[p].ours) > 1]
        if not left:
            break
    return found


def in_words(point: Point) -> str:
    return f"{point.name} {size_in_words(point.bytes)}" if point.asked else point.name


def row(layout: str, point: Point, one: Compared) -> str:
    native, ours = 1e3 * median(one.native), 1e3 * median(one.ours)
    words = [layout, in_words(point), f"{native:.3g}", f"{ours:.3g} `{one.algorithm}`"]
    return f"| {' | '.join(words)} | {one.ratio:.2f} |"


def table(found: dict[tuple[str, Point], Compared]) -> str:
    """The rows, the worst, and all above the limit."""
    head = ["| layout | call | native, ms | shipped, ms | ratio |", "|---|---|---|---|---|"]
    lines = head + [row(layout, point, one) for (layout, point), one in found.items()]
    above = {key: one for key, one in found.items() if one.ratio > LIMIT}
    if above:
        lines += ["", f"Above {LIMIT}:", "", *head]
        lines += [row(layout, point, one) for (layout, point), one in above.items()]
    return "\n".join(lines)


def finding(found: dict[tuple[str, Point], Compared]) -> str:
    """How many are much slower, and the worst."""
    above = [one for one in found.values() if one.ratio > LIMIT]
    native = [one for one in above if one.algorithm == NATIVE]
    layout, point = max(found, key=lambda key: found[key].ratio)
    return (
        f"Of {len(found)} calls, {len(above)} take more than {LIMIT} times as long; in "
        f"{len(native)} of these the choice is the native function too. The worst takes\n"
        f"{found[layout, point].ratio:.2f} times as long ({layout}, {in_words(point)})."
    )


def parser_of() -> argparse.ArgumentParser:
    every = [_core.facts(f) for f in _core.all_functions()]
    names = [one.name for one in every if not _core.facts(one.collective).neighbourhood]
    parser = argparse.ArgumentParser(prog="benchmarks/netcluster/defaults", description=__doc__)
    parser.add_argument("--layouts", default="switches,nodes", help=", ".join(LAYOUTS))
    parser.add_argument("--functions", default=",".join(names), help="instead of all")
    parser.add_argument("--sizes", help="of the whole vector, instead of powers of 4: 8,64K,1M")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a point")
    parser.add_argument("--mbit", type=float, default=100.0, help="of every link")
    parser.add_argument("--mpi", default="openmpi", help="or the path of an Open MPI's mpiexec")
    parser.add_argument("--rules", default="shipped", help="a rules file instead")
    parser.add_argument("--page", type=Path, help="to write, beside what is printed")
    return parser


def main() -> None:
    wish = parser_of().parse_args()
    begun, others, mpi = time.monotonic(), [], choose_mpi(wish.mpi)
    sizes = [_core.parse_size(one) or 0 for one in wish.sizes.split(",")] if wish.sizes else SIZES
    if 0 in sizes:
        raise Error(f"--sizes: '{wish.sizes}' are no sizes", "write 8,64K,1M")
    found: dict[tuple[str, Point], Compared] = {}
    for name in wish.layouts.split(","):
        if name not in LAYOUTS:
            raise Error(f"there is no layout '{name}'", f"there are {', '.join(LAYOUTS)}")
        one = LAYOUTS[name]
        print(f"{name}: {one.title}", file=sys.stderr)
        tree = Tree(one.hosts, None, wish.mbit / 8 * 1e6, 0.0)
        with lab(mpi, tree, one.place, one.per_host) as here:
            points = points_of(wish.functions.split(","), here.ranks, sizes)
            measured = measure(here, points, wish.seconds, wish.rules)
            found |= {(name, point): each for point, each in measured.items()}
            others += here.others
    rows = table(found)
    print(f"{rows}\n{finding(found)}\nOther processes used {median(others):.1f} cores before.")
    if wish.page:
        text = PAGE.read_text(encoding="utf-8").format(
            arguments=" ".join(sys.argv[1:]), minutes=(time.monotonic() - begun) / 60, table=rows,
            mpi=mpi.title, mbit=wish.mbit, cores=cores(), others=median(others), limit=LIMIT,
            again=AGAIN, finding=finding(found),
        )  # fmt: skip
        wish.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    as_program(main)
