# SPDX-License-Identifier: BSD-3-Clause
"""What `stretto explain --plot` draws: times over bytes, and who wins for which ranks and bytes."""

from collections.abc import Callable
from dataclasses import dataclass

from . import _core
from .errors import Error
from .explain import Deciders, Question, chosen_row, decide, name_of, of_collective
from .simulation import curve, suitable

EVERY = 40  # up to so many ranks the map has a column for every number
TIE = 1e-6  # sums in another order
LARGEST = 16 << 20


@dataclass(frozen=True)
class Lines:
    """Seconds for each of the sizes; of the choice with its own parameters, None if native."""

    sizes: list[int]
    by_algorithm: dict[str, list[float]]
    chosen: list[float | None]


@dataclass(frozen=True)
class Winners:
    """`fastest[i][k]`, `chosen[i][k]`: names for ranks[i] and sizes[k]; fastest with defaults."""

    ranks: list[int]
    sizes: list[int]
    fastest: list[list[str]]
    chosen: list[list[str]]


def sizes_for(size: int) -> list[int]:
    """Powers of two from 8 to some beyond `size`."""
    most = max(LARGEST, min(size << 2, 1 << 40)).bit_length()
    return [1 << e for e in range(3, most)]


def ranks_for(ranks: int) -> list[int]:
    """All if there are few; else powers of two, what is beside and between them, and `ranks`."""
    if ranks <= EVERY:
        return list(range(2, EVERY + 1))
    found = {2, 3, ranks}
    power = 4
    while power <= 2 * ranks:
        found |= {power, power + 1, power + power // 2}
        power *= 2
    return sorted(p for p in found if p <= 2 * ranks)


def _curves(question: Question, machine: _core.Machine, sizes: list[int]) -> dict[str, list[float]]:
    call, found = question.call, {}
    for algorithm in suitable(call, of_collective(call.function)):
        try:
            found[algorithm.name] = curve(call, algorithm, machine, sizes)
        except Error:  # too large to simulate: the table says so
            continue
    return found


def lines_of(who: Deciders, question: Question, machine: _core.Machine) -> Lines:
    """All algorithms with their defaults, and what is chosen for each size."""
    sizes = sizes_for(question.call.bytes)
    chosen: list[float | None] = []
    for size in sizes:
        there = question.with_bytes(size)
        choice = decide(who, there)
        row = chosen_row(there.call, choice, machine) if choice.algorithm else None
        chosen.append(row["seconds"] if row else None)
    return Lines(sizes, _curves(question, machine, sizes), chosen)


def _fastest(curves: dict[str, list[float]], at: int, chosen: str) -> str:
    """Of algorithms that are equally fast the one that is chosen, else the first."""
    best = min(times[at] for times in curves.values())
    equal = [name for name, times in curves.items() if times[at] <= best * (1 + TIE)]
    return chosen if chosen in equal else equal[0]


def map_of(
    who: Deciders,
    question: Question,
    machine: _core.Machine,
    advance: Callable[[float, float], None] = lambda done, of: None,
) -> Winners:
    """Under the model, with the defaults of each algorithm."""
    sizes = sizes_for(question.call.bytes)
    all_ranks = ranks_for(question.call.ranks)
    winners = Winners(all_ranks, sizes, [], [])
    for done, ranks in enumerate(all_ranks, 1):
        there = question.with_ranks(ranks)
        curves = _curves(there, machine, sizes)
        chosen = [name_of(decide(who, there.with_bytes(size))) for size in sizes]
        winners.chosen.append(chosen)
        winners.fastest.append([_fastest(curves, i, own) for i, own in enumerate(chosen)])
        advance(done, len(all_ranks))
    return winners
