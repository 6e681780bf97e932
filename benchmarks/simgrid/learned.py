# SPDX-License-Identifier: BSD-3-Clause
"""What learning ends with on simulated networks, against portfolio and SMPI; writes a page."""

import argparse
import math
import os
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import mean

import learned_points as given
from learned_points import NETWORKS, RANKS, Place, Times, points_of, portfolio_of
from learner import Compared, Learner, Outcome
from smpi import SELECTORS, built
from stretto.cli.calls import shortened
from stretto.errors import run_script
from stretto.tune.own.points import NATIVE, Point, parsed
from stretto.units import size_in_words

SELECTOR = SELECTORS[0]  # whose functions are the native ones of the program that learns
TELLING = Point("allreduce", 0, 272)  # 17 pairs of numbers: of a round of sixteen calls
LOSSES = (0.03, 0.10)  # that are promised: on average, and of nineteen in twenty
LEAST_GAIN = 0.985  # of the comparison: what gains less is not worth a change
PAGE = Path(__file__).with_name("learned.md")


def uncut(words: str) -> tuple[str, ...]:
    """An algorithm with its parameters, but segments."""
    parts = words.split(",")
    return tuple(one for one in parts if not one.startswith(("segment=", "depth=")))


@dataclass(frozen=True)
class Row:
    """One point of one network. Times in µs."""

    place: Place
    tree: bool  # are there rules for its switches?
    point: Point
    tried: dict[str, float]  # by candidate of the learner, those that refine its choice as well
    others: dict[str, float]  # all that was measured of Stretto
    selectors: dict[str, float]  # of other native functions
    outcome: Outcome

    @cached_property
    def all(self) -> dict[str, float]:
        return self.others | self.tried

    @property
    def best(self) -> str:
        return min(self.all, key=lambda words: self.all[words])

    @property
    def choice(self) -> str:
        return self.outcome.choice

    @property
    def us(self) -> float:
        return self.tried[self.choice]

    @property
    def loss(self) -> float:
        return self.us / self.all[self.best] - 1

    @property
    def wide_loss(self) -> float:
        """Also against the other selectors' functions, which the program does not have."""
        return self.us / min(self.all[self.best], *self.selectors.values()) - 1

    @property
    def loss_with_segments(self) -> float:
        """If the choice were cut in the best of all segments that were measured."""
        same = (us for words, us in self.all.items() if uncut(words) == uncut(self.choice))
        return min(same) / self.all[self.best] - 1

    @property
    def stays(self) -> bool:
        """Is the choice the fastest candidate, or as good as that?"""
        return self.us <= min(self.tried.values()) / LEAST_GAIN

    @property
    def to_native(self) -> float:
        return self.us / self.tried[NATIVE] - 1


def rows_of(times: Times, learner: Learner, points: list[Point]) -> list[Row]:
    """Of one place, in which all is measured first: without, and with rules for its switches."""
    telling = Point(TELLING.name, times.place.ranks, TELLING.asked)
    native = [(point, [NATIVE]) for point in (*points, telling)]
    selectors = {name: times.of(native, name) for name in SELECTORS}
    own = selectors[SELECTOR]
    ways = {False: learner.candidates(points)}
    if times.place.switches > 1:
        ways[True] = learner.candidates(points, times.rules(list(given.SIZES)))
    asked = {tree: simulated(dict(zip(points, own, strict=True))) for tree, own in ways.items()}
    every = portfolio_of(times, points)
    for compared in asked.values():
        plan = [(p, [one for one in own.words if one != NATIVE]) for p, own in compared.items()]
        for point, us in times.of(plan).items():
            every[point] |= us
    twice = 2 * own[telling][NATIVE] * 1e-6  # as a round begins, and when it has ended
    rows = []
    for tree, compared in asked.items():
        us = {
            point: {w: own[point][w] if w == NATIVE else every[point][w] for w in one.words}
            for point, one in compared.items()
        }
        for point, outcome in played(times, learner, compared, us, twice).items():
            others = {name: selectors[name][point][NATIVE] for name in SELECTORS[1:]}
            tried = {words: us[point][words] for words in outcome.compared}
            every[point] |= {words: time for words, time in us[point].items() if words != NATIVE}
            rows.append(Row(times.place, tree, point, tried, every[point], others, outcome))
    return rows


def played(
    times: Times,
    learner: Learner,
    compared: dict[Point, Compared],
    us: dict[Point, dict[str, float]],
    telling: float,
) -> dict[Point, Outcome]:
    """What choices are refined by is measured when it is asked for, and added to the times. What
    would be simulated for minutes is left out."""
    while True:
        seconds = {
            point: {w: time * 1e-6 if math.isfinite(time) else 0 for w, time in own.items()}
            for point, own in us.items()
        }
        outcomes = learner.plays(compared, seconds, telling)
        unknown = {point: one.unknown for point, one in outcomes.items() if one.unknown}
        if not unknown:
            return outcomes
        for point, words in unknown.items():
            us[point] |= dict.fromkeys(words, math.inf)
        plan = [
            (point, [one for one in words if given.simulated_soon(point, parsed(point, one))])
            for point, words in unknown.items()
        ]
        for point, found in times.of(plan).items():
            us[point] |= found


def simulated(asked: dict[Point, Compared]) -> dict[Point, Compared]:
    """Without points whose candidates would be simulated for minutes."""
    return {
        point: own
        for point, own in asked.items()
        if all(given.simulated_soon(point, parsed(point, words)) for words in own.words)
    }


def percentile(numbers: list[float], share: float = 0.95) -> float:
    """The smallest that so large a share of them is not above."""
    return sorted(numbers)[math.ceil(share * len(numbers)) - 1]


def summary(rows: list[Row]) -> str:
    """A line for each network and number of ranks, for each network and for all."""
    lines = []
    names = list(dict.fromkeys(row.place.network for row in rows))
    groups = {name: [row for row in rows if row.place.network == name] for name in names}
    for name, own in (*groups.items(), *([("**all**", rows)] if len(groups) > 1 else [])):
        parts = {str(p): [row for row in own if row.place.ranks == p] for p in RANKS}
        lines += [figures(name, p, some) for p, some in parts.items() if some and own != rows]
        lines.append(figures(name, "all", own))
    return "\n".join(lines)


def figures(name: str, ranks: str, rows: list[Row]) -> str:
    losses = [row.loss for row in rows]
    words = (
        name, ranks, len(rows), f"{mean(losses):.1%}", f"{percentile(losses):.1%}",
        f"{max(losses):.0%}", f"{mean(row.loss_with_segments for row in rows):.1%}",
        f"{max(row.to_native for row in rows):+.1%}",
        f"{max(row.outcome.worst for row in rows) - 1:+.1%}",
        f"{mean(row.wide_loss for row in rows):.1%}",
    )  # fmt: skip
    return f"| {' | '.join(map(str, words))} |"


def missed(row: Row) -> str:
    us = row.all
    words = (
        row.place.network, row.point.name, row.point.ranks, size_in_words(row.point.asked),
        f"`{shortened(row.best)}`", f"{us[row.best]:.1f}", f"`{shortened(row.choice)}`",
        f"+{row.loss:.0%}", f"+{row.loss_with_segments:.0%}", f"{row.tried[NATIVE]:.1f}",
    )  # fmt: skip
    return f"| {' | '.join(map(str, words))} |"


def why(rows: list[Row]) -> str:
    """Of the points whose choices lose more than is promised on average: what is fastest, and how
    it differs from what was compared."""
    found: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if row.loss > LOSSES[0]:
            name, *own = uncut(row.best)
            lists = any(one.startswith(("nodes=", "order=")) for one in own)
            names = {uncut(words)[0] for words in row.tried}
            how = "in the tree's order" if lists else "not at all"
            if uncut(row.best) in map(uncut, row.tried):
                how = "in other segments"
            elif name in names and not lists:
                how = "with another parameter"
            found[f"{row.point.name}: `{name}`", how] += 1
    return "\n".join(f"| {what} | {how} | {n} |" for (what, how), n in found.most_common())


def written(every: list[Row], arguments: str) -> str:
    rows, tree = ([row for row in every if row.tree == knows] for knows in (False, True))
    losses, knowing = ([row.loss for row in own] for own in (rows, tree))
    misses = sorted((row for row in rows if row.loss > LOSSES[1]), key=lambda row: -row.loss)
    return PAGE.read_text(encoding="utf-8").format(
        least=min(r.place.ranks for r in rows), most=max(r.place.ranks for r in rows),
        arguments=arguments, points=len(rows), summary=summary(rows),
        mean=f"{mean(losses):.1%}", high=f"{percentile(losses):.1%}", tree=summary(tree),
        tree_mean=f"{mean(knowing or [0]):.1%}", tree_high=f"{percentile(knowing or [0]):.1%}",
        native=f"{max(0, *(row.to_native for row in rows)):.1%}", selector=SELECTOR,
        segments=f"{mean(row.loss_with_segments for row in rows):.1%}",
        faster=sum(row.wide_loss > row.loss for row in rows), stays=sum(r.stays for r in every),
        both=len(every), moment=f"{max(row.outcome.worst for row in rows) - 1:.1%}",
        calls=max(row.outcome.calls for row in rows), why=why(rows), missing=len(misses),
        far=given.FAR, best=given.BEST, corrected=given.CORRECTED,
        misses="\n".join(map(missed, misses)),
    )  # fmt: skip


def on_one(times: Times, learner: Learner) -> list[Row]:
    place = times.place
    rows = rows_of(times, learner, points_of(place.ranks))
    for knows in (False, True):
        if own := [row for row in rows if row.tree == knows]:
            print(figures(place.network, str(place.ranks), own), file=sys.stderr, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--ranks", default=",".join(map(str, RANKS)))
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--patience", type=float, default=given.PATIENCE, help="seconds for a call")
    parser.add_argument("--keep", type=Path, help="folder of times, for the next run")
    options = parser.parse_args()
    learner = Learner.beside(built())
    ranks = map(int, options.ranks.split(","))
    places = [Place(name, p) for p in ranks for name in options.networks.split(",")]
    places.sort(key=lambda place: -place.ranks)  # those that take longest first
    with ThreadPoolExecutor(options.jobs) as pool, tempfile.TemporaryDirectory() as folder:
        kept = options.keep or Path(folder)
        every = [Times(place, kept, options.patience) for place in places]
        found = list(pool.map(lambda times: on_one(times, learner), every))
    order = list(NETWORKS)
    rows = [row for own in found for row in own]
    rows.sort(key=lambda row: (order.index(row.place.network), row.place.ranks))
    default = vars(parser.parse_args([str(options.page)]))
    asked = {name: getattr(options, name) for name in ("ranks", "networks")}
    words = [f' --{name} "{own}"' for name, own in asked.items() if own != default[name]]
    options.page.write_text(written(rows, "".join(words)), encoding="utf-8")


if __name__ == "__main__":
    run_script(main)
