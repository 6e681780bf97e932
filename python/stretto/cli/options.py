# SPDX-License-Identifier: BSD-3-Clause
"""What several commands read from their command line."""

import re

import click

from ..errors import Error

MOST_RANKS = 4096  # schedules of all ranks are built; more would take minutes


class RanksType(click.ParamType):
    """`8`, `1-70` or `2,4,8-16`: numbers of ranks, sorted, each once."""

    name = "ranks"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        found: set[int] = set()
        for part in str(value).split(","):
            match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
            if not match:
                raise Error(
                    f"--ranks: '{value}' is not a number of ranks", "write 8, 1-70 or 2,4,8-16"
                )
            low, high = int(match[1]), int(match[2] or match[1])
            if low < 1 or high < low or high > MOST_RANKS:
                raise Error(
                    f"--ranks: '{part}' is not a range from 1 to {MOST_RANKS}",
                    "write 8, 1-70 or 2,4,8-16",
                )
            found.update(range(low, high + 1))
        return tuple(sorted(found))


class CountsType(click.ParamType):
    """`0,5,3`: elements of each rank's part."""

    name = "counts"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[int]:
        words = str(value).split(",")
        if not all(re.fullmatch(r"\s*\d{1,15}\s*", word) for word in words):
            raise Error(f"--counts: '{value}' is no list of numbers", "write 0,5,3 for three ranks")
        return [int(word) for word in words]


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
mpi_option = click.option(
    "--mpi",
    "mpi_wish",
    default="auto",
    show_default=True,
    metavar="auto|mpich|intel|openmpi|PATH",
    help="Which MPI: its name, or the path of its mpiexec.",
)
ranks_option = click.option(
    "-n",
    "--ranks",
    "ranks",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="How many processes.",
)

topology_option = click.option(
    "--topology",
    metavar="FILE",
    default=None,
    help="A tree of switches: Stretto's TOML, Slurm's topology.conf, a SimGrid platform, or 4x8 "
    "for nodes on one switch.",
)
hosts_option = click.option(
    "--hosts",
    metavar="FILE",
    default=None,
    help="The machine of each rank, a line for each; without --topology these are nodes on one "
    "switch.",
)


def write_json(value: object) -> None:
    """The value on stdout."""
    import json

    click.echo(json.dumps(value, indent=2))
