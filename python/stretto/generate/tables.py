# SPDX-License-Identifier: BSD-3-Clause
"""What is to be written: constants and tables of its C file."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from .. import _core
from ..algorithms import title_of
from .programs import Part, Programs
from .text import WIDTH, numbers

PLACE_OF = [
    "static int place_of(int rank) {",
    "  int place = 0;",
    "  while (rank_at(place) != rank) ++place;",
    "  return place;",
    "}",
]


@dataclass(frozen=True)
class Wanted:
    """A function, its algorithm and for whom."""

    function: str
    algorithm: _core.Algorithm
    params: _core.Params
    ranks: int
    roots: list[int]
    command: str  # behind `stretto generate`
    topology: _core.Topology | None = None

    def shape(self, root: int) -> _core.Shape:
        """Where the schedule goes by the sizes of the parts: that of equal ones."""
        counts = [1] * self.ranks if self.algorithm.needs.counts else []
        return _core.Shape(self.ranks, root, counts)

    def schedule(self, root: int, rank: int) -> _core.Schedule:
        return _core.build_schedule(self.algorithm, self.shape(root), rank, self.params)

    @property
    def prefix(self) -> str:
        return "tree" if self.topology is not None else "stretto"

    @property
    def name(self) -> str:
        return f"{self.prefix}_{self.function}"

    @property
    def title(self) -> str:
        """The algorithm and its parameters, as options take them."""
        return title_of(self.algorithm, self.shape(self.roots[0]), self.params)

    @property
    def order(self) -> list[int]:
        """As the ranks follow each other."""
        given = self.algorithm.list == "order" and self.params.list
        return list(self.params.list) if given else list(range(self.ranks))

    @property
    def reduces(self) -> bool:
        return _core.facts(self.algorithm.collective).reduces


def constants(wanted: Wanted, rows: Sequence[Sequence[Part]]) -> list[str]:
    """Also what all rounds need at most."""
    parts = list(chain.from_iterable(rows))
    rounds = list(chain.from_iterable(part.rounds for part in parts))
    slots = parts[0].slots
    per_rank = _core.facts(wanted.algorithm.collective).per_rank
    lists = [ranges for one in rounds for o in one for ranges in o.lists]
    arriving = [[o.lists[0] for o in one if o.kind == "receive_reduce"] for one in rounds]
    values = {
        "RANKS": wanted.ranks,
        "BLOCKS": slots,
        "PIECES": slots // wanted.ranks if per_rank else slots,
        "SLOTS": max(len(part.scratch) for part in parts),
        "ARRIVING": max((sum(map(_blocks, one)) for one in arriving), default=0),
        "LONGEST": max(map(_blocks, lists), default=0) or 1,
        "MOST": max((sum(o.peer is not None for o in one) for one in rounds), default=0) or 1,
        "SIGNALS": int(wanted.function == "barrier"),
    }
    if wanted.params.segment:
        values |= {"SEGMENT": wanted.params.segment, "DEPTH": wanted.params.depth}
    words = ", ".join(f"{name} = {value}" for name, value in values.items())
    return [*textwrap.wrap(f"enum {{ {words} }};", WIDTH, subsequent_indent="       "), ""]


def one_block_each(rows: Sequence[Sequence[Part]]) -> bool:
    """Are all messages and copies of one block?"""
    rounds = chain.from_iterable(part.rounds for row in rows for part in row)
    return all(_blocks(ranges) == 1 for one in rounds for o in one for ranges in o.lists)


def _blocks(ranges: Sequence[tuple[str, int, int]]) -> int:
    return sum(one[2] for one in ranges)


def _table(name: str, rows: Sequence[Sequence[int]]) -> list[str]:
    """Rows in braces; one of them without."""
    if len(rows) == 1:
        return [f"static const int {name}[] = {{", *numbers(rows[0]), "};"]
    lines = [f"static const int {name}[][{len(rows[0])}] = {{"]
    for row in rows:
        lines += ["    {", *numbers(row, "     "), "    },"]
    return [*lines, "};"]


def ranks_and_blocks(wanted: Wanted, found: Programs) -> list[str]:
    """Where ranks stand, and what the scratch holds."""
    lines: list[str] = []
    at = "mod(place, RANKS)"
    if wanted.algorithm.list == "order":
        lines += ["/* The ranks as they follow each other. */"]
        lines += ["static const int order[RANKS] = {", *numbers(wanted.order), "};", ""]
        at = f"order[{at}]"
    lines += [
        f"static int rank_at(int place) {{ return {at}; }}",
        *(["", *PLACE_OF] if "order" in at else ["static int place_of(int rank) { return rank; }"]),
    ]
    holds = [list(program.holds) for program in found.programs]
    most = max(map(len, holds))
    if most == 0:
        return [*lines, "#define BLOCK_IN(run, slot) 0", ""]
    rows = [row + [0] * (most - len(row)) for row in holds]
    rows = rows[:1] if all(row == rows[0] for row in rows) else rows
    block = "holds[slot]" if len(rows) == 1 else "holds[(run)->program][slot]"
    block = {
        "0": block,
        "me": f"mod({found.own.replace('me', '(run)->me')} + {block}, BLOCKS)",
        "order": f"rank_at((run)->me + {block})",
    }[found.blocks]
    return [*lines, "", *_table("holds", rows), f"#define BLOCK_IN(run, slot) {block}", ""]


def which_program(wanted: Wanted, found: Programs) -> list[str]:
    """All of them, and which one a rank runs for a root; -1: none was written."""
    names = [f"program_{number}" for number in range(len(found.programs))]
    lines = textwrap.wrap(
        f"static int (*const programs[])(struct run*) = {{{', '.join(names)}}};", WIDTH,
        subsequent_indent="    ",
    )  # fmt: skip
    table, number = _numbers_of(wanted, found)
    if table:
        lines += ["", "/* The program of each rank. */", *_table("of", table)]
    if len(wanted.roots) == 1 and _core.facts(wanted.algorithm.collective).rooted:
        number = f"((root) == {wanted.roots[0]} ? {number} : -1)"
    return [*lines, f"#define PROGRAM_OF(root, rank) {number}", ""]


def _numbers_of(wanted: Wanted, found: Programs) -> tuple[list[list[int]], str]:
    """The numbers of programs, and that of a rank in C."""
    if len(found.programs) == 1:
        return [], "0"
    if len(found.of) == 1:
        return found.of, "of[rank]"
    order, ranks = wanted.order, range(wanted.ranks)
    behind = [
        [found.of[order[place]][order[(place + i) % wanted.ranks]] for i in ranks]
        for place in ranks
    ]
    if all(row == behind[0] for row in behind):
        return behind[:1], "of[mod(place_of(rank) - place_of(root), RANKS)]"
    return found.of, "of[root][rank]"
