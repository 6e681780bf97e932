# SPDX-License-Identifier: BSD-3-Clause
"""`stretto check`."""

import time
from typing import TYPE_CHECKING

import click

from ..errors import Error, FailureError
from ..files import read_text
from .options import RanksType, json_option, write_json

if TYPE_CHECKING:
    from .. import Schedule


@click.command("check")
@click.argument("algorithms", nargs=-1, metavar="[ALGORITHM|COLLECTIVE]…")
@click.option(
    "--ranks",
    type=RanksType(),
    default="1-70",
    show_default=True,
    help="Numbers of ranks: 8, 1-70 or 2,4,8-16.",
)
@click.option(
    "--root",
    type=click.Choice(["some", "all", "0"]),
    default="some",
    show_default=True,
    help="Roots: some is all up to 16 ranks, beyond that 0, 1, p/3, p/2 and p-1.",
)
@click.option(
    "--file",
    "file",
    type=click.Path(dir_okay=False),
    default=None,
    help="Prove the schedules in this file (the form of `stretto show --text`).",
)
@click.option("--collective", default=None, help="With --file: what they are to compute.")
@click.option("--commutative", is_flag=True, help="With --file: operands may come in any order.")
@click.option("--graph", metavar="KIND", default="", help="With --file: as for `stretto show`.")
@click.option("--in-place", is_flag=True, help="With --file: the input is the output.")
@json_option
def command(
    algorithms: tuple[str, ...],
    ranks: tuple[int, ...],
    root: str,
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
    if file is not None:
        if algorithms:
            raise Error("--file and names exclude each other", "leave one of them out")
        _check_file(file, collective, commutative, graph, in_place, as_json)
        return
    if collective is not None or commutative or graph or in_place:
        raise Error(
            "--collective, --commutative, --graph and --in-place need --file",
            "name algorithms or collectives as arguments",
        )
    _check_portfolio(list(algorithms), ranks, root, as_json)


def _check_portfolio(names: list[str], ranks: tuple[int, ...], root: str, as_json: bool) -> None:
    from ..algorithms import algorithms_matching
    from ..portfolio import cases_of, prove, skipped
    from .terminal import progress

    chosen = algorithms_matching(names)
    begin = time.monotonic()
    cases = [case for algorithm in chosen for case in cases_of(algorithm, ranks, root)]
    with progress("proving", len(cases)) as advance:
        proofs = prove(cases, advance)
    left_out = {algorithm.id: skipped(algorithm, ranks) for algorithm in chosen}
    seconds = time.monotonic() - begin
    refused = [proof for proof in proofs if proof["refused"]]
    if as_json:
        write_json(
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
        raise FailureError(
            f"{_described(first)}: {first['refused']}: {first['message']}",
            "`stretto show --text` prints the schedules",
        )


def _described(proof: dict) -> str:
    """The case of a proof in words, with the variant as `stretto show` takes it."""
    variant = "," + proof["variant"] if proof["variant"] else ""
    return f"{proof['algorithm']}{variant}, {proof['ranks']} ranks, root {proof['root']}"


def _print_table(
    proofs: list[dict], left_out: dict[str, tuple[list[int], str]], seconds: float
) -> None:
    from ..units import intervals
    from .terminal import stderr, stdout, table

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


def _schedules_in(file: str) -> "list[Schedule]":
    """One for each rank, in their order; raises Error."""
    from .. import parse_schedules

    text = read_text(file, "`stretto show --text` prints schedules")
    schedules = sorted(parse_schedules(text, file), key=lambda schedule: schedule.rank)
    if not schedules:
        raise Error(f"{file}: no schedule in it", "`stretto show --text` prints some")
    ranks = schedules[0].ranks
    if [schedule.rank for schedule in schedules] != list(range(ranks)):
        raise Error(
            f"{file}: holds {len(schedules)} schedules, not one for each of the {ranks} ranks",
            "`stretto show --text` without --rank prints all",
        )
    return schedules


def _check_file(
    file: str, collective: str | None, commutative: bool, graph: str, in_place: bool, as_json: bool
) -> None:
    from .. import _core
    from ..algorithms import plain
    from ..portfolio import verdict_of

    schedules = _schedules_in(file)
    first = schedules[0]
    shape = _core.Shape(first.ranks, first.root, graph=graph)
    name = collective or first.algorithm.partition("/")[0]
    algorithm = _core.find_algorithm(first.algorithm)
    # The file does not say parameters and counts, on which rounds and volume may depend.
    known = algorithm and not (algorithm.parameter or algorithm.list or algorithm.needs.counts)
    if known and not (collective or commutative or in_place):
        checked = _core.check_against_record(schedules, algorithm, shape)
    else:
        what = _core.collective_named(plain(name))
        if algorithm and not collective:
            commutative = commutative or algorithm.needs.commutative
        question = _core.Question(what, shape, commutative, in_place)
        checked = _core.check_schedules(schedules, question)
    measured, refused = checked.measured, checked.refused
    if as_json:
        write_json(
            {
                "file": file,
                "collective": name,
                "ranks": shape.ranks,
                "root": shape.root,
                **verdict_of(checked),
            }
        )
    elif not refused:
        click.echo(
            f"{file}: proved: {name} on {shape.ranks} ranks, {measured.rounds} rounds, "
            f"{measured.messages} messages"
        )
    if refused:
        hint = "ranks and blocks count from 0, rounds from 1"
        if refused.name == "wrong order":
            hint += "\nhint: --commutative allows any order of operands"
        raise FailureError(f"{file}: {refused.name}: {refused.message}", hint)
