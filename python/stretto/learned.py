# SPDX-License-Identifier: BSD-3-Clause
"""The rules that are kept for this machine: what programs learned, and what was tuned."""

import fcntl
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from . import _core
from .errors import Error
from .files import naming, read_text, write_text

HINT = "`stretto rules list` names the files"
HEADING = b"stretto-rules"  # begins the first line
MOST_RANKS = 2**31 - 1  # of a communicator
PATIENCE = 10.0  # seconds to wait for a program that writes the file


@dataclass(frozen=True)
class Learned:
    """One class of calls: a line of a file."""

    conditions: str  # "bcast ranks=4 nodes=1 cores=own bytes>=4K bytes<8K"
    choice: str  # "ring segment=64K", as in a rule
    us: float | None  # µs of a call, the slowest rank's
    native_us: float | None
    pairs: int  # of calls that were timed
    line: int

    @property
    def function(self) -> str:
        return self.conditions.split()[0]


@dataclass(frozen=True)
class RulesFile:
    path: Path
    kind: str  # "learned" or "tuned"
    owner: str  # "user" or "site"
    machine: str
    rules: int
    problem: str = ""  # why it is ignored


def _number(pattern: str, text: str) -> float | None:
    found = re.search(pattern, text)
    return float(found[1]) if found else None


def parse_learned(text: str, path: str) -> list[Learned]:
    """Of any rules file; raises Error, with the line, if it is none."""
    _core.parse_rules(text, path)
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        rule, _, note = line.partition("#")
        conditions, arrow, choice = rule.partition("->")
        if not arrow:
            continue
        conditions, choice = (" ".join(part.split()) for part in (conditions, choice))
        us, native_us = _number(r"^ *(\d+\.?\d*) us", note), _number(r"native (\d+\.?\d*) us", note)
        pairs = int(_number(r"\b(\d{1,9}) pairs", note) or 0)
        found.append(Learned(conditions, choice, us, native_us, pairs, number))
    return found


def read_learned(path: Path) -> list[Learned]:
    return parse_learned(read_text(path, HINT), str(path))


def learned_path(mpi_title: str) -> Path:
    """The user's file for this machine and MPI; it need not be there. Raises Error."""
    folder, _ = _core.config_folders()
    if not folder:
        raise Error("neither HOME nor XDG_CONFIG_HOME is set", "name a file")
    return Path(_core.learned_rules_path(folder, _core.this_machine(mpi_title)))


def kept_files() -> list[RulesFile]:
    """All of the user's and of the site's, in the order in which they decide."""
    found = []
    for owner, folder in zip(("user", "site"), _core.config_folders(), strict=True):
        for kind in ("learned", "tuned") if folder else ():
            paths = sorted((Path(folder) / kind).glob("*.rules"))
            if kind == "tuned" and (old := Path(folder) / "tuned.rules").exists():
                paths.append(old)
            found += [_described(path, kind, owner) for path in paths]
    return found


def _described(path: Path, kind: str, owner: str) -> RulesFile:
    try:
        rules = _core.parse_rules(read_text(path, HINT), str(path))
    except (Error, OSError) as error:
        return RulesFile(path, kind, owner, "", 0, str(error))
    return RulesFile(path, kind, owner, rules.machine, len(rules.rules))


@dataclass(frozen=True)
class Difference:
    conditions: str
    one: str | None  # None: it has no rule for the class
    other: str | None


def differences(one: list[Learned], other: list[Learned]) -> list[Difference]:
    """Of two files: the classes that they serve differently."""
    # Of several rules of a class the first decides.
    left, right = ({r.conditions: r.choice for r in reversed(rules)} for rules in (one, other))
    return [
        Difference(conditions, left.get(conditions), right.get(conditions))
        for conditions in sorted({*left, *right})
        if left.get(conditions) != right.get(conditions)
    ]


def from_shipped(path: Path) -> list[Difference]:
    """Of a file and the shipped rules, for the smallest call of each class; not of classes whose
    smallest call another rule of the file decides."""
    text = read_text(path, HINT)
    rules, shipped = _core.parse_rules(text, str(path)), _core.shipped_rules()
    by_line = {each.line: each for each in parse_learned(text, str(path))}
    found = []
    for rule in rules.rules:
        call = _smallest_call(rule)
        own = _core.choose(rules, call) if call else None
        if own is None or own.line != rule.line:
            continue
        other = _core.choose(shipped, call)
        words = [_core.written(each.algorithm, each.params) for each in (own, other)]
        if words[0] != words[1]:
            found.append(Difference(by_line[rule.line].conditions, *words))
    return found


def _smallest_ranks(rule: "_core.Rule") -> int:
    one_node = rule.demands("nodes=1")
    several = rule.demands("nodes>1") or rule.demands("nodes=even")
    ranks = max(rule.ranks.low, rule.per_node.low + several, 2 if one_node else 1)
    if rule.demands("ranks=2^k"):
        return 1 << (ranks - 1).bit_length()
    if rule.demands("ranks!=2^k") and ranks & (ranks - 1) == 0:
        return max(ranks + 1, 3)
    return ranks


def _smallest_call(rule: "_core.Rule") -> "_core.Call | None":
    """None where it has more ranks or bytes than a call can have."""
    ranks = _smallest_ranks(rule)
    size = max(rule.bytes.low, rule.part.low * ranks)
    if ranks > MOST_RANKS or size > rule.bytes.high:
        return None
    one_node = rule.demands("nodes=1")
    user = rule.demands("operator=user")
    ordered = rule.demands("operator=not-commutative")
    return _core.Call(
        rule.function, _core.Shape(ranks, 0), size, not ordered, not (user or ordered),
        ranks if one_node else max(rule.per_node.low, 1),
        not rule.demands("nodes>1"), rule.demands("cores=shared"),
        rule.to_node.low,
    )  # fmt: skip


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """As programs lock it when they write; raises Error if it is no file."""
    if not path.exists():
        raise Error(f"{path}: there is no such file", HINT)
    if not path.is_file():
        raise Error(f"{path}: this is not a file", HINT)
    beside = path.with_name(path.name + ".lock")
    with naming(beside):
        file = beside.open("a")
    with file:
        with naming(beside):
            _wait_for(file, path)
        yield


def _wait_for(lock: IO[str], path: Path) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > end:
                raise Error(f"{path} is locked by a program", "try again later") from None
            time.sleep(0.01)


def forget(path: Path, which: Callable[[Learned], bool]) -> int:
    """Takes the classes out of the file for which `which` is true; says how many."""
    with _locked(path):
        text = read_text(path, HINT)
        gone = {each.line for each in parse_learned(text, str(path)) if which(each)}
        lines = text.split("\n")
        write_text(path, "\n".join(line for n, line in enumerate(lines, 1) if n not in gone))
    return len(gone)


def _is_kept(path: Path) -> bool:
    """Does it stand where rules are kept, whatever is in it?"""
    folders = [Path(folder).resolve() for folder in _core.config_folders() if folder]
    there = any(path.resolve().is_relative_to(folder) for folder in folders)
    return there and path.suffix == ".rules"


def forget_all(path: Path) -> None:
    """Also a file that is damaged; raises Error if it was no rules file ever."""
    if path.is_file() and not _is_kept(path):
        with naming(path), path.open("rb") as file:
            if HEADING not in file.readline(1000):
                raise Error(f"{path}: this is no rules file", HINT)
    with _locked(path), naming(path):
        path.unlink()
