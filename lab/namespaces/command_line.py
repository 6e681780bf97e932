# SPDX-License-Identifier: BSD-3-Clause
"""A cluster of network namespaces on this machine: real TCP over links of a limited rate.

Hosts h0, h1, … stand on Ethernet switches, which form a tree. Needs root. NETCLUSTER names the
cluster that is meant, where there are several.
"""

import os
import sys
from pathlib import Path

import click

sys.path.append(str(Path(__file__).resolve().parents[1] / "simgrid"))

import cluster as clusters
import openmpi
import tree as trees
from stretto.cli.options import mpi_option
from stretto.errors import run_script

RAW = {"ignore_unknown_options": True, "allow_interspersed_args": False}

place_option = click.option(
    "--place", default="by-host", metavar="WHERE", show_default=True,
    help="The ranks' hosts: by-host, alternating (between switches), or a list: h0,h4,h1.",
)  # fmt: skip
per_host_option = click.option(
    "--per-host", default=1, show_default=True, help="So many consecutive ranks on each."
)
words_argument = click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED)


@click.group(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    pass


@main.command()
@click.argument("hosts")
@click.option("--mbit", type=float, default=100.0, show_default=True, help="Mbit/s of every link.")
@click.option("--parents", help="Of each switch, '-' for the first: -,0,0,1 (else a line).")
@click.option(
    "--slow", multiple=True, metavar="LINK=MBIT",
    help="The link of a host (h3) or of a switch to its parent (s1).",
)  # fmt: skip
def up(hosts: str, mbit: float, parents: str | None, slow: tuple[str, ...]) -> None:
    """Make the cluster: HOSTS are those on each switch, such as 4,4."""
    tree = trees.parsed(hosts, parents, mbit / 8, 0.0)
    rates = dict(map(clusters.slow_link, slow))
    made = clusters.up(clusters.cluster_name(), tree, rates)
    what = f"{len(made.hosts)} hosts on {len(tree.hosts)} switches, {mbit:g} Mbit/s a link"
    click.echo(f"{made.name}: {what}", err=True)


@main.command()
def down() -> None:
    """End what runs there and remove the cluster, also what is left of one."""
    clusters.down(clusters.cluster_name())


@main.command()
@place_option
@per_host_option
def topology(place: str, per_host: int) -> None:
    """Print the cluster's topology file (docs/topology.md), with the ranks' hosts."""
    now = clusters.current(clusters.cluster_name())
    click.echo(now.topology(now.placed(place, per_host)), nl=False)


@main.command("exec", context_settings=RAW)
@click.argument("host")
@words_argument
def execute(host: str, words: tuple[str, ...]) -> None:
    """Run a command on a host."""
    _become(clusters.current(clusters.cluster_name()).inside(host, list(words)))


@main.command(context_settings=RAW)
@click.argument("host")
@words_argument
def agent(host: str, words: tuple[str, ...]) -> None:
    """The same as an MPI's launcher asks for it: words for a shell, as by ssh."""
    now = clusters.current(clusters.cluster_name())
    _become(now.inside(host, ["sh", "-c", " ".join(words)]))


@main.command(context_settings=RAW)
@place_option
@per_host_option
@click.option("--plain", is_flag=True, help="Without Stretto in it.")
@mpi_option
@words_argument
def run(place: str, per_host: int, plain: bool, mpi_wish: str, words: tuple[str, ...]) -> None:
    """Run an MPI program by Open MPI on the cluster, with Stretto in it."""
    from stretto.launch import mpi_of_program, preload

    now = clusters.current(clusters.cluster_name())
    clusters.require()
    placement = now.placed(place, per_host)
    found, variables = mpi_of_program(words[0], mpi_wish)
    mpi = openmpi.on_cluster(found, now, placement)
    if not plain:
        variables["LD_PRELOAD"] = preload(mpi.flavour)
    _become(mpi.command(len(placement), list(words), variables), mpi.environment())


def _become(command: list[str], environment: dict[str, str] | None = None) -> None:
    clusters.require()
    sys.stdout.flush()
    os.execvpe(command[0], command, environment or dict(os.environ))


if __name__ == "__main__":
    run_script(main)
