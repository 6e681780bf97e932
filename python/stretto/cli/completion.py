# SPDX-License-Identifier: BSD-3-Clause
"""What a shell offers after TAB (click's completion; docs/installation.md says how to turn it on).

Each function is a `shell_complete` of click: from what has been typed of a word to what it may be.
"""

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from .. import all_algorithms, all_collectives, all_functions, facts


def _beginning_with(incomplete: str, names: Iterable[str]) -> list[str]:
    """Of a list with commas the last word is completed."""
    before, comma, last = incomplete.rpartition(",")
    return [before + comma + name for name in dict.fromkeys(names) if name.startswith(last)]


def functions(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """MPI's, as commands call them."""
    return _beginning_with(incomplete, (facts(f).name for f in all_functions()))


def collectives(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """What algorithms achieve."""
    return _beginning_with(incomplete, (facts(c).name for c in all_collectives()))


def algorithms(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Ids."""
    return _beginning_with(incomplete, (a.id for a in all_algorithms()))


def everything(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Collectives, functions and ids of algorithms."""
    found = functions(ctx, param, incomplete) + collectives(ctx, param, incomplete)
    return [*dict.fromkeys(found), *algorithms(ctx, param, incomplete)]


def mpis(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names, or the path of a launcher."""
    from ..launch.mpi import WISHES

    if "/" in incomplete or incomplete.startswith((".", "~")):
        return files(_ctx, _param, incomplete)
    return [CompletionItem(name) for name in WISHES if name.startswith(incomplete)]


def files(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The shell itself looks for these."""
    return [CompletionItem(incomplete, type="file")]
