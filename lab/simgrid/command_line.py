# SPDX-License-Identifier: BSD-3-Clause
"""The commands lab/simgrid/platform and lab/simgrid/run."""

import argparse
import json
import math
from dataclasses import asdict
from pathlib import Path

import tree as trees
from smpi import ALLREDUCES, SELECTORS, Network, Time, built
from stretto import _core
from stretto.algorithms import function_named
from stretto.errors import Error, run_script
from stretto.simulation import suitable
from stretto.tune.own.points import Point, candidate, shipped
from stretto.units import size_in_words


def described(parser: argparse.ArgumentParser) -> None:
    """What describes a network."""
    parser.add_argument("hosts", help="hosts on each switch: 8,8,8,8")
    parser.add_argument(
        "--parents", help="of each switch, '-' for the first: -,0,0,1 (else a line)"
    )
    parser.add_argument("--mbytes", type=float, default=125.0, help="MB/s of every link")
    parser.add_argument("--latency-us", type=float, default=25.0, help="of every link")
    parser.add_argument("--shuffle", type=int, help="seed of a random placement of the ranks")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lab/simgrid/", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    platform = commands.add_parser("platform", help="writes a platform and its host file")
    platform.add_argument("name", type=Path)
    described(platform)
    run = commands.add_parser("run", help="times collectives")
    described(run)
    run.add_argument("cells", nargs="+", help="allreduce:64K: the vector, or the part of each rank")
    run.add_argument("--ranks", type=int, help="else one on each host")
    run.add_argument("--algorithms", help="words as in STRETTO_ALLREDUCE, else all with defaults")
    run.add_argument("--selectors", default=",".join(SELECTORS), help="of SMPI; may be empty")
    run.add_argument("--json", action="store_true")
    return parser.parse_args()


def tree_of(wish: argparse.Namespace) -> trees.Tree:
    return trees.parsed(wish.hosts, wish.parents, wish.mbytes, wish.latency_us)


def point_of(text: str, ranks: int) -> Point:
    name, _, size = text.partition(":")
    function_named(name)  # refuses what is none
    asked = _core.parse_size(size or "0")
    if asked is None:
        raise Error(f"'{text}' is no cell", "write allreduce:64K, or barrier")
    if not size and name != "barrier":
        raise Error(f"'{text}' has no size", f"write {name}:64K")
    return Point(name, ranks, asked)


def algorithms(point: Point, wish: str | None) -> list[str]:
    """The shipped rules' choice first, where all are wanted."""
    if wish is not None:
        return wish.split()
    call = point.call(_core.Placement(1))
    every = (candidate(a, _core.Params()).words for a in suitable(call, _core.all_algorithms()))
    return list(dict.fromkeys([shipped(point, 1).words, *every]))


def run(wish: argparse.Namespace) -> None:
    tree = tree_of(wish)
    hosts = trees.placed(tree, wish.shuffle)
    ranks = wish.ranks or len(hosts)
    if not 1 <= ranks <= len(hosts):
        raise Error(f"{ranks} ranks on {len(hosts)} hosts", "give --ranks from 1 to the hosts")
    points = [point_of(text, ranks) for text in wish.cells]
    network = Network(tree, built())
    plan = [(f"{c.name}:{c.asked}", algorithms(c, wish.algorithms)) for c in points]
    found = [("", one) for one in network.run(hosts[:ranks], plan)]
    for selector in filter(None, wish.selectors.split(",")):
        if selector not in (*SELECTORS, *(f"allreduce:{name}" for name in ALLREDUCES)):
            hint = (
                f"choose from {', '.join(SELECTORS)}, or allreduce:{' allreduce:'.join(ALLREDUCES)}"
            )
            raise Error(f"SMPI has no selector '{selector}'", hint)
        native = [(label, ["native"]) for label, _ in plan]
        found += [(selector, one) for one in network.run(hosts[:ranks], native, selector)]
    if wish.json:
        times = [(selector, asdict(one)) for selector, one in found]
        for _, one in times:
            one["us"] = one["us"] if math.isfinite(one["us"]) else None
        print(json.dumps([{"selector": selector, **one} for selector, one in times]))
    else:
        show(found)


def show(found: list[tuple[str, Time]]) -> None:
    for point in dict.fromkeys((one.cell, one.ranks, one.asked) for _, one in found):
        print(f"# {point[0]} {size_in_words(point[2])}, {point[1]} ranks")
        own = [(s, one) for s, one in found if (one.cell, one.ranks, one.asked) == point]
        for selector, one in sorted(own, key=lambda pair: pair[1].us):
            note = "" if one.correct else "  WRONG" if one.algorithm else "  given up"
            print(f"{one.us:14.2f} us  {f'SMPI, {selector}' if selector else one.words}{note}")


def main() -> None:
    wish = options()
    if wish.command == "run":
        run(wish)
    else:
        tree = tree_of(wish)
        trees.write(tree, wish.name.parent, wish.name.name, trees.placed(tree, wish.shuffle))


if __name__ == "__main__":
    run_script(main)
