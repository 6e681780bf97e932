# SPDX-License-Identifier: BSD-3-Clause
"""Why a call is served as it is: who decides, what else could, and what would change the choice.

And what `stretto explain --plot` draws: times over bytes, and who wins for which ranks and bytes.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from . import _core
from .errors import Error
from .simulation import (
    LONGEST,
    Call,
    best_of_each,
    compare,
    curves,
    predicted_row,
    ranked,
    suitable,
    words_of,
)
from .topology.predict import OnTree

MOST_RANKS = 1 << 14  # up to so many a change of the choice is looked for
MOST_RANKS_OF_GRAPHS = 1 << 10  # the same of neighbourhoods, of which each has to be built
MOST_BYTES = 1 << 62

EVERY = 40  # up to so many ranks the map has a column for every number
TIE = 1e-6  # sums in another order
LARGEST = 16 << 20  # bytes, to which lines and map go at least

# Whether they commute, and are predefined: as far as a choice depends on them.
OPERATORS = {"sum": (True, True), "user": (True, False), "noncommutative": (False, False)}


@dataclass
class Deciders:
    """What has a say on this machine, the strongest first: a variable, and the rules."""

    overrides: list[_core.Override]
    found: _core.FoundRules
    complaints: list[tuple[str, str]]  # (message, hint): sources that cannot be used
    disabled: bool = False  # by STRETTO_DISABLE

    @cached_property
    def rules(self) -> _core.Rules:
        return _core.complete_rules(self.found.text, self.found.file)

    def rule_at(self, line: int) -> str:
        """A rule as it stands in the file, without its columns and comment."""
        lines = self.found.text.split("\n") if self.found.text else []
        if line > len(lines):  # the shipped ones stand behind them
            line, lines = line - len(lines), _core.shipped_rules_text().split("\n")
        return " ".join(lines[line - 1].partition("#")[0].split())


def deciders(function: _core.Function, mpi: Callable[[], str]) -> Deciders:
    """By this process's environment; `mpi` is asked for the MPI's title if a file names one."""
    complaints: list[tuple[str, str]] = []
    overrides = []
    name = "STRETTO_" + _core.facts(function).name.upper()
    value = os.environ.get(name, "")
    if value:
        try:
            spec = _core.parse_algorithm_spec(function, value)
            overrides.append(_core.Override(spec, f"{name}={value}"))
        except Error as error:
            complaints.append((f"{name}: {error}; the rules decide", error.hint))
    found = _core.find_rules(os.environ.get("STRETTO_RULES", ""), mpi)
    disabled = os.environ.get("STRETTO_DISABLE") == "1"
    return Deciders(overrides, found, complaints + found.refused, disabled)


@dataclass(frozen=True)
class Question:
    """A call, with what only the choice depends on."""

    call: Call
    predefined: bool = True
    cores: int = 0  # of a node; 0: one for every rank

    @property
    def per_node(self) -> int:
        """Ranks that share memory."""
        shared = os.environ.get("STRETTO_SHM") != "0"
        return self.call.placement.ranks_per_node if shared else 1

    @property
    def oversubscribed(self) -> bool:
        """Also where no memory is."""
        return 0 < self.cores < min(self.call.placement.ranks_per_node, self.call.ranks)

    @property
    def among_neighbours(self) -> bool:
        """By a function whose ranks are neighbours in a graph."""
        return _core.facts(_core.facts(self.call.function).collective).neighbourhood

    @property
    def most_ranks(self) -> int:
        """For which another choice is looked for."""
        return MOST_RANKS_OF_GRAPHS if self.among_neighbours else MOST_RANKS

    def asked(self) -> _core.Call:
        call = self.call
        shape = _core.Shape(call.ranks, call.root, graph=call.graph)
        per_node = min(self.per_node, call.ranks)
        to_node = 0
        if self.among_neighbours:
            to_node = _core.messages_to_node(shape, [r // per_node for r in range(call.ranks)])
        return _core.Call(
            call.function, shape, call.bytes, call.commutative, self.predefined,
            per_node, call.ranks % per_node == 0, self.oversubscribed, to_node,
        )  # fmt: skip

    def with_bytes(self, size: int) -> "Question":
        return replace(self, call=replace(self.call, bytes=size))

    def with_ranks(self, ranks: int) -> "Question":
        """With as many ranks on a node, or all of them where all were."""
        call = self.call
        per_node = call.placement.ranks_per_node
        if per_node >= call.ranks:
            per_node = ranks
        root = min(call.root, ranks - 1)
        graph = call.graph if ranks == call.ranks or call.graph.startswith("random") else ""
        placement = _core.Placement(min(per_node, ranks))
        return replace(
            self, call=replace(call, ranks=ranks, root=root, placement=placement, graph=graph)
        )


def decide(who: Deciders, question: Question) -> _core.Choice:
    """As the library does for such a call, but that it does not ask info keys."""
    return _core.choose(who.rules, question.asked(), who.overrides)


def name_of(choice: _core.Choice) -> str:
    return choice.algorithm.name if choice.algorithm else "native"


def _other_sizes(who: Deciders, question: Question, up: bool) -> Iterator[tuple[int, Question]]:
    """From one range of sizes that the rules treat alike to the next."""
    while True:
        alike = _core.chosen_alike(who.rules, question.asked())
        size = alike.high + 1 if up else alike.low - 1
        if not 0 <= size <= MOST_BYTES:
            return
        question = question.with_bytes(size)
        yield size, question


def _other_ranks(_: Deciders, question: Question, up: bool) -> Iterator[tuple[int, Question]]:
    """One by one: conditions such as 2^k come and go."""
    here = question.call.ranks
    for ranks in range(here + 1, question.most_ranks + 1) if up else range(here - 1, 0, -1):
        yield ranks, question.with_ranks(ranks)


def changes(who: Deciders, question: Question) -> dict:
    """The nearest sizes and numbers of ranks at which another algorithm would be chosen."""
    own = name_of(decide(who, question))

    def first(others: Iterable[tuple[int, Question]]) -> dict | None:
        for at, there in others:
            choice = decide(who, there)
            if name_of(choice) != own:
                return {"at": at, "choice": name_of(choice), "reason": choice.reason}
        return None

    ways, whats = (("down", False), ("up", True)), {"bytes": _other_sizes, "ranks": _other_ranks}
    return {
        what: {way: first(others(who, question, up)) for way, up in ways}
        for what, others in whats.items()
    }


def chosen_row(
    call: Call, choice: _core.Choice, machine: _core.Machine, topology: _core.Topology | None = None
) -> dict:
    """The prediction for what was chosen, with its own parameters."""
    algorithm, params = choice.algorithm, choice.params
    assert algorithm
    simulator = call.simulator(algorithm, params)
    value = params.value or _core.resolved(algorithm, call.shape(algorithm), params).value
    words = words_of(algorithm, value, params.segment, params.list)
    if params.segment and params.depth != _core.Params().depth:
        words += f",depth={params.depth}"
    tree = OnTree(topology) if topology else None
    return predicted_row(call, algorithm, params, words, machine, simulator, tree)


def ranking(
    call: Call, choice: _core.Choice, machine: _core.Machine, topology: _core.Topology | None = None
) -> tuple[list[dict], dict[str, str]]:
    """The best row of every algorithm and the row of the choice, the fastest first; and why some
    have none."""
    wanted = _core.facts(call.function).collective
    every = [a for a in _core.all_algorithms() if a.collective == wanted]
    why_not = {a.id: why for a in every if (why := call.why_not(a))}
    own = [a for a in every if a.id not in why_not]
    rows, refused = compare(call, own, machine, topology=topology)
    rows = best_of_each(rows)
    why_not |= {identifier: str(why) for identifier, why in refused.items()}
    if choice.algorithm:
        try:
            chosen = chosen_row(call, choice, machine, topology)
        except Error as error:
            why_not[choice.algorithm.id] = str(error)
        else:
            same = (chosen["algorithm"], chosen["parameters"])
            rows = [row for row in rows if (row["algorithm"], row["parameters"]) != same]
            rows.append({**chosen, "chosen": True})
    return [{"chosen": False, **row} for row in ranked(rows)], why_not


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
    powers = [1 << k for k in range(2, (2 * ranks).bit_length())]
    found = {2, 3, ranks, *(n for p in powers for n in (p, p + 1, p + p // 2))}
    return sorted(p for p in found if p <= 2 * ranks)


def _curves(question: Question, machine: _core.Machine, sizes: list[int]) -> dict[str, list[float]]:
    """Seconds for each of the sizes, by the names of algorithms; raises Error where all are too
    large to simulate."""
    own = suitable(question.call)
    found, refused = curves(question.call, own, machine, sizes, budget=LONGEST * len(own))
    if not found:
        hint = "take fewer ranks: the map has columns for up to twice as many"
        raise Error(f"nothing to draw: {refused[0]}", hint)
    return {identifier.partition("/")[2]: times for identifier, times in found.items()}


def lines_of(who: Deciders, question: Question, machine: _core.Machine) -> Lines:
    """All algorithms with their defaults, and what is chosen for each size; raises Error where that
    or all of them are too large to simulate."""
    sizes = sizes_for(question.call.bytes)
    chosen: list[float | None] = []
    for size in sizes:
        there = question.with_bytes(size)
        choice = decide(who, there)
        row = chosen_row(there.call, choice, machine) if choice.algorithm else None
        chosen.append(row["seconds"] if row else None)
    return Lines(sizes, _curves(question, machine, sizes), chosen)


def _fastest(found: dict[str, list[float]], at: int, chosen: str) -> str:
    """Of algorithms that are equally fast the one that is chosen, else the first."""
    best = min(times[at] for times in found.values())
    equal = [name for name, times in found.items() if times[at] <= best * (1 + TIE)]
    return chosen if chosen in equal else equal[0]


def map_of(
    who: Deciders,
    question: Question,
    machine: _core.Machine,
    advance: Callable[[float, float], None] = lambda done, of: None,
) -> Winners:
    """Under the model, with the defaults of each algorithm; raises Error where all are too large to
    simulate on some number of ranks. `advance` is told how many of these are done, of how many."""
    sizes = sizes_for(question.call.bytes)
    all_ranks = ranks_for(question.call.ranks)
    winners = Winners(all_ranks, sizes, [], [])
    for done, ranks in enumerate(all_ranks, 1):
        there = question.with_ranks(ranks)
        found = _curves(there, machine, sizes)
        chosen = [name_of(decide(who, there.with_bytes(size))) for size in sizes]
        winners.chosen.append(chosen)
        winners.fastest.append([_fastest(found, i, own) for i, own in enumerate(chosen)])
        advance(done, len(all_ranks))
    return winners
