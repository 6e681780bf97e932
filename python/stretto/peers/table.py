# SPDX-License-Identifier: BSD-3-Clause
"""From rounds to one record per ranks, cell, size, mode and peer, and to the best peer of each."""

from collections import defaultdict
from statistics import geometric_mean, median

from .cells import traffic
from .environments import PEERS
from .session import Round, Wish

COLUMNS = (
    "ranks", "cell", "mode", "asked", "bytes", "peer", "status", "native_us", "stretto_us", "ratio",
    "spread", "native_spread", "stretto_spread", "best_ratio", "of_bound", "rounds",
    "rounds_agreed", "algorithm", "latency_ns", "transfer_gbs", "memory_gbs", "reason",
)  # fmt: skip
MIDDLES = ("native_us", "stretto_us", "native_spread", "stretto_spread")
STATE = ("latency_ns", "transfer_gbs", "memory_gbs")

Key = tuple[int, str, int, str]  # ranks, cell, size asked for, mode


def _bound_share(said: dict, ranks: int) -> float:
    """The time that the memory traffic takes at least, over Stretto's."""
    bound_us = traffic(said["cell"], said["bytes"], ranks) / said["memory_gbs"] / 1e3
    return bound_us / said["stretto_us"]


def _measured(samples: list[tuple[bool, dict]], ranks: int, enough: int) -> dict:
    """Of the rounds that agreed; of all of them, marked unstable, if these are too few."""
    agreed = [said for good, said in samples if good]
    all_of_them = [said for _, said in samples]
    needed = 1 if any(said["dear"] for said in all_of_them) else enough
    stable = len(agreed) >= needed
    used = agreed if stable else all_of_them
    correct = all(said["correct"] for said in all_of_them)
    ratios = [said["native_us"] / said["stretto_us"] for said in used]
    return {
        "bytes": used[0]["bytes"],
        "status": "wrong" if not correct else "ok" if stable else "unstable",
        "ratio": median(ratios),
        "spread": max(ratios) / min(ratios),
        "of_bound": median(_bound_share(said, ranks) for said in used),
        "rounds": len(all_of_them),
        "rounds_agreed": len(agreed),
        "algorithm": used[-1]["algorithm"],
        **{name: median(said[name] for said in used) for name in MIDDLES + STATE},
    }


def _key(one: Round) -> Key:
    return one.ranks, one.cell, one.asked, one.mode


def records(rounds: list[Round], wish: Wish) -> list[dict]:
    """In the order of the wish; a peer that failed in a cell has a record that says why."""
    samples: dict[tuple[Key, str], list[tuple[bool, dict]]] = defaultdict(list)
    failures: dict[tuple[Key, str], dict] = {}
    for one in rounds:
        for said in one.samples:
            samples[_key(one), said["peer"]].append((one.agreed, said))
        for said in one.failures:
            failures[_key(one), said["peer"]] = said
    rows: list[dict] = []
    for ranks in wish.ranks:
        for cell, asked, mode in wish.plan():
            for peer in PEERS:
                key = ((ranks, cell, asked, mode), peer.name)
                head = {"ranks": ranks, "cell": cell, "mode": mode, "asked": asked}
                head["peer"] = peer.name
                if key in failures:
                    why = {name: failures[key][name] for name in ("reason", "side")}
                    rows.append({**head, "status": "failed", **why})
                elif key in samples:
                    rows.append({**head, **_measured(samples[key], ranks, wish.enough())})
    return rows


def compare(rows: list[dict]) -> list[dict]:
    """One row per cell and mode: the fastest peer, and its time over Stretto's in the same runs.

    `least` is the fastest peer's time over that of the slowest flavour of Stretto. Every record
    gets its own such ratio, `best_ratio`. Unstable and wrong cells are compared too and marked.
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
        best = min(timed, key=lambda row: row["native_us"])
        for row in timed:
            row["best_ratio"] = best["native_us"] / row["stretto_us"]
        best["best_ratio"] = best["ratio"]
        # A peer may fail natively and the others be compared; Stretto may not fail under any.
        statuses = {r["status"] for r in here if r["status"] != "failed" or r["side"] == "Stretto"}
        found.append(
            {
                **head,
                "status": next(s for s in ("wrong", "failed", "unstable", "ok") if s in statuses),
                "best_peer": best["peer"],
                "ratio": best["ratio"],
                "least": min(row["best_ratio"] for row in timed),
                "of_bound": best["of_bound"],
            }
        )
    return found


def mean_ratio(rows: list[dict]) -> float | None:
    """Geometric, of those in a stable state."""
    ratios = [row["ratio"] for row in rows if row["status"] == "ok"]
    return geometric_mean(ratios) if ratios else None


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def tsv(rows: list[dict]) -> str:
    lines = ["\t".join(COLUMNS)]
    lines += ["\t".join(_text(row.get(name, "")) for name in COLUMNS) for row in rows]
    return "\n".join(lines) + "\n"
