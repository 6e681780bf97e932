# SPDX-License-Identifier: BSD-3-Clause
"""Values of a JSON file that know where they stand, so that errors can say it."""

import json
from bisect import bisect
from json.decoder import JSONDecoder, JSONObject
from json.scanner import py_make_scanner
from typing import Any

from ..errors import Error
from .nodes import HINT

_TYPES = {dict: "an object", list: "a list", int: "a number", str: "a word", bool: "true or false"}
_NONE = object()


class Object(dict):
    """An object of the file, and the line in which it begins."""

    line = 0


class _Decoder(JSONDecoder):
    """Reads objects as Object. Only the scanner that is written in Python says where they stand."""

    def __init__(self, text: str) -> None:
        super().__init__()
        ends = [at for at, sign in enumerate(text) if sign == "\n"]

        def parse_object(text_and_begin: tuple[str, int], *more: Any) -> tuple[Object, int]:
            value, end = JSONObject(text_and_begin, *more)
            found = Object(value)
            found.line = bisect(ends, text_and_begin[1] - 1) + 1
            return found, end

        self.parse_object = parse_object
        self.scan_once = py_make_scanner(self)


class Part:
    """An object of the file."""

    def __init__(self, path: str, where: str, value: "Object") -> None:
        self.path, self.where, self.value, self.line = path, where, value, value.line

    def error(self, why: str) -> Error:
        where = f"{self.path}:{self.line}: {self.where + ': ' if self.where else ''}"
        return Error(where + why, HINT)

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
        value = _Decoder(text).decode(text)
    except json.JSONDecodeError as error:
        raise Error(f"{path}:{error.lineno}: no JSON: {error.msg}", HINT) from None
    except ValueError as error:  # a number of thousands of digits
        raise Error(f"{path}: {error}", HINT) from None
    except RecursionError:
        raise Error(f"{path}: too deep for a plan", HINT) from None
    if not isinstance(value, Object):
        raise Error(f"{path}:1: a plan is an object, {{…}}, but this is a list or a value", HINT)
    return Part(path, "", value)
