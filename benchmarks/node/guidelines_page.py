# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/results/guidelines.md from what `stretto bench --guidelines --json` has said.

python benchmarks/node/guidelines_page.py ONE.json ANOTHER.json … PAGE.md
"""

import json
import sys
from collections import Counter
from pathlib import Path

from stretto import all_functions, facts
from stretto.guidelines.measure import RUNS
from stretto.guidelines.table import GROUPS, guidelines
from stretto.guidelines.verdict import MISS, TOLERANCE
from stretto.units import size_in_words

OTHER_PAGE = "forms"  # benchmarks/nonblocking measures these
OTHERS = """
[Another page](nonblocking.md) is on nonblocking and persistent calls against blocking ones.
"""
HEAD = """\
<!-- Written by benchmarks/node/guidelines. -->

# Guidelines

Is any collective of an MPI slower than what a user could put in its place? {finding}

An MPI is consistent with itself if no function is slower than what a user could put in its place
(Träff, Gropp and Thakur, "Self-consistent MPI performance guidelines", IEEE TPDS 2010; Hunold and
Carpen-Amarie's PGMPI measures such guidelines). They need no other library to compare with: where
one is violated, a faster way is at hand. `benchmarks/node/guidelines` repeats this page.

```sh
stretto bench --guidelines                               # 2 ranks, some minutes
stretto bench --guidelines -n 2,4 --sizes 8-1M --json    # several numbers of ranks, all sizes
stretto bench --guidelines --collectives allreduce,scan  # those with one of these on the left
```

measures this on your machine, and prints Stretto's violations, then the MPI's own. The exit code is
1 if Stretto violates a guideline or a result was wrong, 2 if nothing could be measured, else 0.
"""
READING = f"""\
## How to read it

m is the size: bytes of the vector, or of each rank's part where a call moves parts, as in
`stretto bench`. Both sides of a guideline work on one vector, all parts together, whatever they are
made of; sizes are rounded so that counts divide. Of the copies that a user would need, only the one
that takes a part out of a scatter's vector is counted. *Excess* is the left side's time over what
the guideline allows it: above 1 the guideline is not kept.

Both sides, the MPI's and Stretto's, take turns in one process, in blocks of calls of a millisecond
that follow each other without barriers; a block's time is the slowest rank's, and all results are
compared. Blocks in which another program got a rank's core do not count, unless there are more
ranks than cores; up to four times the time is spent to get enough others. The excess is the ratio
of the medians over the blocks, with an interval that holds the true one with {1 - MISS:.0%},
whatever the distribution: each median's by order statistics, for which nine blocks are needed. A
guideline is **violated** only if the whole interval lies above {TOLERANCE} and does so in two runs,
by different processes; the lesser excess is reported. What exceeds only once is *not repeated*;
what has too few blocks in each of {RUNS} runs is *not judged*, as is much on a busy machine.
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
