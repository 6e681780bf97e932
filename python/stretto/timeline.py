# SPDX-License-Identifier: BSD-3-Clause
"""What ranks did when, in Chrome's trace format, which Perfetto shows: written and read."""

import json
from dataclasses import dataclass

from . import _core
from .errors import Error
from .files import read_text, write_text

ACTIVITIES = ("send", "receive", "reduce", "copy", "wait")
CALLS = ("call", "nonblocking", "persistent")  # of a real run; what is within them is drawn
HINT = "a trace is JSON with X events: cat of " + ", ".join(ACTIVITIES) + ", ts and dur in µs"


@dataclass(frozen=True)
class Event:
    """Something that one rank did for a while; times in µs."""

    activity: str
    rank: int
    start: float
    duration: float
    args: dict


def _chrome(event: _core.TraceEvent, algorithm: str) -> dict:
    args: dict = {"peer": event.peer} if event.peer >= 0 else {}
    args |= {"bytes": round(event.bytes), "round": event.round + 1, "algorithm": algorithm}
    if event.segment:
        args["segment"] = event.segment + 1
    return {
        "name": f"{event.activity} {event.peer}" if event.peer >= 0 else event.activity,
        "cat": event.activity,
        "ph": "X",
        "ts": event.start * 1e6,
        "dur": event.seconds * 1e6,
        "pid": 0,
        "tid": event.rank,
        "args": args,
    }


def write(events: list[_core.TraceEvent], algorithm: str, path: str) -> None:
    """One thread for each rank."""
    ranks = sorted({event.rank for event in events})
    names = [
        {"name": "thread_name", "ph": "M", "pid": 0, "tid": r, "args": {"name": f"rank {r}"}}
        for r in ranks
    ]
    rows = [json.dumps(row) for row in [*names, *(_chrome(e, algorithm) for e in events)]]
    text = '{"displayTimeUnit": "ns", "traceEvents": [\n' + ",\n".join(rows) + "\n]}\n"
    write_text(path, text)


def _event(row: dict, path: str, number: int) -> Event:
    try:
        start, duration = float(row["ts"]), float(row["dur"])
        found = Event(str(row["cat"]), int(row["tid"]), start, duration, row.get("args", {}))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise Error(f"{path}: event {number} is no X event of a rank ({error})", HINT) from None
    if found.activity not in ACTIVITIES or not isinstance(found.args, dict):
        raise Error(f"{path}: event {number} is a '{found.activity}'", HINT)
    return found


def read(path: str) -> list[Event]:
    """The X events of a trace, in the order of ranks and time; raises Error."""
    try:
        data = json.loads(read_text(path, HINT))
    except (ValueError, RecursionError) as error:
        raise Error(f"{path}: no JSON: {error}", HINT) from None
    rows = data.get("traceEvents") if isinstance(data, dict) else data
    if not isinstance(rows, list):
        raise Error(f"{path}: no list of events", HINT)
    events = [
        _event(row, path, number)
        for number, row in enumerate(rows, 1)
        if not isinstance(row, dict) or (row.get("ph", "X") == "X" and row.get("cat") not in CALLS)
    ]
    if not events:
        raise Error(f"{path}: no events", HINT)
    return sorted(events, key=lambda e: (e.rank, e.start, -e.duration))
