# SPDX-License-Identifier: BSD-3-Clause
"""One HTML page, with nothing to fetch from anywhere."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from ..plot import profile as charts
from ..plot.files import svg_of
from ..units import size_in_words
from .read import Profile, Row, title_of

# What the reasons of native calls mean, and what can be done.
REASONS = {
    "disabled": "STRETTO_DISABLE=1 was set",
    "intercommunicator": "calls on intercommunicators are not served",
    "arguments": "wrong arguments: the MPI was to complain about them",
    "datatype": "a datatype that cannot be taken apart",
    "operator": "an operator that MPI does not define on the type",
    "rules": "the rules say `native` for these calls: STRETTO_RULES=FILE with rules of yours",
    "MPI or communicator not ready": "outside of MPI_Init … MPI_Finalize",
    "communicator": "the ranks' STRETTO_ variables differed, or the MPI had no room for "
    "another communicator",
}


@dataclass(frozen=True)
class Cell:
    text: str
    value: float | None = None  # to sort by; none: the text


def seconds(value: float) -> Cell:
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if value < limit:
            return Cell(f"{value * factor:.3g} {unit}", value)
    return Cell(f"{value:,.2f} s", value)


def number(value: float) -> Cell:
    return Cell(f"{value:,.0f}", value)


def percent(part: float, whole: float) -> Cell:
    share = 100 * part / whole if whole > 0 else 0.0
    return Cell(f"{share:.1f} %", share)


def size(bytes_from: int) -> Cell:
    words = "0" if bytes_from == 0 else f"{size_in_words(bytes_from)} …"
    return Cell(words, bytes_from)


def waiting(rows: Iterable[Row]) -> Cell:
    """The share of the time of served calls."""
    served = [row for row in rows if not row.native]
    if not served:
        return Cell("–", -1)
    return percent(sum(row.waiting or 0.0 for row in served), sum(row.seconds for row in served))


def table(heads: list[str], lines: list[list[str | Cell]]) -> str:
    """Sortable; columns of Cells are numbers."""
    numeric = {i for line in lines for i, cell in enumerate(line) if isinstance(cell, Cell)}
    parts = ['<div class="wide"><table><thead><tr>']
    for i, head in enumerate(heads):
        kind = ' class="number"' if i in numeric else ""
        parts.append(f'<th{kind} scope="col"><button type="button">{escape(head)}</button></th>')
    parts.append("</tr></thead><tbody>")
    for line in lines:
        parts.append("<tr>")
        for cell in line:
            if isinstance(cell, Cell):
                parts.append(
                    f'<td class="number" data-value="{cell.value:.9g}">{escape(cell.text)}</td>'
                )
            else:
                parts.append(f"<td>{escape(cell)}</td>")
        parts.append("</tr>")
    parts.append("</tbody></table></div>")
    return "".join(parts)


def grouped(rows: Iterable[Row], by: str) -> dict:
    """Groups of rows, those with the most seconds first."""
    groups: dict = defaultdict(list)
    for row in rows:
        groups[getattr(row, by)].append(row)
    return dict(sorted(groups.items(), key=lambda item: -sum(row.seconds for row in item[1])))


def _cards(profile: Profile) -> str:
    served = [row for row in profile.rows if not row.native]
    calls, all_calls = sum(r.calls * r.ranks for r in served), 0.0
    for row in profile.rows:
        all_calls += row.calls * row.ranks
    first = next(iter(grouped(profile.rows, "function").items()), None)
    cards = [
        (percent(profile.seconds, profile.wall).text, "of the ranks' time in collectives"),
        (waiting(profile.rows).text, "of the time in served calls waiting for other ranks"),
        (percent(calls, all_calls).text, "of the calls served by Stretto"),
    ]
    if first:
        share = percent(sum(row.seconds for row in first[1]), profile.seconds).text
        cards.append((share, f"of the time in collectives in {first[0]}"))
    return '<div class="cards">' + "".join(
        f'<div class="card"><b>{escape(value)}</b>{escape(words)}</div>' for value, words in cards
    ) + "</div>"  # fmt: skip


def _functions(profile: Profile) -> str:
    lines = []
    for name, rows in grouped(profile.rows, "function").items():
        spent = sum(row.seconds for row in rows)
        calls = sum(row.calls for row in rows)
        served = sum(row.calls for row in rows if not row.native)
        lines.append(
            [
                name,
                number(calls),
                seconds(spent / len(profile.ranks)),
                percent(spent, profile.wall),
                percent(spent, profile.seconds),
                waiting(rows),
                percent(served, calls),
            ]
        )
    heads = ["function", "calls", "time per rank", "of the program", "of collectives"]
    return table([*heads, "waiting", "calls served"], lines)


def _details(profile: Profile) -> str:
    lines = [
        [
            row.function,
            size(row.bytes_from),
            row.algorithm + (f" ({row.reason})" if row.native else ""),
            row.communicator,
            number(row.calls),
            seconds(row.seconds / row.ranks / max(row.calls, 1)),
            seconds(row.seconds / row.ranks),
            seconds(row.fastest),
            seconds(row.slowest),
            waiting([row]),
        ]
        for row in sorted(profile.rows, key=lambda row: -row.seconds)
    ]
    heads = ["function", "bytes", "algorithm", "communicator", "calls", "per call"]
    return table([*heads, "time per rank", "fastest rank", "slowest rank", "waiting"], lines)


def _native(profile: Profile) -> str:
    native = [row for row in profile.rows if row.native]
    if not native:
        return "<p>None: every call was served.</p>"
    lines = []
    for reason, rows in grouped(native, "reason").items():
        spent = sum(row.seconds for row in rows)
        names = ", ".join(grouped(rows, "function"))
        calls = number(sum(row.calls for row in rows))
        lines.append([REASONS.get(reason, reason), names, calls, percent(spent, profile.seconds)])
    return table(["why", "functions", "calls", "of the time in collectives"], lines)


def _communicators(profile: Profile) -> str:
    lines = []
    for communicator in profile.communicators:
        title = title_of(communicator)
        spent = sum(row.seconds for row in profile.rows if row.communicator == title)
        how_many = number(communicator["how_many"])
        lines.append([title, how_many, percent(spent, profile.seconds)])
    return table(["communicator", "how many", "of the time in collectives"], lines)


def _late(profile: Profile) -> str:
    """Which rank the others wait for, if one stands out."""
    if len(profile.ranks) < 2 or profile.waiting == 0:
        return ""
    waits = [rank.waiting for rank in profile.ranks]
    least, mean = min(waits), sum(waits) / len(waits)
    if mean < 0.01 * profile.wall / len(profile.ranks) or least > 0.5 * mean:
        return ""
    rank = waits.index(least)
    return (
        f"<p>Rank {rank} waits least ({seconds(least).text}; {seconds(mean).text} on average): "
        "it comes late to collectives, and the others wait for it.</p>"
    )


def _figure(title: str, svg: str) -> str:
    named = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(title)}" ', 1)
    return f"<figure>{named}</figure>"


def page(profile: Profile) -> str:
    """The whole document."""
    here = files(__package__)
    count, nodes = len(profile.ranks), len(profile.nodes)
    facts = [
        f"{count} ranks on {nodes} node{'s' if nodes > 1 else ''}",
        f"{seconds(max((rank.wall for rank in profile.ranks), default=0.0)).text} long",
        profile.mpi,
        f"Stretto {profile.stretto}",
        profile.date,
    ]
    body = [f"<h1>{escape(profile.program)}</h1>"]
    body.append(f'<p class="facts">{escape(" · ".join(facts))}</p>')
    if not profile.rows:
        body.append("<p>The program has called no collective function.</p>")
    else:
        body += [
            _cards(profile),
            "<h2>What it spent in which function</h2>",
            _figure("Time per rank by function", svg_of(charts.functions(profile))),
            _functions(profile),
            '<p class="note">Waiting: what a rank spent doing nothing until it had the first '
            "sign of another rank in the call; of native calls it is not known.</p>",
            "<h2>How large the calls were</h2>",
            _figure("Calls and time by size", svg_of(charts.sizes(profile))),
            "<h2>Which ranks waited</h2>",
            _figure("Time in collectives by rank", svg_of(charts.ranks(profile))),
            _late(profile),
            "<h2>What went to the native library</h2>",
            _native(profile),
            "<h2>By size, algorithm and communicator</h2>",
            _details(profile),
            "<h2>Communicators</h2>",
            _communicators(profile),
        ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Collectives of {escape(profile.program)}</title>\n"
        f"<style>\n{(here / 'page.css').read_text(encoding='utf-8')}</style></head><body>\n"
        + "\n".join(body)
        + f"\n<script>\n{(here / 'page.js').read_text(encoding='utf-8')}</script>\n</body></html>\n"
    )
