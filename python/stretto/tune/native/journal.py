# SPDX-License-Identifier: BSD-3-Clause
"""What was measured so far, on disk: one JSON object a line, so that no end of us loses a run."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from ...errors import Error

FILE = "state.jsonl"
FORMAT = 1


@dataclass(frozen=True)
class Run:
    """One start of the driver.

    `part` is "before" or "after", where the library is as it is, or what is tried;
    `stage` is "scan", or names the table that is confirmed.
    """

    stage: str
    round: int
    ranks: int
    part: str


@dataclass(frozen=True)
class Sample:
    run: Run
    function: str
    asked: int
    bytes: int
    us: float


@dataclass(frozen=True)
class Failure:
    """Not to be tried again."""

    function: str
    ranks: int
    algorithm: str
    reason: str


class Journal:
    """`head` is what a measurement was asked for: another one needs another folder."""

    def __init__(self, folder: Path, head: dict, fresh: bool = False) -> None:
        self.path = folder / FILE
        self.samples: list[Sample] = []
        self.failures: list[Failure] = []
        folder.mkdir(parents=True, exist_ok=True)
        head = {"format": FORMAT, **json.loads(json.dumps(head))}
        if fresh or not self.path.exists() or not self.path.read_text(encoding="utf-8").strip():
            self.path.write_text(json.dumps(head) + "\n", encoding="utf-8")
        self._read(head)
        self._known = {(one.run, one.function, one.asked) for one in self.samples}

    def _read(self, head: dict) -> None:
        text = self.path.read_text(encoding="utf-8")
        if not text.endswith("\n"):  # cut short: what is added begins a line of its own
            self.path.write_text(text + "\n", encoding="utf-8")
        lines = text.splitlines()
        before = self._parsed(lines[0])
        different = [name for name in head if before.get(name) != head[name]]
        if different:
            words = ", ".join(f"{name} was {before.get(name)}" for name in different)
            raise Error(
                f"{self.path} holds another measurement: {words}",
                "name another folder with --output, or begin again with --fresh",
            )
        for line in lines[1:]:
            said = self._parsed(line)  # nothing of a line that was cut short: it is measured again
            if "us" in said:
                self.samples.append(Sample(**{**said, "run": Run(**said["run"])}))
            elif "reason" in said:
                self.failures.append(Failure(**said))

    @staticmethod
    def _parsed(line: str) -> dict:
        try:
            said = json.loads(line)
        except json.JSONDecodeError:
            return {}
        return said if isinstance(said, dict) else {}

    def add(self, samples: Iterable[Sample] = (), failures: Iterable[Failure] = ()) -> None:
        samples, failures = list(samples), list(failures)
        self.samples += samples
        self.failures += failures
        self._known |= {(one.run, one.function, one.asked) for one in samples}
        text = "".join(json.dumps(asdict(one)) + "\n" for one in [*samples, *failures])
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)

    def failed(self, function: str, ranks: int, algorithm: str) -> bool:
        key = (function, ranks, algorithm)
        return any((one.function, one.ranks, one.algorithm) == key for one in self.failures)

    def has(self, run: Run, function: str, asked: int) -> bool:
        return (run, function, asked) in self._known
