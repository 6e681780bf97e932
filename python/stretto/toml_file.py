# SPDX-License-Identifier: BSD-3-Clause
"""TOML files that people write: errors name file and line."""

import re

from .algorithms import near
from .errors import Error


class TomlFile:
    """The data, and the text for errors that name file and line.

    `kind` is what the first line says the file is; other keys than these `tables` are refused.
    `page` is the hint where there is no better one.
    """

    VERSION = 1

    def __init__(self, text: str, name: str, page: str, kind: str, tables: tuple[str, ...]) -> None:
        self.name, self.page = name, page
        self.lines = text.splitlines()
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


def read_toml(text: str, name: str, page: str) -> dict:
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"\(at line (\d+), column \d+\)", str(error))
        line = at[1] if at else str(len(text.splitlines()))
        what = re.sub(r"\s*\(at .*\)$", "", str(error))
        raise Error(f"{name}:{line}: {what[:1].lower()}{what[1:]}", page) from None
