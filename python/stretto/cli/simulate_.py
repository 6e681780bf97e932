# SPDX-License-Identifier: BSD-3-Clause
"""`stretto simulate`."""

import click

from .. import Algorithm, Function, Load, Operation, Params, Shape, Simulator, facts
from ..errors import Error
from ..files import refuse_unwritable
from ..machine import machine_named, operation_named
from ..schedule_files import case_in, proved, read_algorithm
from ..simulation import Call, best_of_each, compare, curves, suitable
from ..timeline import write
from ..units import size_in_words
from . import completion, options
from .calls import check_function, function_of, placement_of, size_of, topology_of
from .ranking import print_ranking
from .terminal import progress, say

SIZES_OF_PLOT = 24
MANY_RANKS = 1 << 18  # from here on a simulation may take minutes


def _title(call: Call, machine: str, sized: bool = True) -> str:
    words = [facts(call.function).name, call.where]
    near = facts(facts(call.function).collective).neighbourhood
    if sized:
        size = f"{size_in_words(call.bytes)} bytes"
        words.append(size + " of the rank with the most neighbours" * near)
    if near:
        words.append(f"graph {call.graph or Shape(call.ranks).graph}")
    return ", ".join([*words, f"machine {machine}"])


def _as_json(call: Call, machine: str, rows: list[dict], refused: dict[str, Error]) -> dict:
    return {
        "function": facts(call.function).name,
        "ranks": call.ranks,
        "ranks_per_node": call.placement.ranks_per_node,
        "bytes": call.bytes,
        "root": call.root,
        "operation": [call.operation.name, call.operation.type],
        "machine": machine,
        "rows": rows,
        "refused": {identifier: str(why) for identifier, why in refused.items()},
    }


def _plot(call: Call, algorithms: list[Algorithm], machine, path: str, budget: float) -> None:
    from ..plot.simulation import draw

    most = max(call.bytes, 1 << 20).bit_length() - 1
    exponents = {3 + (most - 3) * i // (SIZES_OF_PLOT - 1) for i in range(SIZES_OF_PLOT)}
    sizes = [1 << e for e in sorted(exponents)]
    with progress("drawing", len(algorithms)) as advance:
        found, refused = curves(call, algorithms, machine, sizes, advance, budget)
    for why in refused:
        click.echo(f"not drawn: {why}", err=True)
    if not found:
        raise Error("nothing to draw", "take fewer ranks, or a longer --budget")
    options.save_picture(draw(found, sizes, _title(call, machine.name, sized=False)), path)


def _write_timeline(call: Call, algorithms: list[Algorithm], row: dict, machine, path: str) -> None:
    algorithm = next(one for one in algorithms if one.id == row["algorithm"])
    params = Params(value=row["value"], list=row["list"])
    load = Load(call.bytes, row["segment"], row["depth"], call.operation)
    simulator = Simulator(algorithm, call.shape(algorithm), params, call.placement, True)
    write(simulator.trace(load, machine), algorithm.id, path)
    words = ",".join(filter(None, [algorithm.id, row["parameters"]]))
    click.echo(f"wrote {path}: {words}; see it with `stretto show --timeline {path} -o FILE.svg` "
               "or in https://ui.perfetto.dev", err=True)  # fmt: skip


def _wanted(
    function: str | None, names: str | None, ranks: int, root: int, file: str | None
) -> tuple[Function, list[Algorithm]]:
    """What is simulated: with a file its algorithm, and others if a function is named as well."""
    if not function and not file:
        raise Error("which function?", "`stretto simulate allreduce --ranks 8`, or --file FILE")
    if not file:
        return function_of(function, names, ranks, root)
    read = read_algorithm(file)
    held = proved(read, case_in(read, file, ranks, root))
    name = function or facts(held.collective).name
    found, others = function_of(name, names, ranks, root)
    if held.collective != facts(found).collective:
        raise Error(f"{file}: no {name} but {held.id.partition('/')[0]}", "leave FUNCTION out")
    return found, [held, *(others if names or function else [])]


def _operation(words: str, function: Function) -> Operation:
    if words and not facts(facts(function).collective).reduces:
        raise Error(f"{facts(function).name} has no operator", "leave --operation out")
    return operation_named(words) if words else Operation()


@click.command("simulate")
@click.argument(
    "function", required=False, callback=check_function, shell_complete=completion.functions
)
@options.file_option
@click.option("--ranks", "-p", type=click.IntRange(min=1, max=1 << 24), required=True)
@options.size_option
@click.option("--machine", "requested", default="flat", show_default=True, metavar="FILE|NAME",
              help="A machine file, or one of flat, cluster, gigabit-ethernet.")  # fmt: skip
@click.option("--algorithms", "names", metavar="A,B", help="Only these.",
              shell_complete=completion.algorithms)  # fmt: skip
@click.option("--nodes", metavar="NxK", help="N nodes of K ranks each.")
@click.option("--ranks-per-node", type=click.IntRange(min=1),
              help="1 if not given: all messages take the network.")  # fmt: skip
@options.graph_option
@options.topology_option
@options.hosts_option
@options.root_option
@click.option("--operation", default="", metavar="NAME[.TYPE]",
              help="Of a reduction: sum.f64. The machine's gamma if not given.")  # fmt: skip
@click.option("--not-commutative", is_flag=True, help="The operator keeps rank order.")
@click.option("--all", "everything", is_flag=True, help="All parameters, not each one's best.")
@click.option("--budget", type=click.FloatRange(min=0), metavar="SECONDS", default=120,
              show_default=True,
              help="For all; what takes longer is left out. As long again for --plot.")  # fmt: skip
@options.picture_option("Draw time over bytes: .svg, .png, .pdf.")
@click.option("--timeline", metavar="FILE",
              help="Write what the fastest does as a trace for Perfetto.")  # fmt: skip
@options.json_option
def command(
    function: str | None,
    file: str | None,
    ranks: int,
    size: str,
    requested: str,
    names: str | None,
    nodes: str | None,
    ranks_per_node: int | None,
    graph: str,
    topology: str | None,
    hosts: str | None,
    root: int,
    operation: str,
    not_commutative: bool,
    everything: bool,
    budget: float,
    plot: str | None,
    timeline: str | None,
    as_json: bool,
) -> None:
    """Predict the time of FUNCTION by all its algorithms, on a machine that need not be there.

    Each is tried with its default, some other parameters and in segments; docs/simulation.md
    describes the model and machine files. With --topology or --hosts messages share links, and
    algorithms that take a list of where the ranks are get it (docs/topology.md). With --file alone
    only the algorithm in it is simulated.
    """
    found, wanted = _wanted(function, names, ranks, root, file)
    options.check_graph(graph, facts(found).collective)
    machine = machine_named(requested)
    tree = topology_of(topology, hosts, ranks, machine)
    if tree and (plot is not None or timeline is not None):
        raise Error("--topology does not go with --plot and --timeline", "leave one out")
    if timeline is not None:
        refuse_unwritable(timeline)
    placement = placement_of(ranks, nodes, ranks_per_node, tree)
    call = Call(found, ranks, size_of(size), root, not not_commutative, placement,
                _operation(operation, found), graph)  # fmt: skip
    algorithms = suitable(call, wanted)
    if not algorithms:
        hint = "`stretto list` says what they need"
        raise Error("none of these algorithms can serve the call", hint)
    if ranks >= MANY_RANKS:
        say(f"{ranks} ranks take up to {budget:g} s (--budget); --algorithms A,B take less")
    with progress("simulating", len(algorithms)) as advance:
        rows, refused = compare(call, algorithms, machine, advance, tree, budget)
    title = _title(call, machine.name) + (f", on {topology or hosts}" if tree else "")
    if as_json:
        options.write_json(_as_json(call, machine.name, rows, refused))
    else:
        click.echo(title)
        print_ranking(rows if everything else best_of_each(rows))
    for why in refused.values():
        click.echo(f"left out: {why}", err=True)
    if plot is not None:
        _plot(call, algorithms, machine, plot, budget)
    if timeline is not None:
        _write_timeline(call, algorithms, rows[0], machine, timeline)
