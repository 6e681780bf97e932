# SPDX-License-Identifier: BSD-3-Clause
"""Collectives for one tree of switches as C files that need nothing but an MPI (docs/topology.md).

The routine generator of Patarasuk and Yuan (2007, section 4): the ring of the tree, and a routine
that goes around it. The pieces are in routines/, in the order in which FUNCTIONS names them.
"""

import textwrap
from pathlib import Path

from .. import _core
from ..algorithms import near
from ..errors import Error
from ..topology.picture import lines_of, title_of

FOLDER = Path(__file__).parent / "routines"

# What each routine is made of, besides what all have.
FUNCTIONS = {
    "allreduce": ("reduction", "allreduce"),
    "reduce_scatter": ("reduction", "reduce_scatter"),
    "allgather": ("allgather",),
    "allgatherv": ("segments", "allgatherv"),
    "bcast": ("segments", "bcast"),
    "reduce": ("segments", "reduction", "reduce"),
}


def _piece(name: str) -> str:
    """Without its first line, which the head has."""
    return (FOLDER / f"{name}.c").read_text(encoding="utf-8").partition("\n")[2]


def _head(function: str, topology: _core.Topology, options: str) -> str:
    """What the file is, the tree, and the ring."""
    what = [
        f"tree_{function}: as MPI_{function.capitalize()}, for {topology.ranks} ranks on the tree",
        "below, by messages between two ranks only. Every rank sends to the next one in the",
        "depth-first order of the tree, or all to the one before: no two messages of a round share",
        "a link.",
        f"Made by: stretto generate {function} {options}",
        "",
        f"  {title_of(topology)}",
        *[f"  {line}" for line in lines_of(topology)],
    ]
    comment = [f" * {line}".rstrip().replace("*/", "* /") for line in what]
    order = textwrap.wrap(", ".join(map(str, topology.ring)), width=112)
    return "\n".join(
        [
            "/* SPDX-License-Identifier: BSD-3-Clause",
            " *",
            *comment,
            " */",
            "#include <mpi.h>",
            "#include <stdio.h>",
            "#include <stdlib.h>",
            "",
            f"enum {{ RANKS = {topology.ranks} }};",
            "",
            "/* The ranks as they follow each other. */",
            "static const int order[RANKS] = {",
            *[f"    {line}" for line in order],
            "};",
            "",
        ]
    )


def generate(function: str, topology: _core.Topology, options: str) -> str:
    """The C file, which names the options that it was made with; raises Error for functions that no
    ring serves."""
    if function not in FUNCTIONS:
        raise Error(f"no ring serves '{function}'", near(function, list(FUNCTIONS)))
    if topology.ranks == 0:
        raise Error("the topology has no ranks", "give --ranks")
    pieces = ["common", *FUNCTIONS[function], "test_head"]
    pieces += ["test_sum"] * ("reduction" in FUNCTIONS[function])
    pieces += [f"{function}_test", "test_main"]
    return _head(function, topology, options) + "".join(map(_piece, pieces))
