# SPDX-License-Identifier: BSD-3-Clause
"""Times alltoalls on two switches of four hosts, ranks by turns, against their bound."""

from statistics import median

from paired import Lab, Plan, as_program, lab, options
from stretto import _core
from stretto.launch import choose_mpi
from stretto.topology.lists import list_for
from stretto.tune.own.points import NATIVE, Point, candidate
from stretto.units import size_in_words
from tree import Tree

SEGMENTS = (32 << 10, 128 << 10)  # of each part
DEPTHS = (2, 4)


def candidates(here: Lab, point: Point) -> list[str]:
    """Every algorithm with its defaults and with the tree's list, long ones in segments, too."""
    found = []
    cuts = [_core.Params()]
    cuts += [_core.Params(here.ranks * s, d) for s in SEGMENTS for d in DEPTHS]
    shape = _core.Shape(here.ranks)
    for algorithm in _core.all_algorithms():
        if algorithm.collective != _core.facts(point.function).collective:
            continue
        made = list_for(algorithm, here.topology, here.ranks)
        for order in [[], made] if made else [[]]:
            for cut in cuts:
                params = _core.Params(cut.segment, cut.depth, 0, order)
                if cut.segment < point.bytes and not _core.unsuitable(
                    algorithm, point.function, shape, True, params
                ):
                    found.append(candidate(algorithm, params).words)
    return list(dict.fromkeys(found))


def main() -> None:
    parser = options("alltoall", __doc__, "of all parts of a rank")
    parser.add_argument("--seconds", type=float, default=60.0, help="of the paired benchmark")
    parser.add_argument("--launches", type=int, default=3, help="of the best ones against native")
    wish = parser.parse_args()
    bandwidth = wish.mbit / 8 * 1e6
    with lab(choose_mpi(wish.mpi), Tree((4, 4), None, bandwidth, 0.0), "alternating") as here:
        point = Point("alltoall", here.ranks, wish.bytes // here.ranks)
        bound = here.bound(point)
        first = here.run({point: [NATIVE, *candidates(here, point)]}, wish.seconds)[point]
        measured = sorted((one for one in first.entries if one.blocks), key=lambda one: one.us)
        best = [one.words for one in measured if one.words != NATIVE][:3]
        plan: Plan = {point: [f"+{words}" for words in [NATIVE, *best]]}
        times: dict[str, list[float]] = {}
        for _ in range(wish.launches):
            for one in here.run(plan, wish.seconds / 3)[point].entries:
                times.setdefault(one.words, []).append(one.us * 1e-6)
        print(f"alltoall of {size_in_words(wish.bytes)}, 8 ranks; at least {1e3 * bound:.0f} ms")
        print(f"other processes used {median(here.others):.1f} cores\n")
        print("| algorithm | ms, median | least to most | of the bound |\n|---|---|---|---|")
        for words, seconds in sorted(times.items(), key=lambda one: median(one[1])):
            mid = median(seconds)
            span = f"{1e3 * min(seconds):.0f} to {1e3 * max(seconds):.0f}"
            print(f"| `{words}` | {1e3 * mid:.0f} | {span} | {bound / mid:.2f} |")
        rest = [f"{one.words} {one.us * 1e-3:.0f}" for one in measured]
        print(f"\nthe paired benchmark before, ms: {', '.join(rest)}")


if __name__ == "__main__":
    as_program(main)
