# SPDX-License-Identifier: BSD-3-Clause
"""Proving many cases: every algorithm for every number of ranks."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from . import _core

FEW = 16  # up to so many ranks all roots are tried


@dataclass(frozen=True)
class Case:
    algorithm: _core.Algorithm
    ranks: int
    root: int


def roots_of(ranks: int, wish: str) -> list[int]:
    """All of them, 0 only, or some: all for few ranks, else the first, the middle and the last."""
    if wish == "0":
        return [0]
    if wish == "all" or ranks <= FEW:
        return list(range(ranks))
    return [0, 1, ranks // 2, ranks - 1]


def cases_of(algorithm: _core.Algorithm, ranks: tuple[int, ...], root: str) -> list[Case]:
    rooted = _core.facts(algorithm.collective).rooted
    return [Case(algorithm, p, r) for p in ranks for r in (roots_of(p, root) if rooted else [0])]


def prove_one(case: Case) -> dict:
    """One row: what was proved, or the refusal."""
    shape = _core.Shape(case.ranks, case.root)
    checked = _core.check_algorithm(case.algorithm, shape)
    refused, measured = checked.refused, checked.measured
    return {
        "algorithm": case.algorithm.id,
        "ranks": case.ranks,
        "root": case.root,
        "commutative": case.algorithm.needs_commutative,
        "in_place": _core.may_alias(case.algorithm.collective),
        "blocks": case.algorithm.blocks(shape),
        "rounds": measured.rounds,
        "sent": measured.sent,
        "combined": measured.combined,
        "messages": measured.messages,
        "refused": refused.name if refused else None,
        "message": refused.message if refused else "",
    }


def prove(cases: list[Case], advance: Callable[[float], None] = lambda done: None) -> list[dict]:
    """All cases, in their order; the checker lets go of the interpreter's lock, so threads help."""
    from .launch.mpi import cores

    with ThreadPoolExecutor(max_workers=cores()) as pool:
        # The largest first, so that none is left alone at the end.
        order = sorted(range(len(cases)), key=lambda i: -cases[i].ranks)
        futures = {pool.submit(prove_one, cases[i]): i for i in order}
        rows: list[dict] = [{}] * len(cases)
        for done, future in enumerate(as_completed(futures), 1):
            rows[futures[future]] = future.result()
            advance(done)
    return rows
