# SPDX-License-Identifier: BSD-3-Clause
"""Profiles: the file that STRETTO_PROFILE names (docs/profile.md)."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import Error
from ..files import read_text

VERSION = 1
LARGEST = 1 << 64  # no count and no time is larger
DAMAGE = (KeyError, IndexError, TypeError, ValueError, OverflowError, AttributeError)
WRITE_ONE = "STRETTO_PROFILE=FILE in the program's environment writes one"


@dataclass(frozen=True)
class Row:
    """A record of the file. Seconds are sums over the ranks."""

    communicator: str
    function: str
    form: str
    bytes_from: int
    algorithm: str
    reason: str  # why it went to the native library
    ranks: int
    calls: float  # of a rank: the most
    seconds: float
    slowest: float  # of the ranks
    fastest: float
    waiting: float | None  # of blocking calls; unknown of native ones
    # Of all others:
    posting: float
    completing: float
    under_way: float
    overlapped: float
    timed: float = 1.0  # the share of calls

    @property
    def native(self) -> bool:
        return self.algorithm == "native"

    @property
    def blocking(self) -> bool:
        return self.form == "blocking"

    @property
    def title(self) -> str:
        """`allreduce`, `allreduce, nonblocking`."""
        return self.function if self.blocking else f"{self.function}, {self.form}"

    @property
    def moving(self) -> float:
        """What is left of a blocking call without the waiting."""
        return max(self.seconds - (self.waiting or 0.0), 0.0)


def grouped(rows: Iterable[Row], by: str) -> dict:
    """Groups of rows, those with the most seconds first."""
    groups: dict = defaultdict(list)
    for row in rows:
        groups[getattr(row, by)].append(row)
    return dict(sorted(groups.items(), key=lambda item: -sum(row.seconds for row in item[1])))


@dataclass(frozen=True)
class OfRank:
    wall: float
    seconds: float
    waiting: float
    before: float | None = None  # seconds until its first collective call


@dataclass(frozen=True)
class Tried:
    """A candidate of a class of calls that the program learned about."""

    choice: str  # as in a rule
    seconds: float | None  # of a call, the slowest rank's
    calls: int  # that it served


@dataclass(frozen=True)
class LearnedClass:
    conditions: str  # "allreduce ranks=2 nodes=1 cores=own bytes>=8 bytes<16"
    form: str
    choice: str
    settled: bool  # nothing was left to be compared
    spent: float  # seconds that trying took
    tried: list[Tried]

    def of(self, choice: str) -> Tried | None:
        return next((one for one in self.tried if one.choice == choice), None)

    @property
    def calls(self) -> int:
        return sum(one.calls for one in self.tried)

    @property
    def ratio(self) -> float | None:
        """How many times as long the native function takes as the choice."""
        chosen, native = self.of(self.choice), self.of("native")
        if not chosen or not native or not chosen.seconds or not native.seconds:
            return None
        return native.seconds / chosen.seconds

    @property
    def saved(self) -> float | None:
        """Seconds of a rank against the native function, by calls times what one of them differs,
        less what trying took; None if the native function was not timed."""
        native = self.of("native")
        if not native or not native.seconds:
            return None
        own = [(one.calls, one.seconds) for one in self.tried if one.seconds]
        return sum(calls * (native.seconds - each) for calls, each in own) - self.spent


@dataclass(frozen=True)
class Profile:
    program: str
    date: str
    mpi: str
    stretto: str
    nodes: list[str]
    ranks: list[OfRank]
    communicators: list[dict]
    rows: list[Row]
    timing_ns: dict[str, float] = field(default_factory=dict)  # of a "native" and a "served" call
    learned: list[LearnedClass] = field(default_factory=list)

    @property
    def wall(self) -> float:
        """Seconds of all ranks together."""
        return sum(rank.wall for rank in self.ranks)

    @property
    def seconds(self) -> float:
        return sum(row.seconds for row in self.rows)

    @property
    def waiting(self) -> float:
        return sum(row.waiting or 0.0 for row in self.rows)


def title_of(communicator: dict) -> str:
    """`MPI_COMM_WORLD (0-3)`, or `ranks 0,2` where it has no name."""
    name, ranks = communicator["name"], communicator["world_ranks"]
    if ranks == "itself":
        return name or "one rank alone"
    return f"{name} ({ranks})" if name else f"ranks {ranks}"


def _number(value: object) -> float:
    """Raises ValueError for what cannot be added up and drawn, such as infinity."""
    found = float(value)  # type: ignore[arg-type]
    if not abs(found) <= LARGEST:
        raise ValueError(f"{found} is no number of a profile")
    return found


def _if_known(value: object) -> float | None:
    return None if value is None else _number(value)


def _whole(value: object, least: int = 0) -> int:
    found = int(value)  # type: ignore[call-overload]
    if not least <= found <= LARGEST:
        raise ValueError("a number is out of range")
    return found


def _row(record: dict, titles: list[str]) -> Row:
    of_ranks = ("posting", "completing", "under_way", "overlapped")
    return Row(
        communicator=titles[record["communicator"]],
        function=str(record["function"]),
        form=str(record.get("form", "blocking")),
        bytes_from=_whole(record["bytes_from"]),
        algorithm=str(record["algorithm"]),
        reason=str(record.get("reason", "")),
        ranks=_whole(record["ranks"], 1),
        calls=_number(record["calls"]["max"]),
        seconds=_number(record["seconds_of_ranks"]),
        slowest=_number(record["seconds"]["max"]),
        fastest=_number(record["seconds"]["min"]),
        waiting=None if record["waiting"] is None else _number(record["waiting_of_ranks"]),
        **{name: _number(record.get(f"{name}_of_ranks") or 0) for name in of_ranks},
        timed=_number(record.get("timed", 1)),
    )


def _learned(one: dict) -> LearnedClass:
    if not str(one["class"]).split():
        raise ValueError("a class without a function")
    tried = [
        Tried(str(each["choice"]), _if_known(each["seconds"]), _whole(each["calls"]))
        for each in one["tried"]
    ]
    return LearnedClass(
        conditions=str(one["class"]),
        form=str(one["form"]),
        choice=str(one["choice"]),
        settled=bool(one["settled"]),
        spent=_number(one["spent_seconds"]),
        tried=tried,
    )


def _profile(document: dict) -> Profile:
    ranks = [
        OfRank(
            _number(one["wall_seconds"]),
            _number(one["seconds"]),
            _number(one["waiting"]),
            _if_known(one.get("before_first_call")),
        )
        for one in document["by_rank"]
    ]
    if not ranks:
        raise ValueError("by_rank is empty")
    communicators = [
        {**one, "how_many": _number(one["how_many"])} for one in document["communicators"]
    ]
    titles = [title_of(one) for one in communicators]
    return Profile(
        program=str(document["program"]),
        date=str(document["date"]),
        mpi=str(document["mpi"]),
        stretto=str(document["stretto"]),
        nodes=[str(node) for node in document["nodes"]],
        ranks=ranks,
        communicators=communicators,
        rows=[_row(record, titles) for record in document["records"]],
        timing_ns={name: _number(ns) for name, ns in document.get("timing_ns", {}).items()},
        learned=[_learned(one) for one in document.get("learned", [])],
    )


def _document(path: Path) -> dict:
    try:
        document = json.loads(read_text(path, WRITE_ONE))
    except (ValueError, RecursionError):
        raise Error(f"{path} is no profile: it is not JSON", WRITE_ONE) from None
    if not isinstance(document, dict):
        raise Error(f"{path} is no profile", WRITE_ONE)
    if "traceEvents" in document:
        raise Error(f"{path} is a trace, not a profile", "a trace opens in Perfetto; " + WRITE_ONE)
    if document.get("format") != "stretto profile":
        raise Error(f"{path} is no profile", WRITE_ONE)
    if document.get("version") != VERSION:
        raise Error(
            f"{path} is a profile of version {document.get('version')}; this Stretto reads "
            f"version {VERSION}",
            "take the `stretto report` of the Stretto that wrote it "
            f"({document.get('stretto', 'unknown')})",
        )
    return document


def read(path: Path) -> Profile:
    """Raises Error."""
    document = _document(path)
    try:
        return _profile(document)
    except DAMAGE as error:
        raise Error(f"{path} is damaged ({type(error).__name__}: {error})", WRITE_ONE) from None
