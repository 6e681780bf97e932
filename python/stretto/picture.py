# SPDX-License-Identifier: BSD-3-Clause
"""A symbolic run as text: ranks across, steps down."""

from functools import lru_cache
from itertools import zip_longest

from .symbolic_run import SymbolicRun
from .units import counted, intervals

ARROWS = ("→", "←")
PLAIN_ARROWS = ("->", "<-")


def has_data(run: SymbolicRun) -> bool:
    return any(cell for row in run.held for cells in row for cell in cells)


def headline(run: SymbolicRun) -> str:
    """What is shown, in one line."""
    start = f"{run.title} on {counted(run.shape.ranks, 'rank')}"
    if run.rooted:
        start += f", root {run.shape.root}"
    if run.shape.counts and run.shape.ranks <= 16:
        start += ", counts " + ",".join(map(str, run.shape.counts))
    start += ": " + counted(run.measured.rounds, "round")
    if not has_data(run):
        return start + "; the messages are empty"
    share = run.measured.sent / max(1, run.blocks)
    volume = f"{share:.3g} times the vector" if share > 1 else f"{share:.3g} of the vector"
    return f"{start}, {counted(run.blocks, 'block')}; volume {volume}"


def explanation(run: SymbolicRun, arrows: tuple[str, str] = ARROWS) -> str:
    to, of = arrows
    if not has_data(run):
        return f"{to}1  sends an empty message to rank 1;   {of}1  receives one from rank 1"
    if run.alltoall:
        last = min(1, run.shape.ranks - 1)
        one, other = run.pair_name(0, last), run.pair_name(last, 0)
        return (
            f"{to}1 [{one}]  sends rank 1 what rank 0 has for rank 1;   {of}1 [{other}]  gets from "
            f"rank 1\n[{one} {other}]   is still to send it on, or has got it"
        )
    lines = [f"{to}1 [0-3]  sends blocks 0 to 3 to rank 1;   {of}1 [0-3]  stores them from rank 1"]
    if run.reduces:
        lines.append(f"{of}1 [0-3]+ combines them with its own")
        lines.append("[0-3] 4,5   holds blocks 0 to 3 with the contributions of ranks 4 and 5")
    else:
        lines.append("[0-3]       holds blocks 0 to 3")
    if run.prefixes:
        lines.append("=[0-3] 4,5  the same in its result")
    return "\n".join(lines)


def _traffic(run: SymbolicRun, step: int, arrows: tuple[str, str]) -> list[list[str]]:
    """Of every rank what it sends, then what it gets."""
    sent: list[list[str]] = [[] for _ in range(run.shape.ranks)]
    got: list[list[str]] = [[] for _ in range(run.shape.ranks)]
    for message in run.messages_of(step):
        named = f" [{run.names_of(message.blocks)}]" if message.blocks else ""
        sign = "+" if message.combined else ""
        sent[message.source].append(f"{arrows[0]}{message.target}{named}")
        got[message.target].append(f"{arrows[1]}{message.source}{named}{sign}")
    return [a + b for a, b in zip(sent, got, strict=True)]


_contributors = lru_cache(1 << 16)(intervals)


def _holdings(run: SymbolicRun, step: int, rank: int) -> list[str]:
    cells = [cell for cell in run.held[step][rank] if cell]
    if not run.reduces:
        names = run.names_of([cell.block for cell in cells])
        return [f"[{names}]"] if cells else []
    groups: dict[tuple[bool, str], list[int]] = {}
    for cell in cells:
        whose = _contributors(cell.value, run.shape.ranks)
        groups.setdefault((cell.result, whose), []).append(cell.block)
    return [
        f"{'=' if result else ''}[{intervals(blocks)}] {whose}"
        for (result, whose), blocks in groups.items()
    ]


def _rows(run: SymbolicRun, arrows: tuple[str, str]) -> list[tuple[str, list[list[str]]]]:
    """(title, for every rank its lines)."""
    ranks = range(run.shape.ranks)
    rows = [("before", [_holdings(run, 0, rank) for rank in ranks])]
    for step in range(1, run.steps + 1):
        rows.append((f"step {step}", _traffic(run, step, arrows)))
        rows.append(("", [_holdings(run, step, rank) for rank in ranks]))
    return [row for row in rows if row[0] or any(row[1])]


def as_text(run: SymbolicRun, width: int = 100, arrows: tuple[str, str] = ARROWS) -> str:
    """The picture; ranks that do not fit in `width` follow below."""
    rows = _rows(run, arrows)
    ranks = run.shape.ranks
    words = [line for _, columns in rows for lines in columns for line in lines]
    cell = max(map(len, [*words, f"rank {ranks - 1}"])) + 2
    margin = max(len(title) for title, _ in rows) + 2
    at_once = max(1, (width - margin) // cell)
    lines = [headline(run), explanation(run, arrows)]
    for first in range(0, ranks, at_once):
        shown = range(first, min(first + at_once, ranks))
        lines += ["", " " * margin + "".join(f"rank {rank}".ljust(cell) for rank in shown)]
        for title, columns in rows:
            texts = [[title] if title else [], *(columns[rank] for rank in shown)]
            for head, *own in zip_longest(*texts, fillvalue=""):
                lines.append(head.ljust(margin) + "".join(one.ljust(cell) for one in own))
    return "\n".join(line.rstrip() for line in lines) + "\n"
