# SPDX-License-Identifier: BSD-3-Clause
"""`stretto bench`."""

from contextlib import nullcontext
from typing import Any

import click

from .. import Shape, all_functions, facts, function_named
from ..errors import Error, FailureError
from ..launch import choose_mpi
from ..measure.driver import VARIANTS, Results, run_benchmark
from ..measure.points import BACK_TO_BACK, BLOCKING, FORMS, modes_of, parse_sizes
from ..schedule_files import (
    as_schedules,
    case_in,
    check_served,
    proved,
    read_algorithm,
    roots_in,
    variables_for,
)
from ..units import size_in_words, time_in_a_table
from . import bench_overlap, completion, options
from .terminal import progress, say_first, stderr, stdout, table

TABLE = "it has a table and --json"  # instead of a picture
NEIGHBOUR = "neighbor_"  # functions of neighbourhoods


def _refuse(given: dict[str, object], why: str, hint: str) -> None:
    for name, value in given.items():
        if value:
            raise Error(f"--{name} {why}", hint)


@click.command("bench")
@click.option(
    "-n",
    "--ranks",
    type=options.ranks,
    help="How many processes; several with --guidelines and --peers.  [default: 2; or 2,4,8]",
)
@options.mpi_option
@options.file_option
@click.option(
    "--collectives",
    shell_complete=completion.functions,
    help="Such as allreduce,gatherv,allreduce-maxloc.  [default: all]",
)
@click.option(
    "--sizes",
    help="Bytes of the vector or of each rank's part: 8-1M is 8, 16, 32, … 1M; 8,4K is these two."
    "  [default: 8-1M; with --guidelines 8,1K,8K,64K,1M; with --overlap 64K,1M,4M; with --peers "
    "8,1K,24K,64K,320K,1M,5M,16M]",
)
@click.option(
    "--time-per-size",
    type=click.FloatRange(min=0.001),
    metavar="SECONDS",
    help="For each function or guideline and size.  [default: 0.3; or 0.2]",
)
@click.option(
    "--guidelines",
    is_flag=True,
    help="Compare functions with others that do their work: where is one slower?",
)
@click.option(
    "--mode",
    type=click.Choice(["back-to-back", "synchronised", "both"]),
    help="Whether a barrier stands before each call; the time is then that of its slowest rank."
    "  [default: back-to-back; with --peers both]",
)
@click.option(
    "--buffers",
    type=click.Choice(["private", "shared"]),
    help="Where buffers of 64 KiB or more lie: shared is what --shared-heap of `stretto run` gives."
    "  [default: private]",
)
@click.option(
    "--form",
    type=click.Choice(["blocking", "nonblocking", "persistent", "all"]),
    help="MPI_X; MPI_IX and MPI_Wait; MPI_Start and MPI_Wait of a request by MPI_X_init."
    "  [default: blocking]",
)
@click.option(
    "--overlap",
    is_flag=True,
    help="How much of a nonblocking call goes on while the program computes?",
)
@click.option(
    "--graph",
    metavar="KIND",
    help="Of neighbourhood collectives, such as torus=4x4 or random=3.  [default: the eight nearest"
    " ranks on a ring]",
)
@options.picture_option()
@options.json_option
@click.option(
    "--peers",
    is_flag=False,
    flag_value="all",
    metavar="[NAMES]",
    help="Measure under MPICH, Open MPI and Intel MPI, brought by this command, and compare all.",
)
@click.option(
    "--cells", help="With --peers: functions, such as bcast,allgatherv-spike.  [default: all]"
)
@click.option("--rounds", type=click.IntRange(1, 100), help="With --peers.  [default: 3]")
@click.option(
    "--time-per-cell",
    type=click.FloatRange(min=0.001),
    metavar="SECONDS",
    help="With --peers: for each function, size, peer and round.  [default: 0.1]",
)
@click.option("--output", metavar="DIR", help="With --peers: TSV, JSON and heat maps go there.")
@click.option("--environments", metavar="DIR", help="With --peers: where the MPIs are or go.")
@click.option("--quick", is_flag=True, help="With --peers: a minute's look, on 2 ranks.")
def command(
    ranks: tuple[int, ...] | None,
    mpi_wish: str,
    file: str | None,
    collectives: str | None,
    sizes: str | None,
    time_per_size: float | None,
    guidelines: bool,
    mode: str | None,
    buffers: str | None,
    form: str | None,
    overlap: bool,
    graph: str | None,
    plot: str | None,
    as_json: bool,
    peers: str | None,
    **of_peers: object,
) -> None:
    """Compare Stretto with the native library, block by block in one process.

    Every result is checked; a wrong one makes the exit code 1, and so does a guideline that Stretto
    violates. The ratio is native over Stretto. With --file its algorithm serves all calls.
    """
    if file:
        others = {"peers": peers, "guidelines": guidelines}
        _refuse(others, "does not go with --file", "a file is raced against the native function")
    of_race = {"plot": plot, "mode": mode, "buffers": buffers, "form": form, "graph": graph}
    if peers:
        from .bench_peers import command as run_peers

        others = {**of_race, "mode": None, "collectives": collectives, "overlap": overlap,
                  "time-per-size": time_per_size, "mpi": mpi_wish != "auto",
                  "guidelines": guidelines}  # fmt: skip
        _refuse(others, "does not go with --peers", "it has --cells, --time-per-cell and --output")
        run_peers(peers, ranks, sizes, as_json, mode=mode, **of_peers)
        return
    words = {name.replace("_", "-"): value for name, value in of_peers.items()}
    _refuse(words, "goes only with --peers", "`stretto bench --help` shows what goes together")
    if guidelines:
        from .bench_guidelines import command as run_guidelines

        _refuse({**of_race, "overlap": overlap}, "does not go with --guidelines", TABLE)
        names = options.functions_of(collectives)
        run_guidelines(ranks or (2,), mpi_wish, names, sizes, time_per_size, as_json)
        return
    n = _one_number(ranks)
    if overlap:
        _refuse({**of_race, "file": file}, "does not go with --overlap", TABLE)
    modes = modes_of(mode or BACK_TO_BACK)
    _refuse_many(plot, modes, form)
    names = functions_in(file, n, collectives) if file else collectives or "all"
    how = {"modes": modes, "form": form or BLOCKING, "shared_buffers": buffers == "shared"}
    how |= {"graph": _checked_graph(graph, n, collectives), "budget": time_per_size or 0.3}
    how["overlap"], sizes = overlap, sizes or (bench_overlap.SIZES if overlap else "8-1M")
    # The library reads schedules; of a plan they are written into a file that goes afterwards.
    with as_schedules(file) if file else nullcontext() as schedules:
        _race(n, mpi_wish, names, sizes, how, plot, as_json, schedules)


def _one_number(ranks: tuple[int, ...] | None) -> int:
    if ranks is not None and len(ranks) != 1:
        raise Error("--ranks: a race is run by one number of ranks", "write -n 4")
    return 2 if ranks is None else ranks[0]


def _refuse_many(plot: str | None, modes: list[str], form: str | None) -> None:
    if plot and len(modes) > 1:
        raise Error("--plot: one picture shows one mode", "write --mode synchronised")
    if plot and form == "all":
        raise Error("--plot: one picture shows one form", "write --form nonblocking")


def _checked_graph(graph: str | None, ranks: int, collectives: str | None) -> str:
    """Empty: there is none. Raises Error if it has not so many ranks or no function needs it."""
    if not graph:
        return ""
    Shape(ranks, graph=graph)
    if not any(name.startswith(NEIGHBOUR) for name in options.functions_of(collectives, VARIANTS)):
        hint = "write --collectives neighbor_alltoallv"
        raise Error("--graph: none of these functions has one", hint)
    return graph


def functions_in(file: str, ranks: int, collectives: str | None) -> str:
    """Those that are raced by its algorithm: of its collective the first if none is named; raises
    Error if it is refused for so many ranks."""
    held = read_algorithm(file)
    roots = roots_in(held, case_in(held, file, ranks, None).ranks)
    if 0 not in roots:
        raise Error(f"{file}: a race is for root 0, but this is for root {roots[0]}",
                    "`stretto simulate` takes any root")  # fmt: skip
    for root in roots:
        proved(held, case_in(held, file, ranks, root))
    collective = held.algorithm.collective
    own = [facts(f).name for f in all_functions() if facts(f).collective == collective]
    if collectives is None:
        return own[0]
    for name in options.functions_of(collectives):
        if facts(function_named(name)).collective != collective:
            raise Error(f"{file}: it serves no {name}", f"it serves {', '.join(own)}")
    return collectives


def _race(
    ranks: int,
    mpi_wish: str,
    collectives: str,
    sizes: str,
    how: dict[str, Any],
    plot: str | None,
    as_json: bool,
    file: str | None,
) -> None:
    """`how` is what run_benchmark takes besides."""
    names = options.functions_of(collectives, () if how["overlap"] else VARIANTS)
    numbers, mpi = parse_sizes(sizes), choose_mpi(mpi_wish)
    variables = variables_for(file, names) if file else {}
    say_first(mpi.notes(), ranks)
    forms, graph = len(FORMS) if how["form"] == "all" else 1, how["graph"]
    points = len(names) * len(numbers) * len(how["modes"]) * forms
    with progress(f"racing under {mpi.title}", points) as advance:
        race = run_benchmark(
            mpi, ranks, names, numbers, advance=advance, variables=variables, **how
        )
    if file:
        check_served(file, race.cells)
    head = {"mpi": mpi.title, "flavour": mpi.flavour, "ranks": ranks, "machine": race.machine}
    if how["overlap"]:
        bench_overlap.show(race, head, as_json)
    elif as_json:
        head |= {"graph": graph} if graph else {}
        options.write_json({**head, "cells": race.cells, "geometric_mean": race.ratio})
    else:
        _print_tables(race, mpi.title, ranks, graph)
    if plot:
        from ..plot.race import draw

        options.save_picture(draw(race.cells, f"{mpi.title}, {ranks} ranks"), plot)
    _judge(race)


def _judge(race: Results) -> None:
    if race.wrong:
        first = race.wrong[0]
        raise FailureError(
            f"{first['cell']} of {first['bytes']} bytes: {first['algorithm']} and the native "
            "function give different results",
            f"with STRETTO_{first['function'].upper()}=native the native function is compared with "
            "itself: if it differs then too, it is the one that is wrong",
        )
    if not race.cells:
        raise Error("the race measured nothing", "`stretto doctor` shows what works")


def _manner(cell: dict) -> str:
    """Mode and form, but for the usual ones; and the native library's form if it is another."""
    words = [cell.get("mode", "back-to-back"), cell.get("form", "blocking")]
    said = [word for word in words if word not in ("back-to-back", "blocking")]
    if "native_form" in cell:
        said.append(f"against native {cell['native_form']} calls")
    return ", ".join(said)


def _ratio_text(cell: dict) -> str:
    if not cell["correct"]:
        return "[red]WRONG[/]"
    color = "green" if cell["ratio"] > 1.05 else "red" if cell["ratio"] < 0.95 else "default"
    return f"[{color}]{cell['ratio']:.2f}[/]"


def _print_tables(race: Results, title: str, ranks: int, graph: str = "") -> None:
    from rich.markup import escape

    console = stdout()
    for name, manner in dict.fromkeys((cell["cell"], _manner(cell)) for cell in race.cells):
        said = [f"{ranks} ranks", title, *filter(None, [manner])]
        if graph and name.startswith(NEIGHBOUR):
            said.append(graph)
        console.print(f"# {name}, {', '.join(said)}", markup=False)
        grid = table(">size", ">native", ">Stretto", ">ratio", "algorithm", least=10)
        for cell in race.cells:
            if (cell["cell"], _manner(cell)) == (name, manner):
                grid.add_row(
                    size_in_words(cell["bytes"]),
                    time_in_a_table(1e-6 * cell["native_us"]),
                    time_in_a_table(1e-6 * cell["stretto_us"]),
                    _ratio_text(cell),
                    escape(cell["algorithm"]),
                )
        console.print(grid)
        console.print()
    if race.cells:
        stderr().print(f"geometric mean of the ratios: {race.ratio:.2f}")
