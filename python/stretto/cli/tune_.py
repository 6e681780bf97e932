# SPDX-License-Identifier: BSD-3-Clause
"""`stretto tune`: one module for each kind of target, imported when it is asked for."""

import re
from typing import Any

import click

from ..algorithms import near
from ..errors import Error
from .options import hosts_option, json_option, ranks, topology_option

OWN = "stretto"
TARGETS = (OWN, "openmpi", "mpich", "intel")
OF_NATIVE = ("limit", "commutative")
OF_OWN = ("mode", "operators", "predict", "topology", "hosts", "up_to")


class DurationType(click.ParamType):
    """`90`, `90s`, `5m` or `2h` in seconds."""

    name = "duration"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, float):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", str(value).strip())
        if not match or float(match[1]) <= 0:
            name = param.name if param else "duration"
            raise Error(f"--{name}: '{value}' is not a time", "write 90s, 5m or 2h")
        return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


@click.command("tune")
@click.option(
    "--target",
    default=OWN,
    show_default=True,
    metavar="|".join(TARGETS),
    help="Whose choice: Stretto's, or that MPI's own algorithms, for programs without Stretto.",
)
@click.option(
    "--mpi", metavar="PATH|NAME", help="The MPI, or its mpiexec.  [default: the one found]"
)
@click.option("--ranks", "-n", type=ranks, help="Such as 2,4,8.  [default: 2 and all cores]")
@click.option(
    "--sizes",
    default="8,64,512,4K,32K,256K,2M",
    show_default=True,
    help="Bytes of the vector or of each rank's part: 8-16M is 8, 16, 32, … 16M.",
)
@click.option("--collectives", help="Such as allreduce,bcast.  [default: all with a choice]")
@click.option(
    "--budget",
    type=DurationType(),
    default="5m",
    show_default=True,
    help="Time for this run. The same command goes on where the last one ended.",
)
@click.option(
    "--operators",
    metavar="commutative|all",
    help="Of reductions: `all` also tunes for those that do not commute.  [default: commutative]",
)
@click.option(
    "--mode",
    type=click.Choice(["back-to-back", "synchronised", "both"]),
    help="Whether a barrier stands before each measured call. What is chosen serves all modes that "
    "are measured.  [default: both]",
)
@click.option(
    "--up-to",
    type=int,
    metavar="RANKS",
    help="Rules for more ranks than are measured as well, up to 1024: predicted, and corrected by "
    "what was measured.",
)
@click.option(
    "--predict",
    metavar="MACHINE",
    help="Measure nothing: rules from the model alone, for a machine file (docs/simulation.md).",
)
@topology_option
@hosts_option
@click.option(
    "--limit",
    type=DurationType(),
    help="Of an MPI's own: what needs more for one benchmark point is given up.  [default: 30s]",
)
@click.option(
    "--commutative",
    is_flag=True,
    help="Of an MPI's own: all operators of your programs commute; try what relies on it unasked.",
)
@click.option(
    "--output",
    "-o",
    metavar="PATH",
    help="The rules file, or the folder of an MPI's own files.  [default: where programs look for "
    "the rules of this machine; or stretto-tune-TARGET]",
)
@click.option("--fresh", is_flag=True, help="Forget what was measured before.")
@json_option
@click.argument("launcher", nargs=-1, type=click.UNPROCESSED)
def command(target: str, as_json: bool, launcher: tuple[str, ...], **options: Any) -> None:
    """Measure algorithms and write what is fastest on this machine.

    For Stretto's choice: `stretto tune`, or `stretto tune -- srun -n 64` where another launcher
    than mpiexec starts the ranks. Programs then find the rules by themselves (docs/tuning.md).
    With --predict, --topology or --hosts adds rules for exactly the ranks of that network, whose
    messages share links (docs/topology.md).
    For an MPI's own files see docs/native-tuning.md.
    """
    if target not in TARGETS:
        raise Error(f"--target: '{target}' cannot be tuned", near(target, list(TARGETS)))
    for name in OF_NATIVE if target == OWN else OF_OWN:
        if options.pop(name):
            option = name.replace("_", "-")
            raise Error(f"--{option} does not go with --target {target}", "leave it out")
    if target == OWN:
        from .tune_own import run as run_own

        run_own(as_json, launcher=launcher, **options)
        return
    if launcher:
        raise Error(f"--target {target} starts its ranks by mpiexec", "leave the launcher out")
    from .tune_native import run

    options["limit"] = options["limit"] or 30.0
    run(target, as_json, **options)
