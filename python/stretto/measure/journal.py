# SPDX-License-Identifier: BSD-3-Clause
"""What was measured so far, on disk: one JSON object a line, so that no end of us loses any."""

import json
from collections.abc import Iterable
from pathlib import Path

from ..errors import Error
from ..files import naming, read_text, write_text
from .process import object_in


class Records:
    """A file of records. `head` is what they are about: other records need another file."""

    def __init__(self, path: Path, head: dict, fresh: bool, another: str) -> None:
        """`another` is a hint: how to name another file."""
        self.path, self._hint = path, f"{another}, or begin again with --fresh"
        path.parent.mkdir(parents=True, exist_ok=True)
        head = json.loads(json.dumps(head))
        if fresh or not path.exists() or not read_text(path, self._hint).strip():
            write_text(path, json.dumps(head) + "\n")
        for said in self._read(head):
            self._heard(said)

    def _read(self, head: dict) -> list[dict]:
        text = read_text(self.path, self._hint)
        if not text.endswith("\n"):  # cut short: what is added begins a line of its own
            write_text(self.path, text + "\n")
        lines = text.splitlines()
        before = object_in(lines[0])
        different = [name for name in head if before.get(name) != head[name]]
        if different:
            words = ", ".join(f"{name} was {before.get(name, 'not named')}" for name in different)
            raise Error(f"{self.path} holds another measurement: {words}", self._hint)
        # Nothing of a line that was cut short: it is measured again.
        return [object_in(line) for line in lines[1:]]

    def _heard(self, said: dict) -> None:
        """A record that is there; what it lacks was cut short."""
        raise NotImplementedError

    def _write(self, records: Iterable[dict]) -> None:
        text = "".join(json.dumps(one) + "\n" for one in records)
        with naming(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(text)
