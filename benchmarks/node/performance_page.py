# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/results/performance.md from what was measured and from notes written by hand.

python benchmarks/node/performance_page.py PEERS.json NOTES.md PAGE.md
"""

import json
import sys
from pathlib import Path

from stretto.launch.mpi import TITLES
from stretto.peers.cells import MEANING
from stretto.peers.goals import Goal, judge
from stretto.peers.table import mean_ratio
from stretto.plot.files import save
from stretto.plot.heat import draw
from stretto.units import counted, size_in_words


def name_of(cell: dict) -> str:
    """`allreduce, 16M`."""
    return cell["cell"] + (f", {size_in_words(cell['asked'])}" if cell["asked"] else "")


def microseconds(value: float) -> str:
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f}"


def _table(head: list[str], lines: list[list[str]]) -> str:
    rows = [head, ["---", *["---:"] * (len(head) - 1)], *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def _cells_of(document: dict, ranks: int, mode: str) -> list[dict]:
    return [c for c in document["cells"] if (c["ranks"], c["mode"]) == (ranks, mode)]


def _times(row: dict | None) -> list[str]:
    if row is None:
        return ["", "", ""]
    if row["status"] == "failed":
        return ["failed", "", ""]
    mark = {"ok": "", "unstable": " ~", "wrong": " WRONG"}[row["status"]]
    native, own = microseconds(row["native_us"]), microseconds(row["stretto_us"])
    return [native, own, f"{row['ratio']:.2f}{mark}"]


def _cells_table(document: dict, ranks: int, mode: str) -> str:
    titles = {name: title for name, title in TITLES.items() if name in document["peers"]}
    head = ["cell"]
    for title in titles.values():
        head += [f"{title}, µs", "Stretto, µs", "ratio"]
    head += ["closest", "against it", "of the bound"]
    by_key = {
        (r["cell"], r["asked"], r["peer"]): r
        for r in document["records"]
        if (r["ranks"], r["mode"]) == (ranks, mode)
    }
    lines: list[list[str]] = []
    for cell in _cells_of(document, ranks, mode):
        line = [name_of(cell)]
        for peer in titles:
            line += _times(by_key.get((cell["cell"], cell["asked"], peer)))
        if "closest" not in cell:
            line += ["", "", ""]
        else:
            mark = "" if cell["status"] == "ok" else f" ({cell['status']})"
            bound = f"{100 * cell['of_bound']:.0f} %" if cell["of_bound"] >= 0.005 else ""
            line += [titles[cell["closest"]], f"**{cell['ratio']:.2f}**{mark}", bound]
        lines.append(line)
    return _table(head, lines)


def _goal_line(goal: Goal) -> list[str]:
    said = {True: "reached", False: "**missed**", None: "not measured"}[goal.reached]
    value = "" if goal.value is None else f"{goal.value:.2f}"
    left_out = str(goal.left_out or "")
    return [goal.words, f"{goal.target:.2f}", value, said, left_out]


def _short(cell: dict, of: str) -> str:
    return f"{cell[of]:.2f}" if cell["status"] == "ok" else cell["status"]


def _misses(goals: list[Goal]) -> str:
    lines = []
    for goal in (one for one in goals if one.reached is False and one.missed):
        of = "of_bound" if goal.words.endswith("bound") else "ratio"
        named = "; ".join(f"{name_of(cell)} ({_short(cell, of)})" for cell in goal.missed)
        lines.append(f"- {goal.words}, at least {goal.target:.2f}: {named}")
    return "\n".join(lines) + "\n" if lines else "None.\n"


View = tuple[int, str]  # number of ranks and mode, each with a table and a heat map


def _name(view: View) -> str:
    return f"{view[0]} ranks, {view[1].replace('-', ' ')}"


def _views(document: dict) -> list[View]:
    wish = document["wish"]
    return [(ranks, mode) for ranks in wish["ranks"] for mode in wish["modes"]]


def _not_judged(document: dict) -> str:
    lines = []
    for ranks, mode in _views(document):
        for status in ("wrong", "failed", "unstable"):
            here = [c for c in _cells_of(document, ranks, mode) if c["status"] == status]
            if here:
                named = "; ".join(map(name_of, here))
                lines.append(f"- {ranks} ranks, {mode}, {status}: {named}")
    lines += [
        f"- {row['ranks']} ranks, {name_of(row)}, {row['mode']}, {TITLES[row['peer']]}: "
        f"{row['reason']}"
        for row in document["records"]
        if row["status"] == "failed"
    ]
    lines += [f"- {TITLES[peer]}: {why}" for peer, why in document["absent"].items()]
    return "\n".join(lines) + "\n" if lines else "None.\n"


def _state_line(document: dict) -> str:
    rows = [row for row in document["records"] if "latency_ns" in row]
    units = (("latency_ns", "ns"), ("transfer_gbs", "GB/s"), ("memory_gbs", "GB/s"))
    ranges = []
    for name, unit in units:
        values = [row[name] for row in rows]
        ranges.append(f"{min(values):.3g} to {max(values):.3g} {unit}" if values else "?")
    return (
        f"cache line to the other core {ranges[0]}, reading what it wrote {ranges[1]}, "
        f"copying memory (read and written, two cores) {ranges[2]}"
    )


def _method(document: dict) -> list[str]:
    facts, wish = document["machine"], document["wish"]
    return [
        "## How it was measured\n",
        f"Machine: {facts['cpu']}, {facts['cores']} cores, {facts['system']}; "
        f"before the rounds: {_state_line(document)}.\n",
        "The MPI's own functions and Stretto's take turns in the same processes, in blocks of "
        "calls; the barriers between blocks are those of the same library. *Back to back*: calls "
        "follow each other, and the time of a block is the mean time of a call on the slowest "
        "rank. *Synchronised*: a barrier precedes each call, and the time is that of the slowest "
        "rank, without the barrier. A time is the median over the blocks; a ratio is the MPI's "
        "time over Stretto's in the same run.\n",
        "In a round, every cell is measured under all peers (the MPIs), one right after the other. "
        f"As time allows there are {counted(wish['rounds'], 'round')} or less, and up to "
        f"{wish['repeats']} more for cells whose ratios do not agree. Ratios agree if they "
        f"lie within a factor of {document['agree']} of their median. The tables have medians over "
        "the rounds, of the ratios too. Times depend on the state in which the machine was; ratios "
        "hardly do, since both times are of the same moment. A ratio is marked ~ if less than half "
        f"of the rounds agree, or fewer than {-(-wish['rounds'] // 2)}, and a cell is not judged "
        "if the least of its ratios is marked. "
        "What takes long is measured in one round only.\n",
        "*Closest* is the peer with the least ratio, and *against it* that ratio. The bound is the "
        "time to read and write every user buffer once at the best memory bandwidth that was "
        "measured before the rounds; caches can beat it.\n",
        MEANING + "\n",
    ]


def page(document: dict, notes: str, figures: dict[View, str]) -> str:
    """Markdown; `figures` has the path of each heat map."""
    goals = judge(document["records"], document["cells"])
    peers = ", ".join(document["peers"].values())
    parts = [
        "<!-- Written by benchmarks/node/run; the explanations are benchmarks/node/notes.md. -->\n",
        "# Performance on one node\n",
        "How long do Stretto's collectives take compared with those of other MPIs, if all ranks "
        "are on one node? Each ratio below is the time of an MPI's own function over the time of "
        "Stretto under that MPI, for the MPI that comes closest to Stretto: 2 means that Stretto "
        "takes half as long.\n",
        f"Measured on {document['date']}: {peers}; Stretto {document['version']}. "
        "`benchmarks/node/run` repeats this.\n",
    ]
    for view in _views(document):
        mean = mean_ratio(_cells_of(document, *view))
        words = "" if mean is None else f": {mean:.2f} in the geometric mean"
        parts.append(f"**{_name(view)}**{words}.\n")
        if view in figures:
            title = f"Time of the closest MPI over Stretto's, {_name(view)}"
            parts.append(f"![{title}]({figures[view]})\n")
    parts += _method(document)
    for view in _views(document):
        parts += [f"## {_name(view)}\n", _cells_table(document, *view)]
    parts += [
        "## Not judged, failed\n",
        _not_judged(document),
        "## Explanations\n",
        notes.strip() + "\n",
        "## Numbers to reach\n",
        _table(
            ["number", "to reach", "measured", "", "cells not judged"],
            [_goal_line(goal) for goal in goals],
        ),
        "## Cells that miss\n",
        _misses(goals),
    ]
    return "\n".join(part for part in parts if part)


def write(source: Path, notes: Path, target: Path) -> None:
    """The page, and its figures beside it."""
    document = json.loads(source.read_text(encoding="utf-8"))
    folder = target.parent / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    figures: dict[View, str] = {}
    for ranks, mode in _views(document):
        file = folder / f"peers-{ranks}-{mode}.svg"
        save(draw(document["cells"], ranks, mode), str(file))
        figures[ranks, mode] = f"figures/{file.name}"
    text = page(document, notes.read_text(encoding="utf-8"), figures)
    target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    write(*map(Path, sys.argv[1:]))
