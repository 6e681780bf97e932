# SPDX-License-Identifier: BSD-3-Clause
"""`stretto list`."""

import click

from .. import Algorithm, Collective, all_functions, facts, unsuitable
from ..algorithms import algorithms_matching, functions_of
from ..portfolio import needs_in_words, sample_shape
from . import completion, options
from .terminal import stdout, table

PAGE_RANKS = (8, 13)
LEAST_WIDTH = 180  # of a terminal that has room for all columns
PAGE_HEAD = """\
# Algorithms

Made by `stretto list --markdown`. Rounds and volume are counted along the longest chain of rounds,
as in the papers' formulas, and proved to be those of the schedules; the volume is a share of the
vector. A round may hold many messages: `linear` has one round of p - 1. A dash: not for so many
ranks. p' is the largest power of two that is not above p, n the number of pieces, k the radix (in
`kring` the group) and B the block. In `node_aware`, `leaders` and `lanes` there are N nodes of n
ranks; for the latter two they are shown with nodes of ceil(sqrt(p)) ranks. Where the last one has
fewer, their rounds and volume are bounds.

In gatherv, scatterv, alltoallv and alltoallw only two ranks know how large a block is. There,
algorithms that pass on the blocks of others take twice the rounds, for the sizes go ahead; those
that need the counts begin with an allgather of the sizes in gatherv and scatterv.

Needs: a *commutative* operator (the others keep rank order), an even number of ranks or a power of
two (*2^k*) of them, or the *counts* of all ranks. Parameters are shown with their defaults
(p = 8 / 13; … if they go by the counts) and the least value; lists without:
`STRETTO_ALLGATHER=circulant,skips=4:2:1`.
"""


def _at(algorithm: Algorithm, ranks: int) -> dict:
    """Its numbers for so many ranks, or why there are none."""
    shape = sample_shape(algorithm, ranks)
    if why_not := unsuitable(algorithm, shape):
        return {"ranks": ranks, "unsuitable": why_not}
    numbers = ("rounds", "blocks", "sent", "combined")
    return {"ranks": ranks, **{name: getattr(algorithm, name)(shape) for name in numbers}}


def _row(algorithm: Algorithm, ranks: tuple[int, ...]) -> dict:
    own = algorithm.parameter
    return {
        "algorithm": algorithm.id,
        "collective": facts(algorithm.collective).name,
        "functions": [facts(function).name for function in functions_of(algorithm)],
        "summary": algorithm.summary,
        "source": algorithm.source,
        "volume": algorithm.volume,
        "parameter": {"name": own.name, "least": own.least} if own else None,
        "list": algorithm.list,
        "needs": {
            "commutative": algorithm.needs.commutative,
            "ranks": algorithm.needs.ranks.name,
            "irregular": algorithm.needs.irregular,
            "counts": algorithm.needs.counts,
        },
        "at": [_at(algorithm, p) for p in ranks],
    }


def _per_ranks(row: dict, number: str) -> str:
    """ "3 / 4": one for each number of ranks."""
    return " / ".join(str(one.get(number, "–")) for one in row["at"])


def _shares(row: dict) -> str:
    """What is sent, as a share of the vector."""
    return " / ".join(
        f"{one['sent'] / max(1, one['blocks']):.3g}" if "sent" in one else "–" for one in row["at"]
    )


def _parameters(algorithm: Algorithm, ranks: tuple[int, ...]) -> str:
    """ "radix=2 (from 2)", "block=… (from 1)", "skips=…"."""
    words = []
    if own := algorithm.parameter:
        shown = "…"
        if not algorithm.needs.counts:
            defaults = [own.default(sample_shape(algorithm, p)) for p in ranks]
            shown = " / ".join(str(value) for value in dict.fromkeys(defaults))
        words.append(f"{own.name}={shown} (from {own.least})")
    if algorithm.list:
        words.append(f"{algorithm.list}=…")
    return ", ".join(words)


def _section(collective: Collective) -> list[str]:
    """Its heading in docs/algorithms.md."""
    served = [facts(f).name for f in all_functions() if facts(f).collective == collective]
    return [
        "",
        f"## {facts(collective).name}",
        "",
        "For " + ", ".join(f"`MPI_{name.capitalize()}`" for name in served) + ".",
        "",
        "| algorithm | rounds, p = 8 / 13 | volume | parameters | needs | what it does | source |",
        "|---|---|---|---|---|---|---|",
    ]


def _page(algorithms: list[Algorithm]) -> str:
    lines = PAGE_HEAD.splitlines()
    collective = None
    for algorithm in algorithms:
        if algorithm.collective != collective:
            collective = algorithm.collective
            lines += _section(collective)
        row = _row(algorithm, PAGE_RANKS)
        needs = ", ".join(needs_in_words(algorithm))
        if algorithm.needs.irregular:
            needs = ", ".join(filter(None, [needs, "only " + ", ".join(row["functions"])]))
        cells = [
            f"`{algorithm.name}`",
            _per_ranks(row, "rounds"),
            algorithm.volume,
            _parameters(algorithm, PAGE_RANKS),
            needs,
            algorithm.summary,
            algorithm.source,
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") or "-" for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _print_table(algorithms: list[Algorithm], ranks: tuple[int, ...]) -> None:
    """With all columns where they can be read, else with the most important ones."""
    console = stdout()
    wide = console.width >= LEAST_WIDTH
    of = " / ".join(str(p) for p in ranks)
    headings = ("algorithm", f">rounds\n{of}", f">volume\n{of}", "parameters, needs")
    if wide:
        headings = (
            "algorithm", f">rounds (p = {of})", "volume", f">= (p = {of})", "parameters", "needs",
            "serves", "source",
        )  # fmt: skip
    grid = table(*headings)
    grid.columns[0].no_wrap = True
    for algorithm in algorithms:
        row = _row(algorithm, ranks)
        first = [row["algorithm"], _per_ranks(row, "rounds")]
        rest = [_parameters(algorithm, ranks), ", ".join(needs_in_words(algorithm))]
        if wide:
            first.append(row["volume"])
            rest += [", ".join(row["functions"]), row["source"]]
        else:
            rest = ["\n".join(filter(None, rest))]
        grid.add_row(*first, _shares(row), *rest)
    console.print(grid)
    if not wide:
        click.echo(
            f"formulas, functions and sources: on {LEAST_WIDTH} columns or more, by --json or "
            "--markdown",
            err=True,
        )


@click.command("list")
@click.argument(
    "collectives",
    nargs=-1,
    metavar="[COLLECTIVE|FUNCTION|ALGORITHM]…",
    shell_complete=completion.everything,
)
@click.option(
    "--ranks",
    type=options.ranks,
    default="8,13",
    show_default=True,
    help="Numbers of ranks for rounds and volume.",
)
@click.option("--markdown", is_flag=True, help="Print docs/algorithms.md.")
@options.json_option
def command(
    collectives: tuple[str, ...], ranks: tuple[int, ...], markdown: bool, as_json: bool
) -> None:
    """List the algorithms: rounds, volume, parameters, needs, what they serve, and source.

    The volume is what is sent along the longest chain of rounds, as a share of the vector."""
    found = algorithms_matching(list(collectives))
    if markdown:
        click.echo(_page(found), nl=False)
    elif as_json:
        options.write_json([_row(algorithm, ranks) for algorithm in found])
    else:
        _print_table(found, ranks)
