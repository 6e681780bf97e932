# SPDX-License-Identifier: BSD-3-Clause
"""`stretto check`."""

import time
from collections import defaultdict
from typing import NamedTuple

import click

from .. import _core
from ..algorithms import algorithms_matching, plain
from ..errors import Error, FailureError
from ..files import read_text
from ..plans.nodes import RefutedError
from ..portfolio import cases_of, prove, skipped, verdict_of
from ..schedule_files import is_plan, refuse_program
from ..units import intervals
from . import completion, options
from .terminal import progress, stderr, stdout, table

RANKS, ROOTS = "1-70", "some"  # of the algorithms, where nothing else is said
HINT = "`stretto show --text` prints some"


class Wish(NamedTuple):
    """What the options say of a file."""

    collective: str | None
    commutative: bool
    graph: str
    in_place: bool


@click.command("check")
@click.argument(
    "algorithms",
    nargs=-1,
    metavar="[ALGORITHM|COLLECTIVE]…",
    shell_complete=completion.everything,
)
@click.option(
    "--ranks",
    type=options.ranks,
    help=f"Numbers of ranks: 8, 1-70 or 2,4,8-16.  [default: {RANKS}]",
)
@click.option(
    "--root",
    type=click.Choice(["some", "all", "0"]),
    help="Roots: some is all up to 16 ranks, beyond that 0, 1, p/3, p/2 and p-1."
    f"  [default: {ROOTS}]",
)
@click.option(
    "--file",
    type=click.Path(dir_okay=False),
    help="Prove the schedules in this file (the form of `stretto show --text`, docs/schedules.md), "
    "or a plan of MSCCL's or MSCCL++'s (docs/plans.md).",
)
@click.option(
    "--collective",
    shell_complete=completion.collectives,
    help="With --file: what they are to compute.",
)
@click.option("--commutative", is_flag=True, help="With --file: operands may come in any order.")
@click.option("--graph", metavar="KIND", default="", help="With --file: as for `stretto show`.")
@click.option("--in-place", is_flag=True, help="With --file: the input is the output.")
@options.json_option
def command(
    algorithms: tuple[str, ...],
    ranks: tuple[int, ...] | None,
    root: str | None,
    file: str | None,
    collective: str | None,
    commutative: bool,
    graph: str,
    in_place: bool,
    as_json: bool,
) -> None:
    """Prove the algorithms right: run all ranks' schedules on symbols.

    Each is tried with its default parameters and with others, with lists and counts made at random
    if it takes them (the same ones every time). From roots other than p/3 the default is tried.

    Refused are unmatched messages, deadlock, double counting, wrong order, ranks that would hold
    different bits, a wrong result, and rounds or volume that differ from the algorithm's record.
    """
    wish = Wish(collective, commutative, graph, in_place)
    if file is not None:
        for words, given in (("names", algorithms), ("--ranks", ranks), ("--root", root)):
            if given:
                hint = "leave one of them out: all that stands in the file is proved"
                raise Error(f"--file and {words} exclude each other", hint)
        _check_file(file, wish, as_json)
        return
    if any(wish):
        raise Error(
            "--collective, --commutative, --graph and --in-place need --file",
            "name algorithms or collectives as arguments",
        )
    _check_portfolio(list(algorithms), ranks or options.ranks(RANKS), root or ROOTS, as_json)


def _check_portfolio(names: list[str], ranks: tuple[int, ...], root: str, as_json: bool) -> None:
    chosen = algorithms_matching(names)
    begin = time.monotonic()
    cases = [case for algorithm in chosen for case in cases_of(algorithm, ranks, root)]
    with progress("proving", len(cases)) as advance:
        proofs = prove(cases, advance)
    left_out = {algorithm.id: skipped(algorithm, ranks) for algorithm in chosen}
    seconds = time.monotonic() - begin
    refused = [proof for proof in proofs if proof["refused"]]
    if as_json:
        options.write_json(
            {
                "proved": [p for p in proofs if not p["refused"]],
                "refused": refused,
                "skipped": [
                    {"algorithm": name, "ranks": numbers, "reason": reason}
                    for name, (numbers, reason) in left_out.items()
                    if numbers
                ],
                "seconds": round(seconds, 3),
            }
        )
    else:
        _print_table(proofs, left_out, seconds)
    if refused:
        first = refused[0]
        variant = "," + first["variant"] if first["variant"] else ""  # as `stretto show` takes it
        raise FailureError(
            f"{first['algorithm']}{variant}, {first['ranks']} ranks, root {first['root']}: "
            f"{first['refused']}: {first['message']}",
            "`stretto show --text` prints the schedules",
        )


def _print_table(
    proofs: list[dict], left_out: dict[str, tuple[list[int], str]], seconds: float
) -> None:
    grid = table("algorithm", "ranks", ">cases", ">messages", "result", "skipped")
    rows: dict[str, list[dict]] = {name: [] for name in left_out}
    for proof in proofs:
        rows[proof["algorithm"]].append(proof)
    for name, (numbers, reason) in left_out.items():
        own = rows[name]
        bad = [proof for proof in own if proof["refused"]]
        verdict = "[green]proved[/]" if own else ""
        if bad:
            verdict = f"[red]refused[/] {len(bad)} times, first with {bad[0]['ranks']} ranks"
        grid.add_row(
            name,
            intervals(sorted({p["ranks"] for p in own})),
            str(len(own)),
            str(sum(p["messages"] for p in own)),
            verdict,
            f"{len(numbers)}: {reason}" if numbers else "",
        )
    stdout().print(grid)
    good = sum(1 for proof in proofs if not proof["refused"])
    stderr().print(f"{good} of {len(proofs)} cases proved in {seconds:.1f} s")


def _sets_in(text: str, file: str) -> tuple[dict[tuple[int, int], list[_core.Schedule]], bool]:
    """The schedules of all ranks, by the number of ranks and the root; and whether operators must
    commute. Raises Error, which names the file."""
    read = _core.parse_schedule_file(text, file)
    if not read.schedules:
        raise Error(f"{file}: no schedule in it", HINT)
    sets = defaultdict(list)
    for schedule in sorted(read.schedules, key=lambda one: one.rank):
        sets[schedule.ranks, schedule.root].append(schedule)
    for (ranks, _), schedules in sets.items():
        # No list of all ranks unless there are so many: the file may say any number.
        if len(schedules) != ranks or [one.rank for one in schedules] != list(range(ranks)):
            raise Error(
                f"{file}: holds {len(schedules)} schedules, not one for each of the {ranks} ranks",
                "`stretto show --text` without --rank prints all",
            )
    return dict(sorted(sets.items())), read.commutative


def _check_set(
    schedules: list[_core.Schedule], wish: Wish, commutative: bool
) -> tuple[str, _core.Checked]:
    """The collective's name, and the proof."""
    first = schedules[0]
    shape = _core.Shape(first.ranks, first.root, graph=wish.graph)
    name = wish.collective or first.algorithm.partition("/")[0]
    algorithm = _core.find_algorithm(first.algorithm)
    # The file does not say parameters and counts, on which rounds and volume may depend.
    known = algorithm and not (algorithm.parameter or algorithm.list or algorithm.needs.counts)
    if known and not (wish.collective or wish.commutative or wish.in_place):
        return name, _core.check_against_record(schedules, algorithm, shape)
    what = _core.collective_named(plain(name))
    if wish.collective:  # the options then say all
        commutative = False
    else:
        commutative = commutative or bool(algorithm and algorithm.needs.commutative)
    question = _core.Question(what, shape, wish.commutative or commutative, wish.in_place)
    return name, _core.check_schedules(schedules, question)


def _plan(text: str, file: str, wish: Wish) -> tuple[list[dict], list[str]]:
    """As _rows, of a plan in another form."""
    from ..plans.file import read_plan

    if any(wish):
        raise Error(f"{file}: a plan says itself what it computes", "give --file alone")
    row = {"file": file}
    try:
        held = read_plan(text, file)
        plan, found = held.plan, verdict_of(held.proof(held.plan.ranks))
    except RefutedError as refuted:
        nothing = dict.fromkeys(("rounds", "sent", "combined", "messages"), 0)
        plan, found = refuted.plan, {**nothing, "refused": refuted.name, "message": str(refuted)}
    row |= {"collective": plan.collective, "ranks": plan.ranks, "root": plan.root}
    row["form"] = plan.form
    return [{**row, **found}], [found["message"]] if found["refused"] else []


def _rows(file: str, wish: Wish) -> tuple[list[dict], list[str]]:
    """A row for each set, and a sentence for each that is refused. The file is read once: it may be
    a pipe."""
    refuse_program(file)
    text = read_text(file, HINT)
    if is_plan(text):
        return _plan(text, file, wish)
    sets, commutative = _sets_in(text, file)
    whole = None
    names = {one.algorithm for schedules in sets.values() for one in schedules}
    if not any(wish) and not any(map(_core.find_algorithm, names)) and "/" in "".join(names):
        whole = _core.AlgorithmFile(text, file)  # as the library takes it: in place as well
    rows, refusals = [], []
    for (ranks, root), schedules in sets.items():
        if whole:
            name = schedules[0].algorithm.partition("/")[0]
            checked = whole.proof(ranks, root)
        else:
            name, checked = _check_set(schedules, wish, commutative)
        if why := checked.refused:
            refusals.append(why.message if whole else f"{file}: {why.name}: {why.message}")
        row = {"file": file, "collective": name, "ranks": ranks, "root": root}
        rows.append({**row, **verdict_of(checked)})
    return rows, refusals


def _check_file(file: str, wish: Wish, as_json: bool) -> None:
    """Prove all that stands in a file, and print what came out; raises FailureError if some of it
    is refused."""
    rows, refusals = _rows(file, wish)
    good = [row for row in rows if not row["refused"]]
    if as_json:
        options.write_json(rows[0] if len(rows) == 1 else rows)
    elif len(rows) == 1 and good:
        row = good[0]
        click.echo(
            f"{file}: proved: {row['collective']} on {row['ranks']} ranks, {row['rounds']} rounds, "
            f"{row['messages']} messages"
        )
    elif good:
        numbers = intervals([row["ranks"] for row in good])
        roots = f", {len(good)} roots in all" if any(row["root"] for row in good) else ""
        click.echo(f"{file}: proved: {good[0]['collective']} on {numbers} ranks{roots}")
    if refusals:
        hint = "ranks and blocks count from 0, rounds from 1"
        if "wrong order" in refusals[0]:
            hint += "\nhint: --commutative allows any order of operands"
        more = f" (and {len(refusals) - 1} more)" if len(refusals) > 1 else ""
        raise FailureError(refusals[0] + more, hint)
