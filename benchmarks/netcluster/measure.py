# SPDX-License-Identifier: BSD-3-Clause
"""Measures collectives over real TCP between network namespaces; writes a page."""

import argparse
import sys
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median

from paired import RULES, Lab, Plan, as_program, lab
from stretto import _core
from stretto.algorithms import function_named
from stretto.errors import Error
from stretto.launch import choose_mpi
from stretto.launch.mpi import cores
from stretto.tune.own.journal import Entry, Measured
from stretto.tune.own.points import NATIVE, Point, candidate, in_parts, parsed
from stretto.units import size_in_words
from tree import Tree

PAGE = Path(__file__).with_name("page.md")
RULES_FILE = Path("build/netcluster/two-switches.rules")
# On two switches: what is measured, by which algorithm of the tree's order, in which segments.
LARGE = 4 << 20
IN_ORDER = {
    "allreduce": ("logical_ring", ("128K", "256K", "512K"), (4, 8)),
    "bcast": ("logical_chain", ("8K", "16K", "32K"), (2, 4, 8)),
    "allgather": ("logical_ring", ("128K", "256K"), (4, 8)),
}
TUNING, RACING, PORTFOLIO = 20.0, 12.0, 3.0  # seconds for a point
LAUNCHES = 5
# On two nodes: the vectors' sizes, and how long ones are cut as well.
SIZES = (64, 1 << 20)
CUT = {1 << 20: _core.Params(segment=128 << 10, depth=4)}
BURST = 64 << 10  # passes a link at once: the bound of little more than that is none
PER_NODE = 4
OF_RANKS = ("radix", "group")  # parameters that may be the ranks of a node


def point_of(function: _core.Function, ranks: int, size: int) -> Point:
    """Of a vector of so many bytes."""
    name = _core.facts(function).name
    if name == "barrier":
        return Point(name, ranks, 0)
    return Point(name, ranks, max(size // ranks, 8) if in_parts(function) else size)


def named(name: str) -> _core.Function:
    function = function_named(name)
    assert function is not None, name
    return function


@dataclass
class Row:
    """One call on two switches; seconds, of each launch."""

    point: Point
    bound: float
    shipped: Entry
    words: str  # that the tuned rule says
    native: list[float]
    best: list[float]


def entry_of(found: Measured, words: str) -> Entry:
    return next(one for one in found.entries if one.words == words)


def tuned(here: Lab) -> tuple[dict[Point, Measured], dict[Point, str]]:
    """All that was measured; of each point the fastest in the tree's order."""
    plan: Plan = {}
    for name, (algorithm, segments, depths) in IN_ORDER.items():
        own = [
            f"{algorithm},{here.order}{cut}"
            for cut in ["", *(f",segment={s},depth={d}" for s in segments for d in depths)]
        ]
        plan[point_of(named(name), here.ranks, LARGE)] = [NATIVE, f"+{RULES}", *own]
    found = here.run(plan, TUNING)
    best = {}
    for point, one in found.items():
        ours = [e for e in one.entries if e.words not in (NATIVE, RULES)]
        best[point] = min(ours, key=lambda e: (e.blocks == 0, e.us)).words
    return found, best


def two_switches(here: Lab) -> tuple[list[Row], str]:
    """The rows, and the rules file that the tuning made."""
    first, best = tuned(here)
    lines = ["stretto-rules 2"]
    for point, words in best.items():
        one = parsed(point, words)
        rule = _core.written(one.algorithm, one.params)
        lines.append(f"{point.name} ranks={here.ranks} bytes>=1M -> {rule}")
    text = "\n".join(lines) + "\n"
    _core.parse_rules(text)
    RULES_FILE.parent.mkdir(parents=True, exist_ok=True)
    RULES_FILE.write_text(text, encoding="utf-8")
    plan = {point: [NATIVE, f"+{RULES}"] for point in best}
    launches = [here.run(plan, RACING, str(RULES_FILE.resolve())) for _ in range(LAUNCHES)]
    rows = []
    for point, words in best.items():
        times = {
            w: [entry_of(one[point], w).us * 1e-6 for one in launches] for w in (NATIVE, RULES)
        }
        served = {entry_of(one[point], RULES).algorithm for one in launches}
        if served != {parsed(point, words).id}:
            raise Error(f"{point} was served by {served}", f"{RULES_FILE} says {words}")
        shipped = entry_of(first[point], RULES)
        rows.append(Row(point, here.bound(point), shipped, words, times[NATIVE], times[RULES]))
    return rows, text


def candidates(here: Lab, point: Point) -> list[str]:
    """Every algorithm that can serve the point: with its defaults, with the ranks of a node as its
    parameter, and with its list of nodes; long vectors in segments, too."""
    call = point.call(_core.Placement(PER_NODE))
    found = []
    for algorithm in _core.all_algorithms():
        if algorithm.collective != _core.facts(point.function).collective:
            continue
        shape, own = call.shape(algorithm), algorithm.parameter
        values, cuts = [0], [_core.Params()]
        if own and own.name in OF_RANKS and own.default(shape) != PER_NODE:
            values.append(PER_NODE)
        cut_itself = algorithm.needs.counts or not _core.facts(point.function).bytes_known
        if point.bytes in CUT and not cut_itself:
            cuts.append(CUT[point.bytes])
        nodes = here.nodes if algorithm.list == "nodes" else []  # ranks are in ring order
        for cut, value in product(cuts, values):
            params = _core.Params(cut.segment, cut.depth, value, nodes)
            if not _core.unsuitable(algorithm, point.function, shape, True, params):
                found.append(candidate(algorithm, params).words)
    return found


def two_nodes(here: Lab) -> dict[Point, Measured]:
    """Paired benchmarks of all candidates."""
    points = [point_of(f, here.ranks, size) for size in SIZES for f in _core.all_functions()]
    plan = {
        point: [NATIVE, f"+{RULES}", *candidates(here, point)] for point in dict.fromkeys(points)
    }
    return here.run(plan, PORTFOLIO)


def ms(seconds: float) -> str:
    return f"{1e3 * seconds:.{0 if seconds >= 0.1 else 1 if seconds >= 1e-2 else 2}f}"


def span(times: list[float]) -> str:
    return f"{ms(median(times))} ({ms(min(times))} to {ms(max(times))})"


def line(words: list[str]) -> str:
    return f"| {' | '.join(words)} |"


def in_words(point: Point) -> str:
    size = size_in_words(point.bytes) if point.asked else ""
    return f"{point.name} {size}".strip()


def short(words: str, here: Lab) -> str:
    """Without the lists, which the page names once."""
    nodes = ":".join(map(str, here.nodes))
    return words.replace(here.order, "order=…").replace(f"nodes={nodes}", "nodes=…")


def switch_rows(rows: list[Row], here: Lab) -> str:
    lines = []
    for row in rows:
        best, native = median(row.best), median(row.native)
        lines.append(line([
            in_words(row.point), ms(row.bound), span(row.native),
            f"{ms(row.shipped.us * 1e-6)} `{row.shipped.algorithm.partition('/')[2]}`",
            f"{span(row.best)} `{short(row.words, here)}`",
            f"{best / row.bound:.2f}", f"{native / best:.1f}",
        ]))  # fmt: skip
    return "\n".join(lines)


def gains(rows: list[Row]) -> str:
    """How many times as fast as the native functions."""
    ratios = [f"{median(row.native) / median(row.best):.1f}" for row in rows]
    return f"{', '.join(ratios[:-1])} and {ratios[-1]}"


def knows_nodes(point: Point, words: str) -> bool:
    algorithm = parsed(point, words).algorithm
    return algorithm is not None and (algorithm.list == "nodes" or algorithm.name == "node_aware")


def node_row(point: Point, found: Measured, here: Lab) -> str:
    known = [e for e in found.entries if e.blocks and e.words not in (NATIVE, RULES)]
    native, rules = entry_of(found, NATIVE), entry_of(found, RULES)
    bound = here.bound(point) if point.bytes >= 8 * BURST else 0.0

    def best_of(entries: list[Entry]) -> str:
        if not entries:
            return "-"
        one = min(entries, key=lambda e: e.us)
        return f"{ms(one.us * 1e-6)} `{short(one.words, here)}`"

    fastest = min([*known, rules], key=lambda e: e.us)
    return line([
        in_words(point), ms(bound) if bound else "-", f"{ms(native.us * 1e-6)}",
        f"{ms(rules.us * 1e-6)} `{rules.algorithm.partition('/')[2] or NATIVE}`",
        best_of([e for e in known if not knows_nodes(point, e.words)]),
        best_of([e for e in known if knows_nodes(point, e.words)]),
        f"{native.us / fastest.us:.2f}",
    ])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/netcluster/run", description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--mpi", default="openmpi", help="or the path of an Open MPI's mpiexec")
    parser.add_argument("--mbit", type=float, default=100.0, help="of every link")
    wish = parser.parse_args()
    begun = time.monotonic()
    mpi = choose_mpi(wish.mpi)
    bandwidth = wish.mbit / 8 * 1e6
    with lab(mpi, Tree((4, 4), None, bandwidth, 0.0), "alternating") as here:
        rows, rules = two_switches(here)
        values = {
            "order": here.order, "rules": rules, "switches": switch_rows(rows, here),
            "gains": gains(rows),
            "placement": ",".join(here.placement), "others_switches": median(here.others),
        }  # fmt: skip
    with lab(mpi, Tree((2,), None, bandwidth, 0.0), "by-host", PER_NODE) as here:
        found = two_nodes(here)
        values["nodes"] = "\n".join(node_row(point, one, here) for point, one in found.items())
        values["tried"] = sum(len(one.entries) for one in found.values())
        values["others_nodes"] = median(here.others)
    minutes = (time.monotonic() - begun) / 60
    arguments = " ".join(sys.argv[2:])
    page = PAGE.read_text(encoding="utf-8").format(
        arguments=f" {arguments}" if arguments else "", mpi=mpi.title, mbit=wish.mbit,
        minutes=minutes, launches=LAUNCHES, per_node=PER_NODE, cores=cores(), **values,
    )  # fmt: skip
    wish.page.write_text(page, encoding="utf-8")
    print(f"wrote {wish.page}", file=sys.stderr)


if __name__ == "__main__":
    as_program(main)
