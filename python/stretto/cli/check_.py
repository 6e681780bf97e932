# SPDX-License-Identifier: BSD-3-Clause
"""`stretto check`."""

import time

import click

from ..algorithms import algorithms_matching
from ..errors import Error, FailureError
from ..portfolio import cases_of, prove, skipped
from ..units import intervals
from . import completion, options
from .check_file import check_file
from .terminal import progress, stderr, stdout, table


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
        check_file(file, collective, commutative, graph, in_place, as_json)
        return
    if collective is not None or commutative or graph or in_place:
        raise Error(
            "--collective, --commutative, --graph and --in-place need --file",
            "name algorithms or collectives as arguments",
        )
    _check_portfolio(list(algorithms), ranks, root, as_json)


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
