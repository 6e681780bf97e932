# SPDX-License-Identifier: BSD-3-Clause
"""`stretto explain`."""

import click

from .. import _core, explain
from ..errors import Error
from ..machine import machine_here, machine_named
from ..simulation import Call, suitable
from ..topology.study import against_bound
from ..units import size_in_words, time_in_words
from . import completion, options
from .calls import check_function, function_of, placement_of, shortened, size_of, topology_of
from .ranking import print_ranking
from .terminal import progress, stdout, table

MARK = "→"


def _decider(who: explain.Deciders, choice: _core.Choice) -> dict:
    """The source that decided, in parts."""
    found = {"reason": choice.reason, "file": None, "line": None, "rule": None}
    if choice.line:
        file, _, line = who.rules.place(choice.line).rpartition(":")
        if file == _core.shipped_rules().file:
            file = "rules/default.rules"
        found |= {"file": file, "line": int(line), "rule": who.rule_at(choice.line)}
    return found


def _why(decider: dict) -> str:
    """In one line."""
    if decider["rule"]:
        return "the first rule that fits and can serve the call: " + decider["rule"]
    if decider["reason"].startswith("no rule"):
        return "where no rule fits, the native library serves"
    return "a variable stands above all rules"


def _document(
    who: explain.Deciders, question: explain.Question, choice: _core.Choice, machine: _core.Machine,
    topology: _core.Topology | None,
) -> dict:  # fmt: skip
    """What `--json` prints."""
    call = question.call
    rows, why_not = explain.ranking(call, choice, machine, topology)
    chosen = next((row for row in rows if row["chosen"]), None)
    decider = _decider(who, choice)
    return {
        "function": _core.facts(call.function).name,
        "ranks": call.ranks,
        "ranks_per_node": call.placement.ranks_per_node,
        "one_node": question.asked().one_node,
        "oversubscribed": question.oversubscribed,
        "bytes": call.bytes,
        "bytes_known": _core.facts(call.function).bytes_known,
        "root": call.root,
        "commutative": call.commutative,
        "predefined": question.predefined,
        "disabled": who.disabled,
        "choice": explain.name_of(choice),
        "written": _core.written(choice.algorithm, choice.params),
        "decided_by": decider,
        "why": _why(decider),
        "complaints": [{"message": m, "hint": h} for m, h in who.complaints],
        "machine": machine.name,
        "behind": chosen["behind"] if chosen else None,
        "rows": rows,
        "unsuitable": why_not,
        "changes": explain.changes(who, question),
        "most_ranks": question.most_ranks,
    }


def _study(
    question: explain.Question, choice: _core.Choice, topology: _core.Topology, name: str
) -> dict:
    """What `--topology` adds: the lower bound, and how far from it algorithms are."""
    call = question.call
    tried = {a.id: (a, call.shape(a), _core.Params()) for a in suitable(call)}
    chosen = choice.algorithm
    if chosen:
        params = _core.Params(value=choice.params.value, list=choice.params.list)
        tried[chosen.id] = (chosen, call.shape(chosen), params)
    bound, rows, refused = against_bound(topology, call, tried.values())
    for row in rows:
        row["chosen"] = bool(chosen) and row["algorithm"] == chosen.id and not row["order"]
    return {
        "name": name,
        "bound": {"seconds": bound.seconds, "reason": bound.reason},
        "rows": rows,
        "left_out": refused,
    }


def _head(document: dict, where: str, operator: str) -> list[str]:
    where += " sharing cores" if document["oversubscribed"] else ""
    lines = [f"{document['function']}, {where}, {size_in_words(document['bytes'])} bytes"]
    if operator:
        lines[0] += f", operator {operator}"
    if document["disabled"]:
        lines.append("STRETTO_DISABLE=1: the native library serves all calls; without it:")
    decider = document["decided_by"]
    lines.append(f"chosen      {document['written']}")
    lines.append(f"decided by  {decider['reason']}")
    lines.append(f"why         {document['why']}")
    return lines


def _distance(document: dict) -> str:
    """How far the choice is from the best, in words."""
    rows, machine = document["rows"], document["machine"]
    chosen = next((row for row in rows if row["chosen"]), None)
    if chosen is None:
        return f"{document['choice']} has no predicted time on machine {machine}"
    if chosen["behind"] == 0:
        return f"the best of {len(rows)} on machine {machine}"
    name, words = rows[0]["algorithm"].partition("/")[2], shortened(rows[0]["parameters"])
    best = " ".join([name, *filter(None, words.split(","))])
    times = f"{time_in_words(chosen['seconds'])}, {best} {time_in_words(rows[0]['seconds'])}"
    return f"+{chosen['behind']:.1%} on machine {machine}: {times}"


def _changes(document: dict) -> list[str]:
    lines = []
    for what, never in (("bytes", "never"), ("ranks", f"not up to {document['most_ranks']} ranks")):
        found = document["changes"][what]
        for way, words in (("down", "never"), ("up", never)):
            if change := found[way]:
                at = size_in_words(change["at"])
                words = f"at {at}: {change['choice']} ({change['reason'].partition(';')[0]})"
            lines.append(f"{what} {way:4}  {words}")
    if not document["bytes_known"]:
        lines.append("bytes       a size hint, on which ranks agree now and then")
    return lines


def _print_study(document: dict) -> None:
    bound = document["bound"]
    click.echo(f"\non {document['name']}, where messages share links")
    click.echo(f"at least    {time_in_words(bound['seconds'])}: {bound['reason']}\n")
    numbers = (">time", ">segments", ">times the bound", ">messages on a link")
    grid = table(" ", "algorithm", *numbers)
    for column in grid.columns[:2]:
        column.no_wrap = True
    for row in document["rows"]:
        name = row["algorithm"].partition("/")[2]
        times = row["times_bound"]
        grid.add_row(
            MARK if row["chosen"] else "",
            f"{name}, {row['order']}" if row["order"] else name,
            time_in_words(row["seconds"]),
            str(row["segments"]),
            f"{times:.3g}" if times else "-",
            str(row["most"]),
            style="bold" if row["chosen"] else None,
        )
    stdout().print(grid)
    for why in document["left_out"].values():
        click.echo(f"left out: {why}", err=True)


def _print(document: dict, where: str, operator: str) -> None:
    lines = _head(document, where, operator)
    lines += [f"distance    {_distance(document)}", "\nanother algorithm is chosen"]
    lines += [f"  {line}" for line in _changes(document)]
    click.echo("\n".join(lines) + "\n")
    print_ranking(document["rows"], MARK)
    if "topology" in document:
        _print_study(document["topology"])
    if document["unsuitable"]:
        click.echo("\ncannot serve this call")
    for identifier, why in document["unsuitable"].items():
        click.echo(f"  {identifier.partition('/')[2]}: {why}")


def _plot(
    who: explain.Deciders, question: explain.Question, machine: _core.Machine, path: str
) -> None:
    from ..plot.explain import draw

    with progress("predicting", 1) as advance:
        lines = explain.lines_of(who, question, machine)
        winners = explain.map_of(who, question, machine, advance)
    options.save_picture(draw(question, lines, winners, machine.name), path)


def _question(
    function: str, ranks: int, size: str, nodes: str | None, one_node: bool, operator: str | None,
    root: int, topology: _core.Topology | None, cores: int, graph: str,
) -> explain.Question:  # fmt: skip
    if one_node and nodes is not None:
        raise Error("both --one-node and --nodes", "leave one out")
    found, _ = function_of(function, None, ranks, root)
    if operator and not _core.facts(_core.facts(found).collective).reduces:
        raise Error(f"{_core.facts(found).name} has no operator", "leave --operator out")
    options.check_graph(graph, _core.facts(found).collective)
    commutative, predefined = explain.OPERATORS[operator or "sum"]
    operation = _core.Operation("sum" if predefined else "")
    placement = placement_of(ranks, nodes, ranks if one_node else None, topology)
    call = Call(found, ranks, size_of(size), root, commutative, placement, operation,
                graph)  # fmt: skip
    return explain.Question(call, predefined, cores)


@click.command("explain")
@click.argument("function", callback=check_function, shell_complete=completion.functions)
@click.option("--ranks", "-p", type=click.IntRange(min=1, max=1 << 16), required=True)
@options.size_option
@click.option("--nodes", metavar="NxK",
              help="N nodes of K ranks each; one rank on each node if not given.")  # fmt: skip
@click.option("--one-node", is_flag=True, help="All ranks share memory.")
@click.option("--cores", type=click.IntRange(min=1),
              help="Of a node; if not given, the machine file's or this machine's.")  # fmt: skip
@click.option("--operator", type=click.Choice(["sum", "user", "noncommutative"]),
              help="Of a reduction; sum if not given.")  # fmt: skip
@options.graph_option
@options.root_option
@click.option("--machine", "requested", metavar="FILE|NAME",
              help="For the times: a machine file, or flat, cluster or gigabit-ethernet. "
              "Not given: what `stretto tune` fitted here last, else flat.")  # fmt: skip
@options.topology_option
@options.hosts_option
@options.mpi_option
@options.picture_option("Draw time over bytes, and the map of winners: .svg, .png, .pdf.")
@options.json_option
def command(
    function: str, ranks: int, size: str, nodes: str | None, one_node: bool, cores: int | None,
    operator: str | None, graph: str, root: int, requested: str | None, topology: str | None,
    hosts: str | None, mpi_wish: str, plot: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Say which algorithm Stretto chooses for a call of FUNCTION here, and why.

    By the variables of this shell and the rules of this machine; with the predicted times of all
    algorithms, and the sizes and numbers of ranks at which the choice changes (docs/explain.md).
    With --topology or --hosts the times count links that messages share, algorithms that take a
    list of where the ranks are get it, and it says what the collective takes at least on that
    network (docs/topology.md). --mpi is asked for its version where a rules file is for one
    MPI only.
    """
    from ..launch.cores import cores as usable
    from ..launch.mpi import choose_mpi

    machine = machine_named(requested or machine_here())
    tree = topology_of(topology, hosts, ranks, machine)
    if tree and plot is not None:
        given = "--topology" if topology else "--hosts"
        raise Error(f"{given} does not go with --plot", "leave one out")
    cores = cores or machine.cores or (0 if requested or tree else usable())
    question = _question(function, ranks, size, nodes, one_node, operator, root, tree, cores, graph)
    found = question.call.function
    who = explain.deciders(found, lambda: choose_mpi(mpi_wish).title)
    choice = explain.decide(who, question)
    document = _document(who, question, choice, machine, tree)
    if tree:
        document["topology"] = _study(question, choice, tree, topology or hosts or "")
    if as_json:
        options.write_json(document)
    else:
        for complaint in document["complaints"]:
            click.echo(f"{complaint['message']}\n  hint: {complaint['hint']}", err=True)
        reduces = _core.facts(_core.facts(found).collective).reduces
        _print(document, question.call.where, (operator or "sum") if reduces else "")
    if plot is not None:
        _plot(who, question, machine, plot)
