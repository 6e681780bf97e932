# SPDX-License-Identifier: BSD-3-Clause
"""What several commands read from their command line."""

import json
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from .. import Collective, all_functions, facts, function_named
from ..algorithms import near, plain
from ..errors import Error
from ..files import refuse_unwritable
from ..plot.files import format_of, need_matplotlib, save
from . import completion
from .terminal import say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..launch.mpi import Mpi

MOST_RANKS = 4096  # schedules of all ranks are built; more would take minutes
# Settings of commands whose arguments are another program's command line.
OF_PROGRAM = {"ignore_unknown_options": True, "allow_interspersed_args": False}


def ranks(words: str) -> tuple[int, ...]:
    """`8`, `1-70` or `2,4,8-16`: numbers of ranks, sorted, each once."""
    found: set[int] = set()
    hint = "write 8, 1-70 or 2,4,8-16"
    for part in words.split(","):
        match = re.fullmatch(r"\s*(\d{1,9})(?:-(\d{1,9}))?\s*", part)
        if not match:
            raise Error(f"--ranks: '{words}' is not a number of ranks", hint)
        low, high = int(match[1]), int(match[2] or match[1])
        if not 1 <= low <= high <= MOST_RANKS:
            raise Error(f"--ranks: '{part}' is not a range from 1 to {MOST_RANKS}", hint)
        found.update(range(low, high + 1))
    return tuple(sorted(found))


def counts(words: str) -> list[int]:
    """`0,5,3`: elements of each rank's part."""
    numbers = words.split(",")
    if not all(re.fullmatch(r"\s*\d{1,15}\s*", number) for number in numbers):
        raise Error(f"--counts: '{words}' is no list of numbers", "write 0,5,3 for three ranks")
    return list(map(int, numbers))


def picture(path: str) -> str:
    """A file's name whose ending says the format: refused before the work."""
    format_of(path)
    need_matplotlib()
    refuse_unwritable(path)
    return path


def picture_option(
    words: str = "Draw into FILE: .svg, .png or .pdf.", names: tuple[str, ...] = ("--plot",)
) -> Callable:
    """The file that a command draws into."""
    return click.option(*names, type=picture, metavar="FILE", help=words)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
shared_heap_option = click.option(
    "--shared-heap",
    is_flag=True,
    help="Give the program's large blocks of memory where all ranks of a node read them.",
)
mpi_option = click.option(
    "--mpi",
    "mpi_wish",
    default="auto",
    show_default=True,
    metavar="auto|mpich|intel|openmpi|abi|PATH",
    shell_complete=completion.mpis,
    help="Which MPI: its name, or the path of its mpiexec. abi: one with the MPI 5 standard ABI.",
)
file_option = click.option(
    "--file",
    metavar="FILE",
    help="The algorithm whose schedules stand in this file (docs/algorithms-in-python.md), or a "
    "plan (docs/plans.md).",
)
size_option = click.option(
    "--bytes",
    "size",
    default="1M",
    show_default=True,
    metavar="SIZE",
    help="Of the whole vector, all parts together; in an alltoall of what one rank sends: "
    "8, 64K, 2M.",
)
root_option = click.option("--root", type=click.IntRange(min=0), default=0, show_default=True)
graph_option = click.option(
    "--graph",
    metavar="KIND",
    default="",
    help="Of a neighbourhood collective: torus=4x4 or grid=4x4 (MPI_Cart_create), stencil=4x4 (all "
    "that are one step away; so if not given, in two dimensions), or random=3.",
)
topology_option = click.option(
    "--topology",
    metavar="FILE",
    help="A tree of switches: Stretto's TOML, Slurm's topology.conf, a SimGrid platform, or 4x8 "
    "for nodes on one switch.",
)
hosts_option = click.option(
    "--hosts",
    metavar="FILE",
    help="The machine of each rank, a line for each; without --topology these are nodes on one "
    "switch.",
)


def say_notes(*mpis: "Mpi") -> None:
    """What to know about these MPIs, on stderr."""
    for note in dict.fromkeys(note for mpi in mpis for note in mpi.notes()):
        say(note)


def save_picture(figure: "Figure", path: str) -> None:
    """Into a file that `picture` has let pass."""
    save(figure, path)
    click.echo(f"wrote {path}", err=True)


def write_json(value: object) -> None:
    """The value on stdout."""
    click.echo(json.dumps(value, indent=2))


def names_of(
    requested: str | None, known: list[str], option: str, none: str = "no function"
) -> list[str]:
    """Those of a list that are known, each once; all where none is given. Raises Error."""
    if requested in (None, "all"):
        return known
    names = [plain(name) for name in requested.split(",")]
    for name in names:
        if name not in known:
            raise Error(f"--{option}: {none} is called '{name}'", near(name, known))
    return list(dict.fromkeys(names))


def check_graph(graph: str, collective: Collective) -> None:
    """Raises Error if there is no use for it."""
    if graph and not facts(collective).neighbourhood:
        raise Error(f"{facts(collective).name} has no graph", "leave --graph out")


def functions_of(requested: str | None, more: Iterable[str] = ()) -> list[str]:
    """MPI's, and `more` if they are named."""
    known = [facts(function).name for function in all_functions()]
    if requested in (None, "all"):
        return known
    return names_of(requested, [*known, *more], "collectives")


def tunable(requested: str | None) -> list[str]:
    """MPI's functions but for those of neighbourhoods: which algorithm is best there depends on
    the program's graph."""
    names = functions_of(requested)
    near = [name for name in names if facts(facts(function_named(name)).collective).neighbourhood]
    if near and requested not in (None, "all"):
        raise Error(
            f"--collectives: {near[0]} is not tuned: the best algorithm depends on the graph",
            f"try some: STRETTO_{near[0].upper()}=two_step",
        )
    return [name for name in names if name not in near]


def ranks_of(requested: tuple[int, ...] | None) -> list[int]:
    """What is to be tuned."""
    from ..launch.cores import cores

    ranks = list(requested) if requested else sorted({2, max(2, cores())})
    if ranks[0] < 2:
        raise Error("--ranks: one rank has no collectives to tune", "write 2 or more")
    if ranks[-1] > cores():
        say(
            f"{ranks[-1]} ranks on {cores()} cores: these times are mostly the scheduler's; such a "
            "file is good for nothing but trying this command"
        )
    return ranks
