# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/results/guidelines.md from what `stretto bench --guidelines --json` has said.

python benchmarks/node/guidelines_page.py ONE.json ANOTHER.json … PAGE.md
"""

import json
import sys
from collections import Counter
from pathlib import Path

from stretto import all_functions, facts
from stretto.guidelines.measure import MISS, RUNS, TOLERANCE
from stretto.guidelines.table import GROUPS, guidelines
from stretto.units import size_in_words

OTHER_PAGE = "forms"  # benchmarks/nonblocking measures these
OTHERS = """
[Another page](nonblocking.md) compares nonblocking and persistent calls with blocking ones.
"""
HEAD = """\
<!-- Written by benchmarks/node/guidelines. -->

# Guidelines

Is any collective of an MPI slower than what a user could put in its place? {finding}

A *guideline* says that a function should not be slower than other calls that do the same, for
example that an allreduce should not be slower than a reduce followed by a bcast (Träff, Gropp and
Thakur, "Self-consistent MPI performance guidelines", IEEE TPDS 2010; Hunold and Carpen-Amarie's
PGMPI measures such guidelines). Guidelines need no other library to compare with: if an MPI
violates one, the same MPI has a faster way. `benchmarks/node/guidelines` writes this page again.
To measure your machine:

```sh
stretto bench --guidelines                               # 2 ranks, some minutes
stretto bench --guidelines -n 2,4 --sizes 8-1M --json    # several numbers of ranks, all sizes
stretto bench --guidelines --collectives allreduce,scan  # guidelines with one of these on the left
```

The command prints Stretto's violations, then the MPI's own. The exit code is 1 if Stretto violates
a guideline or a result was wrong, 2 if nothing could be measured, and 0 otherwise.
"""
READING = f"""\
## How to read it

m is the size, as in `stretto bench`: the bytes of the vector, or of each rank's part if a call
moves parts. Both sides of a guideline work on the same vector, all parts together; sizes are
rounded so that counts divide. Of the copies that a user would need in addition, only the one that
takes a part out of the vector of a scatter is counted. The *excess* is the time of the left side
over the time that the guideline allows: above 1 the left side takes longer than it allows.

The two sides of a guideline, by the MPI and by Stretto, take turns in the same processes, in blocks
of calls of a millisecond without barriers between the calls. The time of a block is that of the
slowest rank, and all results are compared. A block in which another program got the core of a rank
does not count, unless there are more ranks than cores; up to four times the time is spent to get
enough other blocks. The excess is the ratio of the medians over the blocks. Its interval contains
the true ratio with a probability of {1 - MISS:.0%}, whatever the distribution; it comes from order
statistics of both medians, which need nine blocks.

A guideline is **violated** only if the whole interval is above {TOLERANCE} in two runs of different
processes; the smaller excess is reported. If it is exceeded in one run only, it is *not repeated*.
If each of {RUNS} runs has too few blocks, which is common on a busy machine, it is *not judged*.
"""


def _rules() -> str:
    lines = []
    # Those of neighbourhoods depend on the graph: benchmarks/node/guidelines does not measure them.
    functions = [facts(function) for function in all_functions()]
    names = [one.name for one in functions if not facts(one.collective).neighbourhood]
    every = guidelines(names)
    for group, why in GROUPS.items():
        if group == OTHER_PAGE:
            continue
        of_group = [one for one in every if one.group == group]
        words = [one.words for one in of_group]
        if group in ("monotony", "split"):
            of_one = words[0].replace(of_group[0].function, "f")
            words = [f"{of_one}, for every function f but barrier"]
        lines.append(f"- *{group}*: {why} {'; '.join(words)}.")
    return "## What is asked\n\n" + "\n".join(lines) + "\n" + OTHERS


def _verdicts(document: dict) -> list[dict]:
    return [one for one in document["verdicts"] if one["group"] != OTHER_PAGE]


def _violations(document: dict, library: str) -> list[dict]:
    return [
        one
        for one in _verdicts(document)
        if one["library"] == library and one["status"] == "violated"
    ]


def _rows(found: list[dict]) -> str:
    """One line for each guideline and number of ranks: the sizes and the excess at each."""
    lines: dict[tuple, list[str]] = {}
    for one in found:
        size = f"{size_in_words(one['bytes'])} " if one["bytes"] else ""
        words = f"{size}({one['ratio']:.2f})"
        lines.setdefault((one["guideline"], one["ranks"]), []).append(words)
    head = "| guideline | ranks | violated at m (excess) |\n| --- | ---: | --- |\n"
    rows = [f"| {name} | {ranks} | {', '.join(at)} |" for (name, ranks), at in lines.items()]
    return head + "\n".join(rows) + "\n"


def _section(document: dict) -> str:
    machine = document["machine"]
    sizes = ", ".join(map(size_in_words, document["sizes"]))
    parts = [
        f"## {document['mpi']}, and Stretto {document['version']} under it\n",
        f"{document['date']}; {machine['cpu']}, {machine['cores']} cores; ranks "
        f"{', '.join(map(str, document['ranks']))}; m {sizes}.\n",
    ]
    for library, who in (("stretto", "Stretto"), ("native", document["mpi"])):
        own = [one for one in _verdicts(document) if one["library"] == library]
        found = _violations(document, library)
        count = Counter(one["status"] for one in own)
        told = (
            f"{who} violates {len(found)} of {len(own)} guidelines; {count['not repeated']} were "
            f"exceeded only once, {count['not judged']} could not be judged"
        )
        parts.append(f"{told}:\n" if found else f"{told}.\n")
        if found:
            parts.append(_rows(found))
    return "\n".join(parts)


def _finding(documents: list[dict]) -> str:
    parts = []
    for document in documents:
        own = [one for one in _verdicts(document) if one["library"] == "stretto"]
        found = {who: len(_violations(document, who)) for who in ("stretto", "native")}
        parts.append(
            f"under {document['mpi']}, Stretto\nviolates {found['stretto']} of {len(own)} such "
            f"guidelines, the MPI itself {found['native']}"
        )
    said = "; ".join(parts)
    return f"{said[:1].upper()}{said[1:]}."


def page(documents: list[dict]) -> str:
    """Markdown."""
    return "\n".join(
        [HEAD.format(finding=_finding(documents)), _rules(), READING, *map(_section, documents)]
    )


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    said = [json.loads(Path(path).read_text(encoding="utf-8")) for path in sys.argv[1:-1]]
    Path(sys.argv[-1]).write_text(page(said), encoding="utf-8")
