# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/glossary.md from the words of ARCHITECTURE.md.

python docs/site/glossary.py
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAD = """\
# Glossary

The words that these pages and the code use, with one meaning each. Names in `code` are those of
the classes. Rank, communicator, datatype and message mean what they mean in MPI. This page is made
from [ARCHITECTURE.md](../ARCHITECTURE.md#words) by `python docs/site/glossary.py`.

| word | meaning |
|---|---|
"""


def page(architecture: str) -> str:
    """Of entries "- **word, other word**: meaning; **third word**: meaning."."""
    words = architecture.split("\n## Words\n")[1].split("\n## ")[0]
    entries = [" ".join(entry.split()) for entry in re.split(r"^- ", words, flags=re.M)[1:]]
    rows = []
    for entry in entries:
        name, meaning = re.fullmatch(r"\*\*([^*]+)\*\*:? (.*)", entry).groups()
        meaning = meaning[0].upper() + meaning[1:]
        rows.append(f"| **{name}** | {meaning.replace('|', chr(92) + '|')} |\n")
    return HEAD + "".join(sorted(rows, key=str.lower))


if __name__ == "__main__":
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (ROOT / "docs" / "glossary.md").write_text(page(text), encoding="utf-8")
