# SPDX-License-Identifier: BSD-3-Clause
"""`stretto check --file`."""

from collections import defaultdict
from dataclasses import dataclass

import click

from .. import _core
from ..algorithms import plain
from ..errors import Error, FailureError
from ..files import read_text
from ..plans.nodes import RefutedError
from ..portfolio import verdict_of
from ..schedule_files import is_plan, read_algorithm, refuse_program
from ..units import intervals
from .options import write_json


@dataclass(frozen=True)
class Wish:
    """What the options say of a file."""

    collective: str | None
    commutative: bool
    graph: str
    in_place: bool

    def __bool__(self) -> bool:
        return bool(self.collective or self.commutative or self.graph or self.in_place)


def _sets_in(file: str) -> tuple[dict[tuple[int, int], list[_core.Schedule]], bool]:
    """The schedules of all ranks, by the number of ranks and the root; and what they need."""
    read = _core.parse_schedule_file(read_text(file, "`stretto show --text` prints some"), file)
    if not read.schedules:
        raise Error(f"{file}: no schedule in it", "`stretto show --text` prints some")
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


def _plan(file: str, wish: Wish) -> tuple[list[dict], list[str]]:
    """As _rows, of a plan in another form."""
    if wish:
        raise Error(f"{file}: a plan says itself what it computes", "give --file alone")
    row = {"file": file}
    try:
        held = read_algorithm(file)
        plan, found = held.plan, verdict_of(held.proof(held.plan.ranks))
    except RefutedError as refuted:
        nothing = dict.fromkeys(("rounds", "sent", "combined", "messages"), 0)
        plan, found = refuted.plan, {**nothing, "refused": refuted.name, "message": str(refuted)}
    row |= {"collective": plan.collective, "ranks": plan.ranks, "root": plan.root}
    row["form"] = plan.form
    return [{**row, **found}], [found["message"]] if found["refused"] else []


def _rows(file: str, wish: Wish) -> tuple[list[dict], list[str]]:
    """A row for each set, and a sentence for each that is refused."""
    refuse_program(file)
    if is_plan(read_text(file, "`stretto show --text` prints some")):
        return _plan(file, wish)
    sets, commutative = _sets_in(file)
    whole = None
    names = {one.algorithm for schedules in sets.values() for one in schedules}
    if not wish and not any(map(_core.find_algorithm, names)) and "/" in "".join(names):
        whole = read_algorithm(file)  # as the library takes it: in place as well
    rows, refusals = [], []
    for (ranks, root), schedules in sets.items():
        if whole:
            name = schedules[0].algorithm.partition("/")[0]
            checked = whole.proof(ranks, root)
        else:
            name, checked = _check_set(schedules, wish, commutative)
        why = checked.refused
        if why:
            refusals.append(why.message if whole else f"{file}: {why.name}: {why.message}")
        row = {"file": file, "collective": name, "ranks": ranks, "root": root}
        rows.append({**row, **verdict_of(checked)})
    return rows, refusals


def check_file(
    file: str, collective: str | None, commutative: bool, graph: str, in_place: bool, as_json: bool
) -> None:
    """Prove all that stands in a file, and print what came out."""
    rows, refusals = _rows(file, Wish(collective, commutative, graph, in_place))
    good = [row for row in rows if not row["refused"]]
    if as_json:
        write_json(rows[0] if len(rows) == 1 else rows)
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
