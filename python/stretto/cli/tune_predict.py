# SPDX-License-Identifier: BSD-3-Clause
"""`stretto tune --predict`: rules by the model alone."""

from collections.abc import Callable
from pathlib import Path

import click

from ..files import refuse_unwritable, write_text
from ..machine import machine_named
from ..tune.own.predicted import levels_of, to_text
from ..tune.own.topology_aware import OnTopology, predicted_rules
from .calls import topology_of
from .options import tunable
from .terminal import progress


def predict(
    machine: str,
    collectives: str | None,
    path_of: Callable[[str], Path],
    topology: str | None,
    hosts: str | None,
) -> None:
    """`path_of` a machine's name is the file to write."""
    model, names = machine_named(machine), tunable(collectives)
    tree = topology_of(topology, hosts, None, model)
    path = path_of(model.fingerprint)
    refuse_unwritable(path)
    words = f"--predict {machine}"
    words += f" --topology {topology}" if topology else ""
    words += f" --hosts {hosts}" if hosts else ""
    head = f"# By `stretto tune {words}`: the fastest by the model."
    if model.fingerprint:
        head = f"machine {model.fingerprint}\n{head}"
    if tree:
        with progress("predicting on the topology", None) as advance:
            own = predicted_rules(OnTopology(model, tree), names, advance)
        head = "\n".join([head, "", f"# {tree.ranks} ranks as they are placed there.", *own])
    with progress("predicting", None) as advance:
        levels = levels_of(model, tree.ranks if tree else None)
        text = to_text(model, levels, names, head, advance)
    write_text(path, text)
    click.echo(f"wrote {path}")
