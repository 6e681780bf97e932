# SPDX-License-Identifier: BSD-3-Clause
"""Programs as C: a function for each, and a line for each message and each thing to do."""

import re
import textwrap
from collections.abc import Iterator, Sequence

from .loops import Loop
from .programs import Program, Programs

WIDTH = 116


def numbers(values: Sequence[object], indent: str = "    ") -> list[str]:
    return [indent + line for line in textwrap.wrap(", ".join(map(str, values)), width=WIDTH - 4)]


def _sum(base: str, terms: Sequence[tuple[int, str]]) -> str:
    """As C: base + 2 * k - t + 3."""
    text = base
    for factor, name in terms:
        if factor == 0:
            continue
        size = name or str(abs(factor))
        if name and abs(factor) != 1:
            size = f"{abs(factor)} * {name}"
        if text:
            text += f" {'+' if factor > 0 else '-'} {size}"
        else:
            text = size if factor > 0 else f"-{size}"
    return text or "0"


class Writer:
    """The functions of all programs, which call what is in routine.c."""

    def __init__(self, found: Programs) -> None:
        self.found = found

    def program(self, number: int, program: Program) -> list[str]:
        lines = [f"static int program_{number}(struct run* s) {{"]
        body = list(self._rounds(program.rounds))
        lines += ["  const int me = s->me;"] * any(re.search(r"\bme\b", one) for one in body)
        rounds = sum(loop.times * len(loop.body) for loop in program.rounds)
        return [*lines, *body, f"  return s->round < {rounds};", "}", ""]

    def _rounds(self, loops: Sequence[Loop]) -> Iterator[str]:
        first = 0
        for loop in loops:
            length = len(loop.body)
            after = first + loop.times * length
            for i, (item, steps) in enumerate(zip(loop.body, loop.steps, strict=True)):
                operations = list(self._operations(item.shape, item.values, steps))
                condition = f"s->round == {first + i}"
                if loop.times > 1:
                    condition = f"s->round >= {first} && s->round < {after}"
                    if length > 1:
                        condition += f" && (s->round - {first}) % {length} == {i}"
                if not operations:
                    continue
                yield f"  if ({condition}) {{"
                if any(re.search(r"\bt\b", line) for line in operations):
                    turns = "s->round" if first == 0 else f"s->round - {first}"
                    turns = turns if length == 1 else f"({turns}) / {length}"
                    yield f"    const int t = {turns};"
                yield from operations
                yield "  }"
            first = after

    def _operations(
        self, loops: tuple, values: Sequence[int], grow: Sequence[int]
    ) -> Iterator[str]:
        """Of one round, whose numbers grow with t."""
        at = 0
        for times, body, steps in loops:
            indent = "    "
            if times > 1:
                yield f"    for (int k = 0; k < {times}; ++k) {{"
                indent += "  "
            for (shape, moduli), step in zip(body, steps, strict=True):
                terms = [
                    ((by_k, "k"), (by_t, "t"), (value, ""))
                    for value, by_k, by_t in zip(
                        values[at : at + len(moduli)],
                        step,
                        grow[at : at + len(moduli)],
                        strict=True,
                    )
                ]
                at += len(moduli)
                yield from self._operation(indent, shape, terms)
            if times > 1:
                yield "    }"

    def _operation(self, indent: str, shape: tuple, terms: Sequence) -> Iterator[str]:
        kind, side, *lists = shape
        arguments = ["s"]
        given = iter(terms)
        if kind in ("send", "receive", "receive_reduce"):
            arguments.append(_sum("me", next(given)))
        arguments += [side] * bool(side)
        for ranges in lists:
            items = []
            for buffer, relative in ranges:
                first, count = next(given), _sum("", next(given))
                items.append(f"{{{buffer}, {self._first(first, relative)}, {count}}}")
            arguments.append(f"LIST({', '.join(items) or '{INPUT, 0, 0}'})")
        line = f"{indent}{kind}({', '.join(arguments)});"
        if len(line) <= WIDTH:
            yield line
        else:
            yield from textwrap.wrap(line, WIDTH, subsequent_indent=indent + "     ")

    def _first(self, terms: Sequence[tuple[int, str]], relative: bool) -> str:
        if not relative:
            return _sum("", terms)
        if self.found.blocks == "order":
            return f"rank_at({_sum('me', terms)})"
        return _sum(self.found.own, terms)
