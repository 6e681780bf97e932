# SPDX-License-Identifier: BSD-3-Clause
"""Proves or refutes plans, and writes docs/results/plans.md (benchmarks/plans/run)."""

import sys
from collections import defaultdict
from pathlib import Path

import stretto
from stretto import facts
from stretto.errors import Error
from stretto.files import write_text
from stretto.plans.file import read_plan, write_plan
from stretto.plans.nodes import RefutedError

RANKS = (2, 5, 8, 13)
FORMS = ("msccl", "mscclpp")
HERE = Path(__file__).parent


def verdict(path: Path) -> tuple[str, str, str]:
    """What kind of result it is, a cell with collective and GPUs, a cell that says more."""
    try:
        plan = read_plan(path.read_text("utf-8"), path.name)
        checked, what = plan.proof(plan.plan.ranks), plan.plan
        why = checked.refused and checked.refused.message
        measured = checked.measured
    except RefutedError as error:
        what, why = error.plan, str(error)
    except Error as error:
        return "rest", "", said(path, str(error))
    cell = f"{what.collective} | {what.ranks}"
    if why:
        return "refuted", cell, f"refuted: {said(path, why)}"
    rounds = f"{measured.rounds} round{'s' * (measured.rounds != 1)}"
    return "proved", cell, f"proved: {rounds}, {measured.messages} messages"


def said(path: Path, message: str) -> str:
    """Without the name of the file, and without the place in a JSON file."""
    text = message.removeprefix(path.name).lstrip(":0123456789").strip()
    if text.startswith("gpus["):
        text = text.partition(": ")[2]
    return text.replace("|", "\\|")


def table(source: str, folder: Path, counts: dict[str, int]) -> str:
    lines = [f"## {source}", "", "| plan | collective | GPUs | result |", "|---|---|--:|---|"]
    alike: dict[str, list[str]] = defaultdict(list)
    for path in sorted([*folder.glob("*.xml"), *folder.glob("*.json")]):
        kind, cell, words = verdict(path)
        counts[kind] += 1
        if kind == "rest":
            alike[words].append(f"`{path.name}`")
        else:
            lines.append(f"| `{path.name}` | {cell} | {words} |")
        print(f"{source}: {path.name}: {kind}", file=sys.stderr)
    lines += [f"| {', '.join(names)} | | | {words} |" for words, names in alike.items()]
    return "\n".join(lines)


def schedules_of(algorithm: stretto.Algorithm, ranks: int) -> list[stretto.Schedule] | None:
    shape = stretto.Shape(ranks, 0, [1] * ranks if algorithm.needs.counts else [])
    function = next(f for f in stretto.all_functions()
                    if facts(f).collective == algorithm.collective)  # fmt: skip
    if stretto.unsuitable(algorithm, function, shape):
        return None
    return [stretto.build_schedule(algorithm, shape, rank) for rank in range(ranks)]


def rounds_of(algorithm: stretto.Algorithm, ranks: int) -> list[int] | None:
    """Of the schedule, then of the plan in each form; None if it does not serve so many ranks."""
    schedules = schedules_of(algorithm, ranks)
    if schedules is None:
        return None
    shape = stretto.Shape(ranks, 0, [1] * ranks if algorithm.needs.counts else [])
    found = [stretto.check_algorithm(algorithm, shape).measured.rounds]
    for form in FORMS:
        checked = read_plan(write_plan(form, schedules), algorithm.id).proof(ranks)
        if checked.refused:
            why = checked.refused.message
            raise SystemExit(f"{algorithm.id} as {form} on {ranks} ranks: {why}")
        found.append(checked.measured.rounds)
    return found


def written() -> tuple[str, str]:
    """The table of what can be written, and the rows of what cannot."""
    rows = ["| algorithm | ranks | rounds | MSCCL | MSCCL++ |", "|---|---|--:|--:|--:|"]
    reasons: dict[str, set[str]] = defaultdict(set)
    for algorithm in stretto.all_algorithms():
        try:
            found = {ranks: rounds_of(algorithm, ranks) for ranks in RANKS}
        except Error as error:
            name, _, why = str(error).partition(" cannot be a plan: ")
            reasons[why].add(name)
            continue
        served = {ranks: one for ranks, one in found.items() if one}
        if not served:
            reasons["made for parts of different sizes, which a plan cannot have"].add(algorithm.id)
            continue
        numbers = ", ".join(map(str, served))
        cells = " | ".join(map(str, served[max(served)]))
        rows.append(f"| {algorithm.id} | {numbers} | {cells} |")
    unwritten = [f"| {', '.join(sorted(names))} | {why} |" for why, names in reasons.items()]
    return "\n".join(rows), "\n".join(unwritten)


def main(target: str, arguments: list[str]) -> None:
    counts: dict[str, int] = defaultdict(int)
    tables = []
    for argument in arguments:
        source, equals, folder = argument.partition("=")
        if not equals or not Path(folder).is_dir():
            raise SystemExit(f"{argument}: expected SOURCE=FOLDER, and a folder of plans")
        tables.append(table(source, Path(folder), counts))
    can, cannot = written()
    page = (HERE / "page.md").read_text("utf-8")
    write_text(target, page.format(
        count=sum(counts.values()), proved=counts["proved"], refuted=counts["refuted"],
        rest=counts["rest"], notes=(HERE / "notes.md").read_text("utf-8").strip(),
        tables="\n\n".join(tables), ranks=", ".join(map(str, RANKS)), most=RANKS[-1],
        written=can, unwritten=cannot,
    ))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
