# SPDX-License-Identifier: BSD-3-Clause
"""Values of a JSON file that know where they stand, so that errors can say it."""

import json
from typing import Any

from ..errors import Error
from .nodes import HINT

_TYPES = {dict: "an object", list: "a list", int: "a number", str: "a word", bool: "true or false"}
_NONE = object()


class Part:
    """An object of the file."""

    def __init__(self, path: str, where: str, value: dict) -> None:
        self.path, self.where, self.value = path, where, value

    def error(self, why: str) -> Error:
        return Error(f"{self.path}: {self.where + ': ' if self.where else ''}{why}", HINT)

    def _get(self, name: str, kind: type, default: Any) -> Any:
        value = self.value.get(name, default)
        if value is _NONE:
            raise self.error(f'no "{name}"')
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.error(f'"{name}" is not {_TYPES[kind]}')
        return value

    def number(self, name: str, default: Any = _NONE, most: int = 1 << 20) -> int:
        value = self._get(name, int, default)
        if not 0 <= value <= most:
            raise self.error(f'"{name}" is {value}, not within 0 to {most}')
        return value

    def word(self, name: str, default: Any = _NONE) -> str:
        return self._get(name, str, default)

    def flag(self, name: str, default: Any = _NONE) -> bool:
        return self._get(name, bool, default)

    def numbers(self, name: str) -> list[int]:
        """None if there is no such list."""
        found = self._get(name, list, [])
        if not all(isinstance(one, int) and one >= 0 for one in found):
            raise self.error(f'"{name}" is not a list of numbers')
        return found

    def part(self, name: str) -> "Part":
        return Part(self.path, self._below(name), self._get(name, dict, _NONE))

    def parts(self, name: str) -> list["Part"]:
        """None if there is no such list."""
        found = self._get(name, list, [])
        if not all(isinstance(one, dict) for one in found):
            raise self.error(f'"{name}" is not a list of objects')
        return [Part(self.path, self._below(f"{name}[{i}]"), one) for i, one in enumerate(found)]

    def _below(self, name: str) -> str:
        return f"{self.where}.{name}" if self.where else name


def read_json(text: str, path: str) -> Part:
    """Raises Error that names file and line."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise Error(f"{path}:{error.lineno}: no JSON: {error.msg}", HINT) from None
    except RecursionError:
        raise Error(f"{path}: too deep for a plan", HINT) from None
    return Part(path, "", value)
