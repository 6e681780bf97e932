# SPDX-License-Identifier: BSD-3-Clause
"""`stretto compare`."""

import os
import tempfile
from pathlib import Path

import click

from .. import __version__
from ..compare.outcome import Outcome, Part, outcome_of
from ..compare.runs import NAMES, Comparison, EndedError, Wish
from ..compare.verdict import could_save, sentences, verdict
from ..errors import Error, FailureError
from ..files import refuse_unwritable, write_text
from ..launch.job import Job, job_of
from ..peers.state import machine_facts
from ..plot.files import need_matplotlib
from ..units import time_in_a_table
from .options import OF_PROGRAM, json_option, say_notes, write_json
from .terminal import progress, say, stdout, table

SHOWN = 20  # lines of the output of a run that failed


@click.command("compare", context_settings=OF_PROGRAM)
@click.option(
    "-n",
    "--ranks",
    type=click.IntRange(min=1),
    help="How many processes.  [default: 2; or what the launcher in PROGRAM says]",
)
@click.option(
    "--mpi",
    "mpis",
    default="auto",
    show_default=True,
    metavar="auto|mpich|intel|openmpi|abi|PATH",
    help="Which MPI: its name, or the path of its mpiexec; several: mpich,openmpi.",
)
@click.option("--launcher", metavar="COMMAND", help="Start with this: 'srun -n 4'.")
@click.option(
    "--repeat",
    type=click.IntRange(min=3),
    default=5,
    show_default=True,
    help="Runs without Stretto that count, and as many with it.",
)
@click.option(
    "--limit",
    type=click.FloatRange(min=0.1),
    metavar="SECONDS",
    help="For each run.  [default: 20 times what the first one took, and a minute at least]",
)
@click.option("--same-output", is_flag=True, help="Compare what the runs print, too.")
@click.option("--plain", is_flag=True,
              help="Measure the program alone, and nothing of its calls.")  # fmt: skip
@json_option
@click.option("-o", "--output", type=click.Path(path_type=Path),
              help="Write a page (HTML) as well.")  # fmt: skip
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def command(
    ranks: int | None,
    mpis: str,
    launcher: str | None,
    repeat: int,
    limit: float | None,
    same_output: bool,
    plain: bool,
    as_json: bool,
    output: Path | None,
    program: tuple[str, ...],
) -> None:
    """Run your program with Stretto and without, in turn, and say what is gained.

    For example: stretto compare -n 4 -- ./app arguments; PROGRAM may begin with a launcher
    (mpiexec -n 4 ./app, srun ./app) or be python script.py. A first run is not counted.
    """
    if os.environ.get("STRETTO_DISABLE", "0") != "0":
        raise Error("STRETTO_DISABLE is set: nothing can be compared", "unset STRETTO_DISABLE")
    if output:
        need_matplotlib()  # now, and not after all runs
        refuse_unwritable(output)
    wish = Wish(repeat, limit, plain, same_output)
    outcomes: list[Outcome] = []
    for job in _jobs(list(program), ranks, mpis, launcher):
        outcomes.append(_measure(job, wish))
        if not as_json:
            _print(outcomes[-1])
    if as_json:
        _print_json(outcomes)
    if output:
        from ..compare.page import page

        write_text(output, page(outcomes))
        click.echo(f"wrote {output}", err=True)
    for outcome in outcomes:
        if outcome.output and not outcome.output.same:
            raise FailureError(
                f"standard output differs with Stretto: {outcome.output.words}",
                "sums in another order differ in their last digits: docs/compare.md",
            )


def _jobs(program: list[str], ranks: int | None, mpis: str, launcher: str | None) -> list[Job]:
    """One for each MPI that the program can run under."""
    wishes = [wish.strip() for wish in mpis.split(",")]
    if len(wishes) == 1:
        return [job_of(program, ranks, mpis, launcher)]
    found, refused = [], None
    for wish in wishes:
        try:
            found.append(job_of(program, ranks, wish, launcher))
        except Error as error:
            refused = error
            say(f"{wish} is left out: {error}")
    if not found and refused:
        raise refused
    return found


def _measure(job: Job, wish: Wish) -> Outcome:
    if not job.own_launcher:
        say_notes(job.mpi)
    # Where rank 0 may write: with a launcher of the user's perhaps on another machine.
    shared = Path.cwd() if job.own_launcher and os.access(".", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix=".stretto-compare-", dir=shared) as folder:
        comparison = Comparison(job, wish, Path(folder))
        try:
            with progress(f"{job} under {job.mpi.title}", None) as advance:
                comparison.begin()
                if _worth_it(comparison):
                    comparison.go_on(advance)
        except EndedError as error:
            _show(error)
            raise
        return outcome_of(comparison)


def _worth_it(comparison: Comparison) -> bool:
    """Does it call anything that Stretto serves? Raises Error where there is no MPI."""
    job, first = comparison.job, comparison.first
    if comparison.wish.plain or first is None:
        return True
    if first.profile:
        if not comparison.is_expected and not job.own_launcher:
            raise Error(
                f"{job} runs on {first.profile.mpi}, though {job.mpi.title} started it",
                "leave --mpi out, or build the program with that MPI",
            )
        return bool(first.profile.rows)
    if job.without_mpi:
        raise Error(
            f"{job} uses no MPI: there is nothing to compare",
            "name the program that calls MPI, and not one that starts it",
        )
    raise Error(
        f"{job} called no MPI_Finalize with Stretto in it: it uses no MPI, holds it in itself "
        "(a static library), or ends without that call",
        "--plain compares the time of such programs nevertheless",
    )


def _row(part: Part, name: str) -> list[str]:
    ratio = [str(part.ratio), part.ratio.interval] if part.ratio else ["–", "–"]
    calls = f"{part.calls:,.0f}" if part.calls else ""
    algorithms = part.algorithms[:3] + (["…"] if len(part.algorithms) > 3 else [])
    times = [time_in_a_table(part.native), time_in_a_table(part.stretto)]
    return [name, *times, *ratio, calls, ", ".join(algorithms)]


def heading(outcome: Outcome) -> str:
    ranks = f"{outcome.ranks} ranks, " if outcome.ranks else ""
    turns = f": {outcome.repeat} runs without Stretto and {outcome.repeat} with it, in turn"
    return f"{outcome.job}, {ranks}{outcome.mpi}" + (turns if outcome.repeat else "")


def _print(outcome: Outcome) -> None:
    console = stdout()
    console.print(f"# {heading(outcome)}", markup=False, soft_wrap=True)
    if outcome.repeat:
        grid = table("", ">without", ">with", ">ratio", ">95 % interval", ">calls", "algorithms")
        grid.add_row(*_row(outcome.program, "whole program"))
        if outcome.collectives:
            collectives = _row(outcome.collectives, "in collectives, per rank")
            grid.add_row(*collectives[:-1], "")
        for part in outcome.functions:
            grid.add_row(*_row(part, f"  {part.name}"))
        console.print(grid)
        console.print()
    for line in sentences(outcome):
        console.print(line, markup=False, soft_wrap=True)


def _print_json(outcomes: list[Outcome]) -> None:
    rows = [
        {
            **outcome.as_row(),
            "verdict": verdict(outcome),
            "said": sentences(outcome),
            "tuning_could_save": could_save(outcome),
        }
        for outcome in outcomes
    ]
    write_json({"version": __version__, "machine": machine_facts(), "comparisons": rows})


def _show(error: EndedError) -> None:
    """The ends of both runs, for their user to see what differs."""
    for run in error.runs:
        click.echo(f"--- {NAMES[run.side]}: {run.end}", err=True)
        for name, path in (("standard output", run.out), ("standard error", run.err)):
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            if lines:
                last = f", its last {SHOWN} lines" if len(lines) > SHOWN else ""
                click.echo(f"{name}{last}:", err=True)
                click.echo("".join(f"  {line}\n" for line in lines[-SHOWN:]), err=True, nl=False)
