# SPDX-License-Identifier: BSD-3-Clause
"""Tunes, measures the whole portfolio, and writes what each way to choose loses."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

import stretto
from stretto.cli.options import size_in_words
from stretto.launch import Mpi, choose_mpi
from stretto.race import parse_sizes
from stretto.tune.own.campaign import Campaign, Wish, chosen_words, probed
from stretto.tune.own.cells import NATIVE, Cell, cells_of, portfolio, shipped
from stretto.tune.own.journal import Journal, Measured, read_measured
from stretto.tune.own.trial import Plan, measure, refuse_variables

WAYS = {
    "tuned": "`stretto tune`",
    "shipped": "the shipped rules",
    "model": "the model alone",
    "papers": "the cut-offs of 2005",
    "native": "the native library's own choice",
}
ROOT = Path(__file__).resolve().parents[2]
MOST = 40  # candidates of one contest
PAGE = """\
# What a choice loses

Made by `benchmarks/selection/run {arguments}` on {machine}, {ranks} ranks.

The whole portfolio (every algorithm that can serve a cell, with its parameters and in segments:
{candidates} candidates in {cells} cells, those that do the same left out) was measured, up to
{seconds:g} s for each cell. Then the fastest and the choices were measured again, in one contest
of as many seconds. A choice loses what it takes longer in that last one than the fastest there.

| choice by | mean loss | 95th percentile | worst |
|---|---|---|---|
{table}

`stretto tune` was given {budget} s and took {tuning:.0f} s, {share:.0%} of the {whole:.0f} s for
the whole portfolio. The model was off by {median:.2f}x in the median of the calls that it was
fitted to, by {usual:.2f}x in nine of ten. When this began the load average of the machine's
{cores} cores was {load:.1f}: what others do on them is in all these times.

## Cells

| function | size | fastest | µs | tuned | shipped | model | 2005 | native |
|---|---|---|---|---|---|---|---|---|
{rows}
"""


@dataclass
class Found:
    """Choices by way and cell, and what everything took."""

    choices: dict[str, dict[Cell, str]] = field(default_factory=dict)
    measured: list[Measured] = field(default_factory=list)
    tuning: float = 0.0
    whole: float = 0.0
    candidates: int = 0


def tune(options: argparse.Namespace, folder: Path, found: Found) -> None:
    rules = folder / "tuned.rules"
    command = [
        sys.executable, "-m", "stretto", "tune", "--ranks", str(options.ranks), "--sizes",
        options.sizes, "--collectives", options.collectives, "--budget", f"{options.budget}s",
        "--output", str(rules), "--mpi", options.mpi, "--json",
    ]  # fmt: skip
    begun = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    found.tuning = time.monotonic() - begun
    own = stretto.read_rules(str(rules))
    cells = all_cells(options)
    found.choices["tuned"] = {cell: chosen_words(own, cell, cell.ranks) for cell in cells}
    found.choices["shipped"] = {cell: shipped(cell, cell.ranks).words for cell in cells}
    papers = stretto.read_rules(str(ROOT / "rules" / "papers.rules"))
    found.choices["papers"] = {cell: chosen_words(papers, cell, cell.ranks) for cell in cells}
    found.choices["native"] = dict.fromkeys(cells, NATIVE)


def all_cells(options: argparse.Namespace) -> list[Cell]:
    return cells_of(options.collectives.split(","), options.ranks, parse_sizes(options.sizes))


def predict(campaign: Campaign, cells: list[Cell], found: Found) -> None:
    campaign.fit()
    predictor = campaign.predictor(cells[0].ranks)
    assert predictor, "the calibration is missing: give it a longer --budget"
    found.choices["model"] = {
        cell: predictor.sorted(cell, portfolio(cell))[0][1].words for cell in cells
    }


def exhaust(mpi: Mpi, options: argparse.Namespace, folder: Path, found: Found) -> None:
    """Contests of the whole portfolio; the choices are timed to the end."""
    plan = []
    for cell in all_cells(options):
        keep = dict.fromkeys(own[cell] for own in found.choices.values())
        others = [one.words for one in portfolio(cell) if one.words not in keep]
        found.candidates += len(keep) + len(others)
        for i in range(0, max(len(others), 1), MOST):  # all have the choices in common
            marked = [one if one == NATIVE else "+" + one for one in keep]
            plan.append((cell, [*marked, *others[i : i + MOST]]))
    begun = time.monotonic()
    contests = hold(mpi, options, folder, plan)
    found.whole = time.monotonic() - begun
    # The fastest of many noisy times is too good: it is timed once more, beside the choices.
    last = []
    for cell in all_cells(options):
        keep = dict.fromkeys(own[cell] for own in found.choices.values())
        own = [one for one in contests if one.cell == cell]
        us = joined(own, found.choices["shipped"][cell])
        keep[min(us, key=lambda words: us[words])] = None
        last.append((cell, [one if one == NATIVE else "+" + one for one in keep]))
    found.measured = hold(mpi, options, folder, last)


def hold(mpi: Mpi, options: argparse.Namespace, folder: Path, plan: Plan) -> list[Measured]:
    contests: list[Measured] = []

    def heard(said: dict) -> None:
        contests.append(read_measured("whole", said))

    silent = measure(mpi, options.ranks, plan, options.seconds, folder, heard)
    if silent:
        sys.exit(f"no end of {silent}")
    return contests


def joined(contests: list[Measured], reference: str) -> dict[str, float]:
    """Times of one cell's contests, as if the reference had had the same in all."""
    first = contests[0].us_of(reference)
    us: dict[str, float] = {}
    for contest in contests:
        own = contest.us_of(reference)
        for one in contest.entries:
            if one.counts:
                us.setdefault(one.words, one.us * (first / own if first and own else 1.0))
    return us


def losses(found: Found) -> tuple[dict[str, list[float]], list[str]]:
    """By way to choose, and the rows of the page."""
    lost: dict[str, list[float]] = {way: [] for way in WAYS}
    rows = []
    for contest in found.measured:
        cell = contest.cell
        us = {one.words: one.us for one in contest.entries}
        best = min(us, key=lambda words: us[words])
        words = []
        for way in WAYS:
            own = us[found.choices[way][cell]] / us[best] - 1
            lost[way].append(own)
            words.append(f"+{own:.0%}")
        size = size_in_words(cell.asked)
        rows.append(f"| {cell.name} | {size} | `{best}` | {us[best]:.2f} | {' | '.join(words)} |")
    return lost, rows


def parsed_options() -> tuple[Path, argparse.Namespace]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", default="8,1K,32K,1M")
    parser.add_argument("--collectives", default="allreduce,bcast,allgather,alltoall,reduce")
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each cell")
    parser.add_argument("--mpi", default="auto")
    options = parser.parse_args()
    return options.page, options


def main() -> None:
    refuse_variables()
    page, options = parsed_options()
    load = os.getloadavg()[0]
    mpi, found = choose_mpi(options.mpi), Found()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tune(options, folder, found)
        places = probed(mpi, [options.ranks])
        machine = places[options.ranks].title
        journal = Journal(folder / "tuned.jsonl", machine)
        cells = all_cells(options)
        wish = Wish([options.ranks], options.collectives.split(","), [], 0.0)
        campaign = Campaign(mpi, wish, journal, places)
        predict(campaign, cells, found)
        exhaust(mpi, options, folder, found)
    lost, rows = losses(found)
    table = []
    for way, title in WAYS.items():
        own = sorted(lost[way])
        late = own[round(0.95 * (len(own) - 1))]
        table.append(f"| {title} | {mean(own):.1%} | {late:.1%} | {own[-1]:.1%} |")
    assert campaign.model
    quality = campaign.model.found[options.ranks]
    text = PAGE.format(
        arguments=" ".join(sys.argv[2:]), machine=machine, ranks=options.ranks, cells=len(cells),
        candidates=found.candidates, seconds=options.seconds, table="\n".join(table),
        budget=f"{options.budget:g}", tuning=found.tuning, whole=found.whole,
        share=found.tuning / found.whole, median=quality.median, usual=quality.usual,
        rows="\n".join(rows), cores=places[options.ranks].cores, load=load,
    )  # fmt: skip
    page.write_text(text, encoding="utf-8")
    print(json.dumps({way: mean(own) for way, own in lost.items()}))


if __name__ == "__main__":
    main()
