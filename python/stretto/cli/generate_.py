# SPDX-License-Identifier: BSD-3-Clause
"""`stretto generate`."""

import click

from ..files import write_text
from . import completion
from .options import hosts_option, topology_option


@click.command("generate")
@click.argument(
    "function",
    metavar="FUNCTION[/ALGORITHM[,NAME=VALUE…]]",
    shell_complete=completion.everything,
)
@topology_option
@hosts_option
@click.option("--ranks", "-p", type=click.IntRange(min=1, max=1 << 16), default=None,
              help="Those that the topology places if not given.")  # fmt: skip
@click.option("--root", type=click.IntRange(min=0), default=None, help="Only for this root.")
@click.option("-o", "--output", metavar="FILE.c", default=None, help="Printed if not given.")
def command(
    function: str,
    topology: str | None,
    hosts: str | None,
    ranks: int | None,
    root: int | None,
    output: str | None,
) -> None:
    """Write FUNCTION by ALGORITHM, for one number of ranks, as a C file that needs nothing but an
    MPI.

    The schedules of all ranks are proved and written out: `stretto generate allreduce/circulant
    --ranks 12`. For a tree of switches FUNCTION alone is enough: allreduce, reduce_scatter,
    allgather, allgatherv, bcast or reduce go around its ring. The file has a main that tests it:
    mpicc allreduce.c && mpiexec -n N ./a.out (docs/topology.md).
    """
    from ..generate import generate
    from ..topology import read_topology

    given = {"--topology": topology, "--hosts": hosts, "--ranks": ranks, "--root": root}
    options = " ".join(f"{name} {value}" for name, value in given.items() if value is not None)
    tree = None
    if topology is not None or hosts is not None:
        tree = read_topology(topology, ranks, hosts)
    text = generate(function, ranks, root, tree, options)
    if output is None:
        click.echo(text, nl=False)
        return
    write_text(output, text)
    click.echo(f"wrote {output}", err=True)
