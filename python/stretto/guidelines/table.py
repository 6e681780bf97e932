# SPDX-License-Identifier: BSD-3-Clause
"""The guidelines: T(left) ≤ factor · T(right), both sides cells of the race."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .. import all_functions, facts
from ..measure.points import BLOCKING, NONBLOCKING, PERSISTENT

GROUPS = {
    "composition": "A function is not slower than other functions that do its work.",
    "regular": "If all counts are equal, the irregular form costs at most a fifth more than the "
    "regular one, and the regular one costs no more than the irregular one.",
    "monotony": "Less data does not take longer.",
    "split": "Twice the data does not take longer than two calls.",
    "forms": "A call that is completed at once costs little more than the blocking one, or, where "
    "it was prepared, nothing.",
}
IRREGULAR_FACTOR = 1.2
NONBLOCKING_FACTOR = 1.3
COMPOSITIONS = {
    "barrier": ("allreduce",),
    "bcast": ("scatter+allgather",),
    "gather": ("allgather",),
    "scatter": ("bcast",),
    "allgather": ("gather+bcast", "alltoall"),
    "reduce": ("allreduce", "reduce_scatter_block+gather"),
    "allreduce": ("reduce+bcast", "reduce_scatter_block+allgather"),
    "reduce_scatter_block": ("reduce+scatter",),
    "scan": ("exscan+reduce_local",),
}
IRREGULAR_FORMS = {
    "gatherv": "gather",
    "scatterv": "scatter",
    "allgatherv": "allgather",
    "alltoallv": "alltoall",
    "alltoallw": "alltoall",
    "reduce_scatter": "reduce_scatter_block",
    "neighbor_allgatherv": "neighbor_allgather",
    "neighbor_alltoallv": "neighbor_alltoall",
    "neighbor_alltoallw": "neighbor_alltoall",
}


class Side(NamedTuple):
    """A cell of the race, at so many times the size."""

    cell: str
    times: int = 1
    form: str = BLOCKING


Pair = tuple[Side, Side]


@dataclass(frozen=True)
class Guideline:
    """`words` says it, with m for the size."""

    group: str
    function: str
    words: str
    left: Side
    right: Side
    factor: float = 1.0

    @property
    def pair(self) -> Pair:
        """What is to be measured: guidelines that compare the same two share it."""
        return (self.left, self.right) if self.left <= self.right else (self.right, self.left)


def _compositions() -> Iterator[Guideline]:
    for name, others in ((name, way) for name, ways in COMPOSITIONS.items() for way in ways):
        words, by_others = f"{name} ≤ {others.replace('+', ' + ')}", Side(f"{name}-by-{others}")
        yield Guideline("composition", name, words, Side(name), by_others)


def _regular() -> Iterator[Guideline]:
    for irregular, regular in IRREGULAR_FORMS.items():
        even, plain = Side(f"{irregular}-even"), Side(regular)
        words = f"{irregular} ≤ {IRREGULAR_FACTOR} {regular}"
        yield Guideline("regular", irregular, words, even, plain, IRREGULAR_FACTOR)
        words = f"{regular} ≤ {irregular}"
        yield Guideline("regular", regular, words, plain, even)


def _sizes() -> Iterator[Guideline]:
    for name in (facts(function).name for function in all_functions()):
        if name == "barrier":
            continue
        cell = f"{name}-even" if name in IRREGULAR_FORMS else name  # 2m is twice of every part
        once, twice = Side(cell), Side(cell, 2)
        yield Guideline("monotony", name, f"{name}(m) ≤ {name}(2m)", once, twice)
        yield Guideline("split", name, f"{name}(2m) ≤ 2 {name}(m)", twice, once, 2.0)


def _forms() -> Iterator[Guideline]:
    for name in (facts(function).name for function in all_functions()):
        plain, posted, prepared = (Side(name, form=f) for f in (BLOCKING, NONBLOCKING, PERSISTENT))
        words = f"{name}, I… + Wait ≤ {NONBLOCKING_FACTOR} {name}"
        yield Guideline("forms", name, words, posted, plain, NONBLOCKING_FACTOR)
        yield Guideline("forms", name, f"{name}, Start + Wait ≤ {name}", prepared, plain)


def guidelines(functions: list[str]) -> list[Guideline]:
    """Those whose left side is one of these functions."""
    every = [*_compositions(), *_regular(), *_sizes(), *_forms()]
    return [guideline for guideline in every if guideline.function in functions]


def pairs_of(chosen: list[Guideline], sizes: list[int]) -> list[tuple[Pair, int]]:
    """Every pair at every size, each once; a barrier has none."""
    pairs = dict.fromkeys(guideline.pair for guideline in chosen)
    return [
        (pair, size)
        for pair in pairs
        for size in (sizes[:1] if pair[0].cell == "barrier" else sizes)
    ]
