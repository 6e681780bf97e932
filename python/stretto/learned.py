# SPDX-License-Identifier: BSD-3-Clause
"""The rules that are kept for this machine: what programs learned, and what was tuned."""

import fcntl
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import _core
from .errors import Error
from .files import naming, read_text, write_text

HINT = "`stretto rules list` names the files"
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
    for number, line in enumerate(text.splitlines(), 1):
        rule, _, note = line.partition("#")
        conditions, arrow, choice = rule.partition("->")
        if not arrow:
            continue
        found.append(
            Learned(
                " ".join(conditions.split()),
                " ".join(choice.split()),
                _number(r"^ *([\d.]+) us", note),
                _number(r"native ([\d.]+) us", note),
                int(_number(r"(\d+) pairs", note) or 0),
                number,
            )
        )
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
    left, right = ({each.conditions: each.choice for each in rules} for rules in (one, other))
    return [
        Difference(conditions, left.get(conditions), right.get(conditions))
        for conditions in sorted({*left, *right})
        if left.get(conditions) != right.get(conditions)
    ]


def from_shipped(path: Path) -> list[Difference]:
    """Of a file and the shipped rules, for the smallest call of each class."""
    text = read_text(path, HINT)
    rules, shipped = _core.parse_rules(text, str(path)), _core.shipped_rules()
    by_line = {each.line: each for each in parse_learned(text, str(path))}
    found = []
    for rule in rules.rules:
        own = by_line[rule.line]
        choice = _core.choose(shipped, _call(rule, own.conditions))
        other = _core.written(choice.algorithm, choice.params)
        if other != own.choice:
            found.append(Difference(own.conditions, own.choice, other))
    return found


def _call(rule: "_core.Rule", conditions: str) -> "_core.Call":
    ranks = max(rule.ranks.low, 1)
    one_node = "nodes=1" in conditions
    user = "operator=user" in conditions
    ordered = "operator=not-commutative" in conditions
    return _core.Call(
        rule.function, _core.Shape(ranks, 0), rule.bytes.low, not ordered, not (user or ordered),
        ranks if one_node else max(rule.per_node.low, 1), "nodes>1" not in conditions,
        "cores=shared" in conditions,
    )  # fmt: skip


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """As programs lock it when they write."""
    beside = path.with_name(path.name + ".lock")
    with naming(beside), beside.open("a") as file:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise Error(f"{path} is locked by a program", "try again later") from None
                time.sleep(0.01)
        yield


def forget(path: Path, which: Callable[[Learned], bool]) -> int:
    """Takes the classes out of the file for which `which` is true; says how many."""
    if not path.exists():
        raise Error(f"{path}: there is no such file", HINT)
    with _locked(path):
        text = read_text(path, HINT)
        gone = {each.line for each in parse_learned(text, str(path)) if which(each)}
        lines = text.splitlines(keepends=True)
        write_text(path, "".join(line for n, line in enumerate(lines, 1) if n not in gone))
    return len(gone)


def forget_all(path: Path) -> None:
    """Also a file that is damaged."""
    if not path.exists():
        raise Error(f"{path}: there is no such file", HINT)
    with _locked(path), naming(path):
        path.unlink()
