# SPDX-License-Identifier: BSD-3-Clause
"""TOML files that people write: errors name file and line."""

import re

from .errors import Error


class TomlFile:
    """The text, for errors that name file and line."""

    def __init__(self, name: str, text: str, page: str) -> None:
        self.name = name
        self.lines = text.splitlines()
        self.page = page  # the hint, where there is no better one

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
