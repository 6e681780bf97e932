# SPDX-License-Identifier: BSD-3-Clause
"""Proving many cases: every algorithm for every number of ranks, with all that it is tried with."""

from collections.abc import Callable
from dataclasses import dataclass

from . import _core
from .errors import Error

FEW = 16  # up to so many ranks all roots are tried


@dataclass(frozen=True)
class Case:
    """One algorithm, number of ranks and root: one proof for each variant."""

    algorithm: _core.Algorithm
    ranks: int
    root: int


def roots_of(ranks: int, wish: str) -> list[int]:
    """All of them, 0 only, or some: all for few ranks, else a handful."""
    if wish == "0":
        return [0]
    if wish == "all" or ranks <= FEW:
        return list(range(ranks))
    # From p/3 all variants are tried, from the others the default.
    return [0, 1, ranks // 3, ranks // 2, ranks - 1]


def cases_of(algorithm: _core.Algorithm, ranks: tuple[int, ...], root: str) -> list[Case]:
    rooted = _core.facts(algorithm.collective).rooted
    return [Case(algorithm, p, r) for p in ranks for r in (roots_of(p, root) if rooted else [0])]


def sample_shape(algorithm: _core.Algorithm, ranks: int) -> _core.Shape:
    """Of a call whose parts are equally large, if the algorithm goes by them."""
    return _core.Shape(ranks, 0, [1] * ranks if algorithm.needs.counts else [])


def needs_in_words(algorithm: _core.Algorithm) -> list[str]:
    needs = algorithm.needs
    ranks = {_core.RanksNeeded.even: "even ranks", _core.RanksNeeded.power_of_two: "2^k ranks"}
    words = ["commutative"] if needs.commutative else []
    words += [ranks[needs.ranks]] if needs.ranks in ranks else []
    return words + (["counts"] if needs.counts else [])


def verdict_of(checked: _core.Checked) -> dict:
    """What was measured, and why it is refused, if it is."""
    numbers = {
        name: getattr(checked.measured, name) for name in ("rounds", "sent", "combined", "messages")
    }
    why = checked.refused
    return {**numbers, "refused": why and why.name, "message": why.message if why else ""}


def refuse(algorithm: _core.Algorithm, checked: _core.Checked) -> None:
    """Raises Error if its schedules were refused."""
    if why := checked.refused:
        hint = "its schedule is wrong; `stretto show --text` prints it"
        raise Error(f"{algorithm.id} is refused: {why.name}: {why.message}", hint)


def _prove(case: Case) -> list[dict]:
    """A row for each variant: what was proved, or the refusal. No rows if the algorithm is not for
    so many ranks."""
    algorithm = case.algorithm
    return [
        {
            "algorithm": algorithm.id,
            "variant": _core.to_text(one, algorithm),
            "ranks": case.ranks,
            "root": case.root,
            "commutative": algorithm.needs.commutative,
            "in_place": _core.may_alias(algorithm.collective),
            "blocks": algorithm.blocks(one.shape, one.params),
            **verdict_of(_core.check_algorithm(algorithm, one.shape, one.params)),
        }
        for one in _core.variants(algorithm, case.ranks, case.root)
    ]


def prove(cases: list[Case], advance: Callable[[float], None] = lambda done: None) -> list[dict]:
    """All cases, in their order; the checker lets go of the interpreter's lock, so threads help."""
    from concurrent.futures import as_completed

    from .launch.cores import pool  # which loads all of launch/

    with pool() as threads:
        # The largest first, so that none is left alone at the end.
        order = sorted(range(len(cases)), key=lambda i: -cases[i].ranks)
        futures = {threads.submit(_prove, cases[i]): i for i in order}
        rows: list[list[dict]] = [[]] * len(cases)
        for done, future in enumerate(as_completed(futures), 1):
            rows[futures[future]] = future.result()
            advance(done)
    return [row for one in rows for row in one]


def skipped(algorithm: _core.Algorithm, ranks: tuple[int, ...]) -> tuple[list[int], str]:
    """The numbers of ranks that it is not for, and why."""
    left_out = [p for p in ranks if not _core.variants(algorithm, p)]
    if not left_out:
        return [], ""
    words = [word for word in needs_in_words(algorithm) if word.endswith("ranks")]
    if words:
        return left_out, f"needs {words[0]}"
    return left_out, _core.unsuitable(algorithm, sample_shape(algorithm, left_out[0]))
