# SPDX-License-Identifier: BSD-3-Clause
"""Tunes, measures the whole portfolio of a sample, and writes what each way to choose loses."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

import stretto
from exhaust import LAUNCHES, Whole, compared, exhausted
from grid import Grid, every_function
from learned import learned
from stretto import _core
from stretto.launch import Mpi, choose_mpi
from stretto.launch.mpi import cores
from stretto.measure.points import parse_sizes
from stretto.measure.session import Request
from stretto.tune.own.choice import CONFIRM
from stretto.tune.own.journal import Journal
from stretto.tune.own.paired_benchmark import refuse_variables
from stretto.tune.own.points import NATIVE, Point, chosen_words, portfolio, shipped
from stretto.tune.own.search import NativeTimes
from stretto.tune.own.session import OwnSession, probed
from stretto.units import size_in_words

WAYS = {
    "tuned": "`stretto tune`",
    "learned": "`stretto run --learn`",
    "shipped": "the shipped rules",
    "model": "the model alone",
    "papers": "the cut-offs of 2005",
    "native": "the native library's own choice",
}
ROOT = Path(__file__).resolve().parents[2]
PAGE = (Path(__file__).with_name("page.md")).read_text(encoding="utf-8")


@dataclass
class Found:
    """What a run has found."""

    choices: dict[Point, dict[str, str]]  # words, by way
    wholes: dict[int, Whole]  # by ranks
    ratios: dict[Point, dict[str, float]]  # time over that of the fastest, by way
    tuning: float  # seconds


def tune(options: argparse.Namespace, rules: Path) -> float:
    """Returns the seconds that it took."""
    command = [
        sys.executable, "-m", "stretto", "tune", "--ranks", options.tuned_ranks, "--sizes",
        options.sizes, "--collectives", options.collectives, "--budget", options.budget,
        "--output", str(rules), "--mpi", options.mpi, "--json",
    ]  # fmt: skip
    begun = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begun


def fitted(mpi: Mpi, grid: Grid, rules: Path) -> OwnSession:
    """With the model of the tuner."""
    places = probed(mpi, grid.ranks)
    journal = Journal(rules.with_suffix(".jsonl"), places[grid.ranks[0]].title)
    session = OwnSession(mpi, Request(grid.ranks, grid.names, grid.sizes, 0.0), journal, places)
    session.fit()
    assert session.model, "the calibration is missing: give it a longer --budget"
    return session


def choices_of(point: Point, tuned: _core.Rules, session: OwnSession) -> dict[str, str]:
    """The native one where its calls do not take seconds."""
    papers = stretto.read_rules(str(ROOT / "rules" / "papers.rules"))
    predictor = session.predictor(point.ranks)
    assert predictor
    found = {
        "tuned": chosen_words(tuned, point, point.ranks, cores()),
        "shipped": shipped(point, point.ranks, cores()).words,
        "model": predictor.sorted(point, portfolio(point))[0][1].words,
        "papers": chosen_words(papers, point, point.ranks, cores()),
        "native": NATIVE,
    }
    if NativeTimes(session.journal).expensive(point) and NATIVE not in found["shipped"]:
        del found["native"]
    return found


def lost_as(share: float, digits: int = 1) -> str:
    """A loss; large ones as how many times as long it takes."""
    return f"{share:+.{digits}%}" if share < 10 else f"{1 + share:,.0f}x"


def summary(points: list[Point], found: Found) -> str:
    lines = []
    for way, title in WAYS.items():
        lost = sorted(
            found.ratios[point][way] - 1 for point in points if way in found.ratios[point]
        )
        if not lost:
            continue
        late = lost[round(0.95 * (len(lost) - 1))]
        clipped = mean(max(one, 0.0) for one in lost)
        words = " | ".join(map(lost_as, (mean(lost), clipped, late, lost[-1])))
        lines.append(f"| {title} | {words} |")
    return "\n".join(lines)


def over_native(points: list[Point], found: Found) -> str:
    """The learned choice at the point where it is worst."""
    both = [found.ratios[one] for one in points if "native" in found.ratios[one]]
    return f"{max((one['learned'] / one['native'] for one in both), default=1) - 1:+.1%}"


def by_ranks(grid: Grid, sample: dict[int, list[Point]], found: Found) -> tuple[str, float]:
    """Rows, and the seconds that measuring the whole grid would take."""
    lines, total = [], 0.0
    for ranks, points in sample.items():
        whole = found.wholes[ranks]
        every = len(grid.points(ranks))
        estimate = whole.seconds * every / len(points)
        total += estimate
        lost = sorted(found.ratios[point]["tuned"] - 1 for point in points)
        late = lost[round(0.95 * (len(lost) - 1))]
        lines.append(
            f"| {ranks} | {len(points)} of {every} | {whole.candidates} | {whole.seconds:.0f} s | "
            f"{estimate / 3600:.1f} h | {mean(lost):+.1%} | {late:+.1%} |"
        )
    return "\n".join(lines), total


def care(journal: Journal) -> str:
    """Rows of what tuning measured, and how well what it confirmed."""
    lines = []
    for ranks in sorted({one.point.ranks for one in journal.measured}):
        own = [one for one in journal.measured if one.point.ranks == ranks and one.stage != "model"]
        timed = {(one.point, each.words) for one in own for each in one.entries}
        blocks: dict[Point, int] = defaultdict(int)
        for one in own:
            if one.stage == CONFIRM:
                blocks[one.point] += max(each.blocks for each in one.entries)
        middle = median(blocks.values()) if blocks else 0
        lines.append(
            f"| {ranks} | {len({one.point for one in own})} | {len(timed)} | {len(blocks)} | "
            f"{middle:.0f} | {sum(one.seconds for one in own):.0f} s |"
        )
    return "\n".join(lines)


def rows(points: list[Point], found: Found) -> str:
    lines = []
    for point in points:
        own, ratios = found.choices[point], found.ratios[point]
        lost = " | ".join(lost_as(ratios[way] - 1, 0) if way in ratios else "-" for way in WAYS)
        best = found.wholes[point.ranks].fastest[point]
        size = size_in_words(point.asked)
        lines.append(
            f"| {point.name} | {point.ranks} | {size} | `{best}` | `{own['tuned']}` "
            f"| `{own['learned']}` | {lost} |"
        )
    return "\n".join(lines)


def parsed_options() -> tuple[Path, argparse.Namespace]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--ranks", default="2,3,4,5,6,7,8")
    parser.add_argument("--tuned-ranks", default="2,3,4,5,8", help="those that are tuned")
    parser.add_argument("--sizes", default="8-16M")
    parser.add_argument("--collectives", default=",".join(every_function()))
    parser.add_argument("--budget", default="15m")
    parser.add_argument("--cells", type=int, default=17, help="of each number of ranks")
    parser.add_argument("--learn", type=float, default=16.0, help="seconds for a cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mpi", default="auto")
    parser.add_argument("--folder", type=Path, help="where rules and journal are kept")
    options = parser.parse_args()
    return options.page, options


def measured(
    mpi: Mpi, options: argparse.Namespace, grid: Grid, folder: Path
) -> tuple[dict[int, list[Point]], Found, OwnSession]:
    rules = folder / "tuned.rules"
    tuning = tune(options, rules)
    tuned, session = stretto.read_rules(str(rules)), fitted(mpi, grid, rules)
    sample = grid.sample(options.cells, options.seed)
    found = Found({}, {}, {}, tuning)
    for ranks, points in sample.items():
        choices = {point: choices_of(point, tuned, session) for point in points}
        called = [point for point in points if "native" in choices[point]]
        words = learned(mpi, called, folder, options.learn)
        for point, own in choices.items():
            own["learned"] = words.get(point, own["shipped"])
        found.choices |= choices
        found.wholes[ranks] = exhausted(mpi, points, folder)
        found.ratios |= compared(mpi, found.wholes[ranks].fastest, choices, folder)
        print(f"{ranks} ranks:", summary(points, found), sep="\n", file=sys.stderr, flush=True)
    return sample, found, session


def main() -> None:
    refuse_variables()
    page, options = parsed_options()
    load, mpi = os.getloadavg()[0], choose_mpi(options.mpi)
    numbers = [int(one) for one in options.ranks.split(",")]
    grid = Grid(options.collectives.split(","), numbers, parse_sizes(options.sizes))
    with tempfile.TemporaryDirectory() as name:
        sample, found, session = measured(mpi, options, grid, options.folder or Path(name))
    points = [point for own in sample.values() for point in own]
    own_rows, whole = by_ranks(grid, sample, found)
    place = session.places[numbers[0]]
    text = PAGE.format(
        arguments=" ".join(sys.argv[2:]), machine=place.title, load=load,
        points=len(points), grid=sum(len(grid.points(ranks)) for ranks in numbers),
        launches=LAUNCHES, ranks=f"{numbers[0]} to {numbers[-1]}", tuned_ranks=options.tuned_ranks,
        summary=summary(points, found), by_ranks=own_rows, tuning=found.tuning, whole=whole / 3600,
        share=found.tuning / whole, learn=options.learn, care=care(session.journal),
        over_native=over_native(points, found), rows=rows(points, found),
    )  # fmt: skip
    page.write_text(text, encoding="utf-8")
    lost = {"tuned": mean(found.ratios[point]["tuned"] - 1 for point in points)}
    print(json.dumps(lost | {"share": found.tuning / whole}))


if __name__ == "__main__":
    main()
