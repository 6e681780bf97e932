# SPDX-License-Identifier: BSD-3-Clause
"""`stretto bench --peers`."""

import datetime
import json
from dataclasses import asdict
from pathlib import Path

import click

from .. import __version__
from ..errors import Error, FailureError
from ..files import expanded, refuse_unwritable, write_text
from ..launch.mpi import TITLES, Mpi
from ..measure.points import modes_of, parse_sizes
from ..peers.agreement import FACTOR
from ..peers.cells import CELLS, SIZES
from ..peers.environments import default_folder, prepare
from ..peers.goals import judge
from ..peers.session import PeerSession, Wish
from ..peers.state import machine_facts
from ..peers.table import compare, records, tsv
from ..plot.files import need_matplotlib, save
from ..units import counted
from .options import names_of, say_notes, write_json
from .terminal import progress, say

QUICK = {"ranks": [2], "sizes": [8, 32 << 10, 1 << 20], "rounds": 1, "budget": 0.1}


def _wish(
    ranks: tuple[int, ...] | None,
    sizes: str | None,
    cells: str | None,
    mode: str | None,
    rounds: int | None,
    time_per_cell: float | None,
    quick: bool,
) -> Wish:
    given = {
        "ranks": list(ranks) if ranks else None,
        "sizes": parse_sizes(sizes) if sizes else None,
        "modes": modes_of(mode or "both"),
        "rounds": rounds,
        "budget": time_per_cell,
    }
    usual = {"ranks": [2, 4, 8], "sizes": list(SIZES), **(QUICK if quick else {})}
    chosen = {**usual, **{name: value for name, value in given.items() if value is not None}}
    if min(chosen["ranks"]) < 2:
        raise Error("--ranks: a comparison needs 2 ranks or more", "write 2,4,8")
    wish = Wish(cells=names_of(cells, list(CELLS), "cells", "nothing"), **chosen)
    wish.repeats = 2 * wish.rounds if wish.rounds > 1 else 0
    wish.all_rounds = rounds is not None
    wish.limit = max(wish.limit, 40 * wish.budget)
    return wish


def _prepare(peers: str, folder: Path) -> tuple[dict[str, Mpi], dict[str, str]]:
    """The peers that are to be had, and why the others are not."""
    found: dict[str, Mpi] = {}
    absent: dict[str, str] = {}
    hints: list[str] = []
    for name in names_of(peers, list(TITLES), "peers", "nothing"):
        try:
            found[name] = prepare(name, folder)
        except Error as error:
            absent[name] = str(error)
            hints.append(error.hint)
            say(f"{TITLES[name]} is left out: {error}")
    if not found:
        raise Error(f"there is no peer: {next(iter(absent.values()))}", hints[0])
    say_notes(*found.values())
    return found, absent


def _document(session: PeerSession, absent: dict[str, str]) -> dict:
    rows = records(session.rounds, session.wish)
    cells = compare(rows)
    return {
        "date": datetime.date.today().isoformat(),
        "version": __version__,
        "peers": {name: mpi.title for name, mpi in session.mpis.items()},
        "absent": absent,
        "machine": machine_facts(),
        "agree": FACTOR,
        "wish": asdict(session.wish),
        "records": rows,
        "cells": cells,
        "rounds": list(map(asdict, session.rounds)),
    }


def _write(document: dict, folder: Path) -> None:
    from ..plot.heat import draw

    write_text(folder / "peers.tsv", tsv(document["records"]))
    write_text(folder / "peers.json", json.dumps(document, indent=1))
    for ranks in document["wish"]["ranks"]:
        for mode in document["wish"]["modes"]:
            save(draw(document["cells"], ranks, mode), str(folder / f"heat-{ranks}-{mode}.svg"))
    click.echo(f"wrote peers.tsv, peers.json and heat maps into {folder}", err=True)


def _say(document: dict) -> None:
    for goal in judge(document["records"], document["cells"]):
        if goal.value is not None:
            said = "reached" if goal.reached else "missed"
            below = counted(len(goal.missed), "cell")
            what = f"{goal.value:.2f} of {goal.target:.2f}, {below} below"
            click.echo(f"{said}: {goal.words}: {what}", err=True)
    left_out = [cell for cell in document["cells"] if cell["status"] != "ok"]
    if left_out:
        click.echo(f"{len(left_out)} of {len(document['cells'])} cells are not judged", err=True)


def command(
    peers: str,
    ranks: tuple[int, ...] | None,
    sizes: str | None,
    as_json: bool,
    *,
    cells: str | None,
    mode: str | None,
    rounds: int | None,
    time_per_cell: float | None,
    output: str | None,
    environments: str | None,
    quick: bool,
) -> None:
    """Prepares the peers, measures, and writes: TSV or JSON to stdout, all of it to `output`."""
    wish = _wish(ranks, sizes, cells, mode, rounds, time_per_cell, quick)
    folder = expanded(output) if output else None
    if folder:
        need_matplotlib()
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("peers.tsv", "peers.json"):
            refuse_unwritable(folder / name)
    with progress("preparing the peers", None):
        mpis, absent = _prepare(peers, Path(environments) if environments else default_folder())
    session = PeerSession(mpis, wish)
    with progress("measuring", None) as advance:
        session.run(advance)
    document = _document(session, absent)
    if as_json:
        write_json({name: part for name, part in document.items() if name != "rounds"})
    else:
        click.echo(tsv(document["records"]), nl=False)
    if folder:
        _write(document, folder)
    _say(document)
    first = next((row for row in document["records"] if row["status"] == "wrong"), None)
    if first:
        what = f"{first['cell']} of {first['bytes']} bytes, {first['ranks']} ranks"
        what += f", {first['peer']}: Stretto's and the MPI's results differ"
        raise FailureError(what, "`stretto bench --collectives` races it alone")
    if not any(row["status"] != "failed" for row in document["records"]):
        raise Error("no peer could be measured", "`stretto doctor` shows what works")
