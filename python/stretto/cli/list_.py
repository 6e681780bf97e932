# SPDX-License-Identifier: BSD-3-Clause
"""`stretto list`."""

from typing import TYPE_CHECKING

import click

from .options import json_option, write_json

if TYPE_CHECKING:
    from .. import Algorithm, Shape


def _row(algorithm: "Algorithm", shape: "Shape") -> dict:
    from .. import facts

    blocks = algorithm.blocks(shape)
    return {
        "algorithm": algorithm.id,
        "collective": facts(algorithm.collective).name,
        "summary": algorithm.summary,
        "source": algorithm.source,
        "commutative": algorithm.needs_commutative,
        "ranks": shape.ranks,
        "rounds": algorithm.rounds(shape),
        "blocks": blocks,
        "sent": algorithm.sent(shape),
        "combined": algorithm.combined(shape),
        "volume": algorithm.volume,
    }


def _page(algorithms: "list[Algorithm]") -> str:
    from .. import Shape, facts

    lines = [
        "# The portfolio",
        "",
        "Made by `stretto list --markdown`. Rounds and volume are counted along the longest chain",
        "of rounds, as in the papers' formulas; the volume is a share of the vector, p' is the",
        "largest power of two that is not above p. Every algorithm serves any number of ranks.",
    ]
    collective = None
    for algorithm in algorithms:
        if algorithm.collective != collective:
            collective = algorithm.collective
            lines += [
                "",
                f"## {facts(collective).name}",
                "",
                "| algorithm | rounds, p = 8 / 13 | volume | operator | what it does | source |",
                "|---|---|---|---|---|---|",
            ]
        rounds = " / ".join(str(algorithm.rounds(Shape(p))) for p in (8, 13))
        operator = "-"
        if facts(collective).reduces:
            operator = "must commute" if algorithm.needs_commutative else "any"
        lines.append(
            f"| `{algorithm.name}` | {rounds} | {algorithm.volume} | {operator} "
            f"| {algorithm.summary} | {algorithm.source} |"
        )
    return "\n".join(lines) + "\n"


@click.command("list")
@click.argument("collectives", nargs=-1, metavar="[COLLECTIVE|ALGORITHM]…")
@click.option(
    "--ranks",
    type=click.IntRange(min=1, max=1 << 30),
    default=8,
    show_default=True,
    help="Number of ranks for rounds and volume.",
)
@click.option("--markdown", is_flag=True, help="Print docs/algorithms.md.")
@json_option
def command(collectives: tuple[str, ...], ranks: int, markdown: bool, as_json: bool) -> None:
    """List the algorithms: rounds, volume, needs and source.

    The volume is what is sent along the longest chain of rounds, as a share of the vector."""
    from .. import Shape
    from ..algorithms import algorithms_matching

    if markdown:
        click.echo(_page(algorithms_matching(list(collectives))), nl=False)
        return
    rows = [_row(a, Shape(ranks)) for a in algorithms_matching(list(collectives))]
    if as_json:
        write_json(rows)
        return
    from rich.table import Table

    from .terminal import stdout

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("algorithm", no_wrap=True)
    for title in (f"rounds (p={ranks})", "volume", "= of the vector"):
        table.add_column(title, justify="right")
    table.add_column("needs")
    table.add_column("source")
    for row in rows:
        share = row["sent"] / row["blocks"] if row["blocks"] else 0
        needs = "commutative" if row["commutative"] else ""
        table.add_row(
            row["algorithm"],
            str(row["rounds"]),
            row["volume"],
            f"{share:.3g}",
            needs,
            row["source"],
        )
    stdout().print(table)
