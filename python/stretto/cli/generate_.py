# SPDX-License-Identifier: BSD-3-Clause
"""`stretto generate`."""

import click

from ..errors import Error
from ..files import write_text
from ..topology import read_topology
from . import completion
from .options import hosts_option, topology_option


@click.command("generate")
@click.argument(
    "function",
    metavar="FUNCTION[/ALGORITHM[,NAME=VALUE…]]",
    required=False,
    shell_complete=completion.everything,
)
@topology_option
@hosts_option
@click.option("--ranks", "-p", type=click.IntRange(min=1, max=1 << 16),
              help="Those that the topology places if not given.")  # fmt: skip
@click.option("--root", type=click.IntRange(min=0), help="Only for this root.")
@click.option(
    "--form",
    type=click.Choice(["c", "msccl", "mscclpp"]),
    default="c",
    show_default=True,
    help="C; or a plan for GPUs, MSCCL's XML or MSCCL++'s JSON.",
)
@click.option(
    "--file",
    metavar="FILE",
    help="With a plan's --form: the schedules in this file, or another plan.",
)
@click.option("-o", "--output", metavar="FILE", help="Printed if not given.")
def command(
    function: str | None,
    topology: str | None,
    hosts: str | None,
    ranks: int | None,
    root: int | None,
    form: str,
    file: str | None,
    output: str | None,
) -> None:
    """Write FUNCTION by ALGORITHM, for one number of ranks, as a C file that needs nothing but an
    MPI, or as a plan for GPUs.

    The schedules of all ranks are proved and written out: `stretto generate allreduce/circulant
    --ranks 12`. For a tree of switches FUNCTION alone is enough: allreduce, reduce_scatter,
    allgather, allgatherv, bcast or reduce go around its ring. The file has a main that tests it:
    mpicc allreduce.c && mpiexec -n N ./a.out (docs/topology.md). Plans: docs/plans.md.
    """
    from ..generate import generate, generate_plan, plan_of_file

    given = {"--topology": topology, "--hosts": hosts, "--ranks": ranks, "--root": root}
    options = " ".join(f"{name} {value}" for name, value in given.items() if value is not None)
    placed = topology is not None or hosts is not None
    tree = read_topology(topology, ranks, hosts) if placed else None
    if file:
        if form == "c":
            raise Error("--file is written as a plan only", "add --form msccl or --form mscclpp")
        if function or tree:
            raise Error("--file and another thing to write", "with it go --ranks and --root")
        text = plan_of_file(form, file, ranks, root)
    elif not function:
        raise Error("which function?", "`stretto generate allreduce/ring --ranks 8`")
    elif form == "c":
        text = generate(function, ranks, root, tree, options)
    else:
        text = generate_plan(form, function, ranks, root, tree)
    if output is None:
        click.echo(text, nl=False)
        return
    write_text(output, text)
    click.echo(f"wrote {output}", err=True)
