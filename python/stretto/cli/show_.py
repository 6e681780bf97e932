# SPDX-License-Identifier: BSD-3-Clause
"""`stretto show`."""

import shutil
import sys

import click

from .. import Algorithm, Params, Shape, build_schedule, facts, schedules_to_text
from ..algorithms import algorithm_and_params
from ..errors import Error
from ..picture import ARROWS, PLAIN_ARROWS, as_text
from ..schedule_files import case_in, proved, read_algorithm
from ..symbolic_run import refuse_what_takes_long, symbolic_run
from ..timeline import read
from . import completion, options

BOXES, MATRIX = "boxes", "matrix"
MOST_BOXES = 16  # ranks; more boxes side by side are too small to read
LONGEST_WORDS = 60  # of an algorithm in the title of a topology


def _arrows() -> tuple[str, str]:
    try:
        "".join(ARROWS).encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return PLAIN_ARROWS
    return ARROWS


def _refuse_unless_one(what: str, number: int, ranks: int) -> None:
    """What the core says of roots and ranks, which takes no number of more than 32 bits."""
    if not 0 <= number < ranks:
        raise Error(
            f"{what} {number} is not one of the {ranks} ranks", f"ranks count from 0 to {ranks - 1}"
        )


def _shape(
    algorithm: Algorithm, ranks: int | None, root: int, counts: list[int], graph: str = ""
) -> Shape:
    """Of the options; raises Error if the algorithm has no use for one of them."""
    if root and not facts(algorithm.collective).rooted:
        raise Error(f"{algorithm.id} has no root", "leave --root out")
    if counts and not algorithm.needs.counts:
        raise Error(
            f"{algorithm.id} does not go by the sizes of the ranks' parts", "leave --counts out"
        )
    options.check_graph(graph, algorithm.collective)
    ranks = ranks or len(counts) or 8
    _refuse_unless_one("root", root, ranks)
    return Shape(ranks, root, counts, graph=graph)


def _draw_timeline(trace: str, output: str | None, of_a_schedule: bool) -> None:
    if of_a_schedule:
        raise Error("--timeline with options of a schedule", "with it goes -o FILE alone")
    if output is None:
        raise Error("--timeline needs -o FILE", "draw into a file that ends in .svg, .png or .pdf")
    from ..plot.timeline import draw

    events = read(trace)
    names = sorted({str(e.args["algorithm"]) for e in events if "algorithm" in e.args})
    options.save_picture(draw(events, ", ".join(names)), output)


def _show_topology(
    words: str | None, requested: str | None, hosts: str | None, ranks: int | None, root: int,
    counts: list[int], output: str | None, as_json: bool, graph: str,
) -> None:  # fmt: skip
    """The tree, or what the algorithm does on it."""
    from ..topology import picture, read_topology
    from ..topology.study import contention, lines_of

    found, title = None, requested or hosts or ""
    topology = read_topology(requested, ranks or len(counts) or None, hosts)
    if words is not None:
        algorithm, params = algorithm_and_params(words)
        shape = _shape(algorithm, topology.ranks, root, counts, graph)
        found = contention(topology, algorithm, shape, params)
        named = words if len(words) < LONGEST_WORDS else f"{algorithm.id} in an order of its own"
        title = f"{named} on {title}, {shape.ranks} ranks"
    if output is not None:
        from ..plot.topology import draw

        options.save_picture(draw(topology, found.traffic if found else None, title), output)
    elif found and as_json:
        options.write_json({"algorithm": algorithm.id, "ranks": shape.ranks, **found.as_json()})
    elif as_json:
        options.write_json(picture.as_json(topology))
    elif found:
        click.echo("\n".join([title, *lines_of(found)]))
    else:
        click.echo(f"{title}: {picture.as_text(topology)}", nl=False)


def _show_schedule(
    algorithm: Algorithm,
    shape: Shape,
    params: Params,
    output: str | None,
    form: str | None,
    text: bool,
    rank: int | None,
) -> None:
    if text:
        _print_text(algorithm, shape, params, rank)
        return
    refuse_what_takes_long(algorithm, shape, params)
    if output is None:
        width = shutil.get_terminal_size((120, 24)).columns
        click.echo(as_text(symbolic_run(algorithm, shape, params), width, _arrows()), nl=False)
        return
    run = symbolic_run(algorithm, shape, params)
    if (form or (BOXES if shape.ranks <= MOST_BOXES else MATRIX)) == BOXES:
        from ..plot.schedule import draw
    else:
        from ..plot.rounds import draw
    options.save_picture(draw(run), output)


def _print_text(algorithm: Algorithm, shape: Shape, params: Params, rank: int | None) -> None:
    """Of all ranks, as a file that can be read back, or of one."""
    if rank is not None:
        _refuse_unless_one("rank", rank, shape.ranks)
        click.echo(str(build_schedule(algorithm, shape, rank, params)), nl=False)
        return
    schedules = [build_schedule(algorithm, shape, one, params) for one in range(shape.ranks)]
    click.echo(schedules_to_text(schedules, algorithm.needs.commutative), nl=False)


@click.command("show")
@click.argument(
    "algorithm",
    metavar="[ALGORITHM[,NAME=VALUE…]]",
    required=False,
    shell_complete=completion.algorithms,
)
@click.option("--ranks", "-p", type=click.IntRange(min=1, max=4096), help="8 if not given.")
@click.option("--root", type=int, help="0 if not given.")
@click.option(
    "--counts",
    type=options.counts,
    help="Elements of each rank's part, for algorithms that go by them: 0,5,3.",
)
@click.option("--rank", type=int, help="With --text: of this rank only.")
@click.option("--text", is_flag=True, help="Print the text form of the schedules.")
@options.picture_option(names=("-o", "--output", "--svg", "--png", "--plot"))
@click.option(
    "--form",
    type=click.Choice([BOXES, MATRIX]),
    help="Of the drawing: what each rank holds, or a matrix for each step, who sends to whom."
    f"  [default: {BOXES} up to {MOST_BOXES} ranks]",
)
@click.option(
    "--timeline",
    metavar="TRACE.json",
    help="Draw a trace, of `stretto simulate` or of a real run, instead of a schedule.",
)
@options.file_option
@options.graph_option
@options.topology_option
@options.hosts_option
@options.json_option
def command(
    algorithm: str | None,
    ranks: int | None,
    root: int | None,
    counts: list[int] | None,
    rank: int | None,
    text: bool,
    output: str | None,
    form: str | None,
    timeline: str | None,
    file: str | None,
    graph: str,
    topology: str | None,
    hosts: str | None,
    as_json: bool,
) -> None:
    """Print or draw the schedule of ALGORITHM: allreduce/ring, or allgather/circulant,skips=3:1.

    Ranks across, steps down: which blocks are sent where, and what each rank holds afterwards.
    `stretto list` names the parameters of each algorithm. With --topology or --hosts: the network,
    or which messages of ALGORITHM share its links (docs/topology.md).
    """
    if form and (output is None or topology is not None or hosts is not None or timeline):
        raise Error("--form is of a schedule drawn into a file", "give -o FILE as well")
    if text and output is not None:
        raise Error("--text with -o: a schedule's text is printed", "write > FILE in place of -o")
    if rank is not None and not text:
        raise Error("--rank needs --text", "a picture always shows all ranks")
    if file is not None:
        if any((algorithm, counts, timeline, graph, topology, hosts, as_json)):
            words = "with it go --ranks, --root, --text, --form, -o"
            raise Error("--file with another thing to show", words)
        held = read_algorithm(file)
        shape = case_in(held, file, ranks, root)
        _show_schedule(proved(held, shape), shape, Params(), output, form, text, rank)
        return
    root = root or 0
    if topology is not None or hosts is not None:
        if text or rank is not None or timeline is not None:
            raise Error("--topology with --text, --rank or --timeline", "leave one out")
        if graph and algorithm is None:
            raise Error("--graph needs an ALGORITHM", "leave it out")
        _show_topology(
            algorithm, topology, hosts, ranks, root, counts or [], output, as_json, graph
        )
        return
    if as_json:
        raise Error("--json needs --topology", "a schedule's form for programs is --text")
    if (algorithm is None) == (timeline is None):
        raise Error(
            "show either an ALGORITHM or a --timeline",
            "`stretto show allreduce/ring`, or `stretto show --timeline TRACE.json -o FILE.svg`",
        )
    if timeline is not None:
        _draw_timeline(timeline, output, any((text, ranks, root, counts, graph)))
        return
    found, params = algorithm_and_params(algorithm)
    shape = _shape(found, ranks, root, counts or [], graph)
    _show_schedule(found, shape, params, output, form, text, rank)
