# SPDX-License-Identifier: BSD-3-Clause
"""What `stretto show --topology` prints and draws."""

import click

from ..algorithms import algorithm_and_params
from ..topology import read_topology
from ..topology.picture import as_json as document_of
from ..topology.picture import as_text
from ..topology.study import contention, lines_of
from .options import save_picture, write_json
from .show_ import shape_of

LONGEST_WORDS = 60  # of an algorithm in a title


def show(
    words: str | None, requested: str | None, hosts: str | None, ranks: int | None, root: int,
    counts: list[int], output: str | None, as_json: bool, graph: str,
) -> None:  # fmt: skip
    """The tree, or what the algorithm does on it."""
    found, title = None, requested or hosts or ""
    topology = read_topology(requested, ranks or len(counts) or None, hosts)
    if words is not None:
        algorithm, params = algorithm_and_params(words)
        shape = shape_of(algorithm, topology.ranks, root, counts, graph)
        found = contention(topology, algorithm, shape, params)
        named = words if len(words) < LONGEST_WORDS else f"{algorithm.id} in an order of its own"
        title = f"{named} on {title}, {shape.ranks} ranks"
    if output is not None:
        from ..plot.topology import draw

        save_picture(draw(topology, found.traffic if found else None, title), output)
    elif found and as_json:
        write_json({"algorithm": algorithm.id, "ranks": shape.ranks, **found.as_json()})
    elif as_json:
        write_json(document_of(topology))
    elif found:
        click.echo("\n".join([title, *lines_of(found)]))
    else:
        click.echo(f"{title}: {as_text(topology)}", nl=False)
