# SPDX-License-Identifier: BSD-3-Clause
"""TOML files that people write: errors name file and line."""

import math
import re
from itertools import accumulate

from .algorithms import near
from .errors import Error

MOST_NESTED = 100  # what is refused is nested deeper


class TomlFile:
    """The data, and the text for errors that name file and line.

    `kind` is what the first line says the file is; other keys than these `tables` are refused.
    `page` is the hint where there is no better one.
    """

    VERSION = 1

    def __init__(self, text: str, name: str, page: str, kind: str, tables: tuple[str, ...]) -> None:
        self.name, self.page = name, page
        self.lines = text.split("\n")
        self.data = read_toml(text, name, page)
        first = f"stretto-{kind}"
        if self.data.pop(first, None) != self.VERSION:
            what = f"not a {kind} file of version {self.VERSION}"
            raise self.error("", first, what, f"it begins with: {first} = {self.VERSION}")
        for key, value in self.data.items():
            if key not in tables:
                where = (key, "") if isinstance(value, dict) else ("", key)
                raise self.error(*where, f"unknown '{key}'", near(key, list(tables)))

    def table(self, name: str, hint: str = "and its keys below") -> dict:
        found = self.data.get(name, {})
        if not isinstance(found, dict):
            raise self.error("", name, f"'{name}' is no table", f"write [{name}] {hint}")
        return found

    def known(self, where: str, table: dict, keys: tuple[str, ...]) -> dict:
        """The table, which has no others."""
        for key in table:
            if key not in keys:
                raise self.error(where, key, f"[{where}] has no '{key}'", near(key, list(keys)))
        return table

    def line(self, table: str, key: str = "") -> int:
        """Of a key of a table, or of the table; 1 if it is written in a way not looked for."""
        in_table = not table
        found = 1
        for number, line in enumerate(self.lines, 1):
            header = re.match(r"""\s*\[\s*([A-Za-z_"'][\w."'\[\],-]*?)\s*\]\s*(#|$)""", line)
            if header:
                inside = re.sub("[\"']", "", header[1])
                in_table = inside == table or inside.startswith(f"{table}.")
                if inside in (table, f"{table}.{key}"):
                    found = number
            elif in_table and key and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*[.=]""", line):
                return number
        return found

    def error(self, table: str, key: str, what: str, hint: str = "") -> Error:
        return Error(f"{self.name}:{self.line(table, key)}: {what}", hint or self.page)


def number_of(value: object) -> float | None:
    """None if it is no number, or none to reckon with: infinite, or too large."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:  # of an integer of hundreds of digits
        return None
    return number if math.isfinite(number) else None


def _place_of_depth(text: str) -> int:
    """Where brackets are open MOST_NESTED deep; 0 if they nowhere are."""
    depths = accumulate((letter in "[{") - (letter in "]}") for letter in text)
    return next((at for at, depth in enumerate(depths) if depth > MOST_NESTED), 0)


def read_toml(text: str, name: str, page: str) -> dict:
    """Raises Error that names the line."""
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib

    def refused(at: int, what: str) -> Error:
        return Error(f"{name}:{text.count(chr(10), 0, at) + 1}: {what}", page)

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"\(at line (\d+), column \d+\)", str(error))
        line = at[1] if at else str(text.removesuffix("\n").count("\n") + 1)
        what = re.sub(r"\s*\(at .*\)$", "", str(error))
        raise Error(f"{name}:{line}: {what[:1].lower()}{what[1:]}", page) from None
    except RecursionError:
        raise refused(_place_of_depth(text), "it is nested too deeply") from None
    except ValueError:  # Python does not read integers of thousands of digits
        longest = max(re.finditer(r"[\d_]+", text), key=lambda digits: len(digits[0]))
        raise refused(longest.start(), "a number of too many digits") from None
