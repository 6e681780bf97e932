# SPDX-License-Identifier: BSD-3-Clause
"""From rounds to a record per ranks, cell, size, mode and peer, and to the closest peer of each."""

from collections import defaultdict
from itertools import product
from statistics import geometric_mean, median

from ..launch.mpi import TITLES
from .agreement import agreeing, ratio_of
from .cells import traffic
from .session import Key, Round, Wish
from .state import STATE

COLUMNS = (
    "ranks", "cell", "mode", "asked", "bytes", "peer", "status", "native_us", "stretto_us", "ratio",
    "spread", "native_spread", "stretto_spread", "of_bound", "rounds",
    "rounds_agreed", "algorithm", *STATE, "reason",
)  # fmt: skip
MIDDLES = ("native_us", "stretto_us", "native_spread", "stretto_spread")


def _bound_share(said: dict, ranks: int, memory_gbs: float) -> float:
    """The time that the memory traffic takes at least, over Stretto's."""
    bound_us = traffic(said["cell"], said["bytes"], ranks) / memory_gbs / 1e3
    return bound_us / said["stretto_us"]


def _measured(samples: list[dict], ranks: int, enough: int, memory_gbs: float) -> dict:
    """Medians over the rounds; unstable if the ratios of too few of them agree."""
    ratios = [ratio_of(said) for said in samples]
    agreed = agreeing(ratios)
    needed = 1 if any(said["dear"] for said in samples) else enough
    stable = agreed >= needed and 2 * agreed >= len(ratios)
    correct = all(said["correct"] for said in samples)
    return {
        "bytes": samples[0]["bytes"],
        "status": "wrong" if not correct else "ok" if stable else "unstable",
        "ratio": median(ratios),
        "spread": max(ratios) / min(ratios),
        "of_bound": median(_bound_share(said, ranks, memory_gbs) for said in samples),
        "rounds": len(ratios),
        "rounds_agreed": agreed,
        "algorithm": samples[-1]["algorithm"],
        **{name: median(said[name] for said in samples) for name in MIDDLES + STATE},
    }


def records(rounds: list[Round], wish: Wish) -> list[dict]:
    """In the order of the wish; a peer that failed in a cell has a record that says why."""
    samples: dict[tuple[Key, str], list[dict]] = defaultdict(list)
    for one in rounds:
        for said in one.samples:
            samples[one.key, said["peer"]].append(said)
    failures = {(one.key, said["peer"]): said for one in rounds for said in one.failures}
    best_memory = max((s["memory_gbs"] for one in rounds for s in one.samples), default=0.0)
    rows: list[dict] = []
    for ranks, (cell, asked, mode), peer in product(wish.ranks, wish.plan(), TITLES):
        key = ((ranks, cell, asked, mode), peer)
        head = {"ranks": ranks, "cell": cell, "mode": mode, "asked": asked, "peer": peer}
        if key in failures:
            why = {name: failures[key][name] for name in ("reason", "side")}
            rows.append({**head, "status": "failed", **why})
        elif key in samples:
            rows.append({**head, **_measured(samples[key], ranks, wish.enough(), best_memory)})
    return rows


def compare(rows: list[dict]) -> list[dict]:
    """One row per cell and mode: the closest peer, which has the least ratio.

    It need not have the least time: times of different runs may be of different states of the
    machine. Unstable and wrong cells are compared too and marked.
    """
    cells: dict[Key, list[dict]] = defaultdict(list)
    for row in rows:
        cells[row["ranks"], row["cell"], row["asked"], row["mode"]].append(row)
    found: list[dict] = []
    for (ranks, cell, asked, mode), here in cells.items():
        timed = [row for row in here if row["status"] != "failed"]
        head = {"ranks": ranks, "cell": cell, "mode": mode, "asked": asked}
        if not timed:
            found.append({**head, "status": "failed"})
            continue
        closest = min(timed, key=lambda row: row["ratio"])
        # A peer may fail natively and the others be compared; Stretto may not fail under any.
        statuses = {row["status"] for row in here if row.get("side") == "Stretto"}
        statuses |= {row["status"] for row in timed if row["status"] == "wrong"}
        status = next((s for s in ("wrong", "failed") if s in statuses), closest["status"])
        numbers = {name: closest[name] for name in ("ratio", "of_bound")}
        found.append({**head, "status": status, "closest": closest["peer"], **numbers})
    return found


def mean_ratio(rows: list[dict]) -> float | None:
    """Geometric, of those that are stable."""
    ratios = [row["ratio"] for row in rows if row["status"] == "ok"]
    return geometric_mean(ratios) if ratios else None


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def tsv(rows: list[dict]) -> str:
    lines = ["\t".join(COLUMNS)]
    lines += ["\t".join(_text(row.get(name, "")) for name in COLUMNS) for row in rows]
    return "\n".join(lines) + "\n"
