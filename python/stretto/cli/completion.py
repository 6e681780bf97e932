# SPDX-License-Identifier: BSD-3-Clause
"""What a shell offers after TAB (click's completion; docs/installation.md says how to turn it on).

Each is a `shell_complete` of click: from what has been typed of a word to what it may be.
"""

from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

from .. import Algorithm, all_algorithms, all_collectives, all_functions, facts


def _completer(*lists: Callable[[], list]) -> Callable[..., list[str]]:
    """By the names of what these list; of several with commas the last word is completed."""

    def complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        every = (one for of_kind in lists for one in of_kind())
        names = [one.id if isinstance(one, Algorithm) else facts(one).name for one in every]
        return [before + comma + name for name in dict.fromkeys(names) if name.startswith(last)]

    return complete


functions = _completer(all_functions)
collectives = _completer(all_collectives)
algorithms = _completer(all_algorithms)
everything = _completer(all_functions, all_collectives, all_algorithms)


def mpis(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names, or the path of a launcher."""
    from ..launch.mpi import WISHES

    if "/" in incomplete or incomplete.startswith((".", "~")):
        return files(_ctx, _param, incomplete)
    return [CompletionItem(name) for name in WISHES if name.startswith(incomplete)]


def files(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The shell itself looks for these."""
    return [CompletionItem(incomplete, type="file")]
