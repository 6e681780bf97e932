# SPDX-License-Identifier: BSD-3-Clause
"""The sub-commands: one file for each, imported when it is called for."""

import importlib
import signal

import click

from .. import __version__
from ..algorithms import near
from ..errors import Error
from ..interrupt import Interrupt

# name: the line that `stretto --help` shows. The module cli/<name>_.py holds `command`.
COMMANDS = {
    "list": "List the algorithms with their rounds and volume.",
    "show": "Print or draw a schedule, round by round.",
    "check": "Prove the algorithms right, or a file of schedules.",
    "explain": "Say which algorithm serves a call here, why, and what would change that.",
    "simulate": "Predict the time of all algorithms on a machine that need not be there.",
    "topology": "Discover the network: machines, switches and the links between them.",
    "generate": "Write a proved schedule as a C file of its own, or as a plan for GPUs.",
    "run": "Run an MPI program with Stretto in it.",
    "compare": "Run your program with and without Stretto, and say what is gained.",
    "env": "Print the variables that put Stretto into a program.",
    "bench": "Race Stretto against the native library.",
    "tune": "Measure algorithms and write a tuning file for an MPI.",
    "rules": "Show, compare and forget the rules that programs learned on this machine.",
    "report": "Turn the profile of a program into a page to read.",
    "doctor": "Say what works on this machine and what to do about the rest.",
}


class LazyGroup(click.Group):
    """Knows its commands by name, so that `--help` imports none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return importlib.import_module(f".{cmd_name}_", __package__).command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise Error(f"no command is called '{args[0]}'", near(args[0], list(COMMANDS)))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # or click would write an empty line
            raise Interrupt(signal.SIGINT) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def help_if_alone(ctx: click.Context) -> None:
    """What a group answers without a command: its help, which is no error."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)
@click.version_option(
    __version__, message="%(prog)s %(version)s", help="Print the version and exit."
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Fast collective operations for any MPI program."""
    help_if_alone(ctx)
