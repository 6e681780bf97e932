# SPDX-License-Identifier: BSD-3-Clause
"""`stretto tune`: one module for each kind of target, imported when it is asked for."""

import re

import click

from ..errors import Error
from .options import RanksType, json_option

TARGETS = ("openmpi", "mpich", "intel")


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
    required=True,
    metavar="|".join(TARGETS),
    help="Whose own tuning file to write: that MPI's algorithms are measured, Stretto's are not.",
)
@click.option("--mpi", metavar="PATH", help="The mpiexec of the target.  [default: the one found]")
@click.option("--ranks", "-n", type=RanksType(), help="Such as 2,4,8.  [default: 2 and all cores]")
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
    "--limit",
    type=DurationType(),
    default="30s",
    show_default=True,
    help="An algorithm that needs more for one cell is given up.",
)
@click.option(
    "--commutative",
    is_flag=True,
    help="All operators of your programs commute: also try algorithms that rely on it unasked.",
)
@click.option("--output", metavar="DIR", help="[default: stretto-tune-TARGET]")
@click.option("--fresh", is_flag=True, help="Forget what was measured before.")
@json_option
def command(target: str, as_json: bool, **options: object) -> None:
    """Measure the algorithms and write a tuning file.

    An algorithm is written only where it beats the library's own choice by more than the noise,
    once when all are tried and once more with the whole file in use.
    """
    from ..algorithms import near

    if target not in TARGETS:
        raise Error(f"--target: '{target}' cannot be tuned", near(target, list(TARGETS)))
    from .tune_native import run

    run(target, as_json, **options)
