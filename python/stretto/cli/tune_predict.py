# SPDX-License-Identifier: BSD-3-Clause
"""`stretto tune --predict`: rules by the model alone."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..files import refuse_unwritable, write_text
from .calls import topology_of
from .options import tunable

if TYPE_CHECKING:
    from .. import Machine, Topology


def _head(machine: str, topology: str | None, hosts: str | None) -> str:
    words = [f"--predict {machine}"]
    words += [f"--topology {topology}"] if topology else []
    words += [f"--hosts {hosts}"] if hosts else []
    return f"# By `stretto tune {' '.join(words)}`: the fastest by the model."


def _for_topology(model: "Machine", topology: "Topology", names: list[str]) -> list[str]:
    from ..tune.own.topology_aware import OnTopology, predicted_rules
    from .terminal import progress

    with progress("predicting on the topology", None) as advance:
        return predicted_rules(OnTopology(model, topology), names, advance)


def predict(
    machine: str,
    collectives: str | None,
    path_of: Callable[[str], Path],
    topology: str | None,
    hosts: str | None,
) -> None:
    """`path_of` a machine's name is the file to write."""
    from ..machine import machine_named
    from ..tune.own.predicted import levels_of, to_text
    from .terminal import progress

    model, names = machine_named(machine), tunable(collectives)
    tree = topology_of(topology, hosts, None, model)
    path = path_of(model.fingerprint)
    refuse_unwritable(path)
    head = _head(machine, topology, hosts)
    if model.fingerprint:
        head = f"machine {model.fingerprint}\n{head}"
    if tree:
        own = _for_topology(model, tree, names)
        head = "\n".join([head, "", f"# {tree.ranks} ranks as they are placed there.", *own])
    with progress("predicting", None) as advance:
        text = to_text(model, levels_of(model), names, head, advance)
    write_text(path, text)
    click.echo(f"wrote {path}")
