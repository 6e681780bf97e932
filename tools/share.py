# SPDX-License-Identifier: BSD-3-Clause
"""Writes what the installed command says of itself: man pages and completion for three shells.

Usage: python tools/share.py FOLDER, which becomes PREFIX/share; in an environment with stretto,
click and click-man.
"""

import sys
from pathlib import Path

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete
from click_man.core import write_man_pages
from stretto import __version__
from stretto.cli.group import COMMANDS, cli

# Where each shell looks below PREFIX/share.
COMPLETIONS: dict[str, type[ShellComplete]] = {
    "bash-completion/completions/stretto": BashComplete,
    "zsh/site-functions/_stretto": ZshComplete,
    "fish/vendor_completions.d/stretto.fish": FishComplete,
}


def describe_commands() -> None:
    """The group finds its commands when they are called for; here they are all wanted."""
    context = click.Context(cli, info_name="stretto")
    cli.short_help = (cli.help or "").splitlines()[0].rstrip(".")
    for name, words in COMMANDS.items():
        command = cli.get_command(context, name)
        if command is None:
            raise SystemExit(f"error: the command {name} is not there")
        command.short_help = words.rstrip(".")
        cli.add_command(command, name)


def main(share: Path) -> None:
    describe_commands()
    man = share / "man" / "man1"
    man.mkdir(parents=True, exist_ok=True)
    write_man_pages("stretto", cli, version=__version__, target_dir=str(man))
    for name, shell in COMPLETIONS.items():
        path = share / name
        path.parent.mkdir(parents=True, exist_ok=True)
        source = shell(cli, {}, "stretto", "_STRETTO_COMPLETE").source()
        path.write_text(source, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
