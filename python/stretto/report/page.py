# SPDX-License-Identifier: BSD-3-Clause
"""One HTML page, with nothing to fetch from anywhere."""

from collections.abc import Iterable, Iterator

from markupsafe import Markup

from ..plot import learned
from ..plot import profile as charts
from ..units import size_in_words
from .cells import Cell, Line, chart, number, percent, rendered, seconds
from .read import LearnedClass, Profile, Row, grouped, title_of

# What the reasons of native calls mean, and what can be done.
REASONS = {
    "disabled": "STRETTO_DISABLE=1 was set",
    "intercommunicator": "calls on intercommunicators are not served",
    "arguments": "wrong arguments: the MPI was to complain about them",
    "datatype": "a datatype that cannot be taken apart",
    "operator": "an operator that MPI does not define on the type",
    "rules": "the rules say `native` for these calls: STRETTO_RULES=FILE with rules of yours",
    "MPI or communicator not ready": "outside of MPI_Init … MPI_Finalize, or not blocking and "
    "before the communicator's first blocking or persistent collective",
    "progress": "nobody would move the call on while the program is elsewhere in this MPI",
    "communicator": "the ranks' STRETTO_ variables differed, or the MPI had no room for "
    "another communicator",
}


def size(bytes_from: int) -> Cell:
    words = "0" if bytes_from == 0 else f"{size_in_words(bytes_from)} …"
    return Cell(words, bytes_from)


def waiting(rows: Iterable[Row]) -> Cell:
    """The share of the time of served blocking calls."""
    served = [row for row in rows if row.waiting is not None]
    if not served:
        return Cell("–", -1)
    return percent(sum(row.waiting or 0.0 for row in served), sum(row.seconds for row in served))


def _cards(profile: Profile) -> list[tuple[Cell, str]]:
    calls = sum(row.calls * row.ranks for row in profile.rows if not row.native)
    all_calls = sum(row.calls * row.ranks for row in profile.rows)
    name, rows = next(iter(grouped(profile.rows, "function").items()))
    share = percent(sum(row.seconds for row in rows), profile.seconds)
    return [
        (percent(profile.seconds, profile.wall), "of the ranks' time in collectives"),
        (waiting(profile.rows), "of the time in served blocking calls waiting for other ranks"),
        (percent(calls, all_calls), "of the calls served by Stretto"),
        (share, f"of the time in collectives in {name}"),
    ]


def _functions(profile: Profile) -> Iterator[Line]:
    for name, rows in grouped(profile.rows, "title").items():
        spent = sum(row.seconds for row in rows)
        calls = sum(row.calls for row in rows)
        served = sum(row.calls for row in rows if not row.native)
        yield [
            name,
            number(calls),
            seconds(spent / len(profile.ranks)),
            percent(spent, profile.wall),
            percent(spent, profile.seconds),
            waiting(rows),
            percent(served, calls),
        ]


def _pending(profile: Profile) -> Iterator[Line]:
    """Of calls that are not blocking, by their title."""
    others = (row for row in profile.rows if not row.blocking)
    for name, rows in grouped(others, "title").items():
        calls = max(sum(row.calls * row.ranks for row in rows), 1)
        under_way = sum(row.under_way for row in rows)
        yield [
            name,
            number(sum(row.calls for row in rows)),
            seconds(sum(row.posting for row in rows) / calls),
            seconds(sum(row.completing for row in rows) / calls),
            seconds(under_way / calls),
            percent(sum(row.overlapped for row in rows), under_way),
        ]


def _details(profile: Profile) -> list[Line]:
    return [
        [
            row.title,
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


def _native(profile: Profile) -> Iterator[Line]:
    for reason, rows in grouped((row for row in profile.rows if row.native), "reason").items():
        spent = sum(row.seconds for row in rows)
        names = "; ".join(grouped(rows, "title"))
        calls = number(sum(row.calls for row in rows))
        yield [REASONS.get(reason, reason), names, calls, percent(spent, profile.seconds)]


def _communicators(profile: Profile) -> Iterator[Line]:
    for communicator in profile.communicators:
        title = title_of(communicator)
        spent = sum(row.seconds for row in profile.rows if row.communicator == title)
        yield [title, number(communicator["how_many"]), percent(spent, profile.seconds)]


def _saved(seconds_saved: float | None) -> Cell:
    if seconds_saved is None:
        return Cell("–", 0.0)
    words = seconds(abs(seconds_saved)).text
    return Cell(f"−{words}" if seconds_saved < 0 else words, seconds_saved)


def _tried(one: LearnedClass) -> str:
    """All that was timed, the fastest first; "binary_blocks 3 µs, native 5 µs"."""
    timed = sorted((each for each in one.tried if each.seconds), key=lambda each: each.seconds or 0)
    left = sum(not each.seconds for each in one.tried)
    words = [f"{each.choice} {seconds(each.seconds or 0).text}" for each in timed]
    return ", ".join(words) + (f"; {left} not tried" if left else "")


def _learned(profile: Profile) -> Iterator[Line]:
    for one in sorted(profile.learned, key=lambda one: -(one.saved or 0.0)):
        form = "" if one.form == "blocking" else f", {one.form}"
        ratio = one.ratio
        faster = Cell("–", 0.0) if ratio is None else Cell(f"{ratio:.2f}×", ratio)
        choice = one.choice + ("" if one.settled else " (so far)")
        cells = [one.conditions + form, number(one.calls), choice, faster, _saved(one.saved)]
        yield [*cells, _tried(one)]


def _learned_in_words(profile: Profile) -> str:
    """In one sentence; empty where nothing was learned."""
    if not profile.learned:
        return ""
    other = [one for one in profile.learned if one.choice != "native"]
    saved = sum(one.saved or 0.0 for one in profile.learned)
    spent = seconds(sum(one.spent for one in profile.learned)).text
    words = seconds(abs(saved)).text
    result = f"saved about {words}" if saved >= 0 else f"cost about {words}"
    classes = "one class" if len(profile.learned) == 1 else f"{len(profile.learned)} classes"
    return (
        f"Of {classes} of calls {len(other)} {'is' if len(other) == 1 else 'are'} served best by "
        f"something else than the native function. That {result} of each rank's time, with the "
        f"{spent} that trying took."
    )


def _late(profile: Profile) -> dict | None:
    """Which rank the others wait for, if one stands out."""
    if len(profile.ranks) < 2 or profile.waiting == 0:
        return None
    waits = [rank.waiting for rank in profile.ranks]
    least, mean = min(waits), sum(waits) / len(waits)
    if mean < 0.01 * profile.wall / len(profile.ranks) or least > 0.5 * mean:
        return None
    return {"rank": waits.index(least), "least": seconds(least), "mean": seconds(mean)}


def _charts(profile: Profile) -> dict[str, Markup]:
    drawn = {
        "functions": (charts.functions, "Time per rank by function"),
        "sizes": (charts.sizes, "Calls and time by size"),
        "ranks": (charts.ranks, "Time in collectives by rank"),
    }
    if learned.compared(profile):
        drawn["learned"] = (learned.draw, "What was tried against the native function")
    return {name: chart(draw(profile), title) for name, (draw, title) in drawn.items()}


def page(profile: Profile) -> str:
    """The whole document."""
    count, nodes = len(profile.ranks), len(profile.nodes)
    facts = [
        f"{count} ranks on {nodes} node{'s' if nodes > 1 else ''}",
        f"{seconds(max((rank.wall for rank in profile.ranks), default=0.0)).text} long",
        profile.mpi,
        f"Stretto {profile.stretto}",
        profile.date,
    ]
    said: dict[str, object] = {"profile": profile, "facts": facts}
    if profile.rows:
        said |= {
            "charts": _charts(profile),
            "cards": _cards(profile),
            "functions": [*_functions(profile)],
            "late": _late(profile),
            "pending": [*_pending(profile)],
            "native": [*_native(profile)],
            "learned": [*_learned(profile)],
            "learned_in_words": _learned_in_words(profile),
            "details": _details(profile),
            "communicators": [*_communicators(profile)],
        }
    return rendered("page.html", said)
