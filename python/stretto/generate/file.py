# SPDX-License-Identifier: BSD-3-Clause
"""The C file around the programs of all ranks."""

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

from .. import _core
from ..topology.picture import lines_of, title_of
from .functions import FUNCTIONS
from .programs import Part, find_programs, part_of
from .tables import Wanted, constants, one_block_each, ranks_and_blocks, which_program
from .text import WIDTH, Writer

FOLDER = Path(__file__).parent


def _sections(file: str) -> dict[str, str]:
    text = (FOLDER / file).read_text(encoding="utf-8")
    found = re.split(r"^//: (\w+)\n", text, flags=re.MULTILINE)[1:]
    return {
        name: body.strip("\n") + "\n" for name, body in zip(found[::2], found[1::2], strict=True)
    }


def _head(wanted: Wanted, measured: _core.Measured, parts: int) -> list[str]:
    """What the file is, and what was proved."""
    algorithm, ranks = wanted.algorithm, wanted.ranks
    order = "any operator" if not algorithm.needs.commutative else "commutative operators"
    reduces = _core.facts(algorithm.collective).reduces
    what = (
        f"{wanted.name}: MPI_{wanted.function.capitalize()} for {ranks} ranks"
        + f" and {order}" * reduces
        + ", by messages between two."
    )
    roots = "" if len(wanted.roots) == 1 else ", for every root"
    proof = (
        f"Proved{roots}: all ranks end with the right result, in place too where MPI has that, "
        "whenever messages arrive, and if none is buffered. Along the longest chain of rounds: "
        f"{measured.rounds} rounds, {measured.sent} blocks sent, {measured.combined} combined; the "
        f"vector has {parts}. Messages of all ranks: {measured.messages}."
    )
    lines = [*textwrap.wrap(what, 100), *textwrap.wrap(f"Algorithm: {wanted.title}", 100)]
    if wanted.params.segment:
        lines.append(
            f"In segments of {wanted.params.segment} bytes of a part, {wanted.params.depth} under "
            "way; all ranks give the same count and type."
        )
    lines += [*textwrap.wrap(proof, 100), f"Made by: stretto generate {wanted.command}"]
    if wanted.topology is not None:
        lines += ["", f"  {title_of(wanted.topology)}"]
        lines += [f"  {line}" for line in lines_of(wanted.topology)]
    comment = [f" * {line}".rstrip().replace("*/", "* /") for line in lines]
    return ["/* SPDX-License-Identifier: BSD-3-Clause", " *", *comment, " */"]


def _function(wanted: Wanted) -> list[str]:
    """The function itself."""
    what = FUNCTIONS[wanted.function]
    arguments = ", ".join(filter(None, [what.parameters, "MPI_Comm comm"]))
    root = "root" if "int root" in arguments else "0"
    body = "struct run s;\n" + f"CHECKED(prepare(&s, {root}, comm));\n" + what.body
    if wanted.reduces and wanted.algorithm.needs.commutative:
        body += (
            "int commutative;\n"
            "CHECKED(MPI_Op_commutative(op, &commutative));\n"
            "if (!commutative) return MPI_ERR_OP; /* not combined in rank order */\n"
        )
    return [
        f"/* As MPI_{wanted.function.capitalize()}. */",
        *textwrap.wrap(f"int {wanted.name}({arguments}) {{", WIDTH, subsequent_indent=" " * 8),
        *textwrap.indent(body + (what.end or "return perform(&s);"), "  ").splitlines(),
        "}",
        "",
    ]


def _sizes(wanted: Wanted) -> str:
    """Of the self-test's parts."""
    what, facts = FUNCTIONS[wanted.function], _core.facts(wanted.algorithm.collective)
    if not what.irregular:
        return "const int all = RANKS * count" if facts.per_rank else "const int all = count"
    size = "(count + 3 * r) % (count + 1) * (r == 0 ? 9 : 1)"
    if facts.name == "alltoall":
        size = "(count + 3 * abs(r - rank)) % (count + 1)"
    hole = " + 1" * ("displs" in what.call)
    displs = ", displs[RANKS]" * bool(hole)
    return f"""int counts[RANKS]{displs}, all = 0;
  for (int r = 0; r < RANKS; ++r) {{
    counts[r] = {size};
{"    displs[r] = all;" if hole else ""}
    all += counts[r]{hole};
  }}""".replace("\n\n", "\n")


def _self_test(wanted: Wanted) -> str:
    """The test's main and what it calls."""
    what, sections = FUNCTIONS[wanted.function], _sections("self_test.c")
    ordered = not wanted.algorithm.needs.commutative
    pieces = ["barrier"]
    if wanted.function != "barrier":
        operator = "ordered_operator" if ordered else "commutative_operator"
        pieces = [operator] * wanted.reduces + ["test_with"]
    wide = "MPI_Type_create_resized(MPI_LONG, 0, 2 * sizeof(long), &type)"
    if wanted.reduces:
        wide = "MPI_Type_contiguous(2, MPI_LONG, &type);\n"
        wide += f"  MPI_Op_create(operate, {int(not ordered)}, &op)"
    part = "in_place ? sizeof(long) * (size_t)(wide * {}) : bytes"  # MPI's own may use the rest
    compared = {
        "exscan": "rank == 0 ? 0 : bytes",
        "reduce_scatter": part.format("counts[rank]"),
        "reduce_scatter_block": part.format("count"),
    }
    words = {
        "MPI_NAME": f"MPI_{wanted.function.capitalize()}",
        "ARGUMENTS": what.call,
        "SIZES": _sizes(wanted),
        "COMPARED": compared.get(wanted.function, "bytes"),
        "MAKE_WIDE": wide,
        "FIRST_ROOT": str(wanted.roots[0]),
        "LAST_ROOT": str(wanted.roots[-1]),
        "WAYS": str(1 + what.in_place),
        "WITHOUT_MAIN": f"{wanted.prefix.upper()}_WITHOUT_MAIN",
        "NAME": wanted.name,
    }
    text = "\n".join(sections[piece] for piece in ["head", *pieces, "main"])
    pattern = re.compile(r"(?<![A-Z_])(" + "|".join(words) + r")(?![A-Z_])")
    return pattern.sub(lambda found: words[found[1]], text)


def _chosen(rows: Sequence[Sequence[Part]]) -> list[str]:
    """The sections of routine.c that the programs call."""
    kinds = {o.kind for row in rows for part in row for one in part.rounds for o in one}
    posts = [kind for kind in ("send", "receive") if kind in kinds]
    combines = [kind for kind in ("receive_reduce", "reduce") if kind in kinds]
    moves, one = "copy" in kinds, one_block_each(rows)
    chosen = ["piece"] * bool(kinds)
    if combines or not one:
        chosen.append("one_block" if one else "blocks")
    if posts or moves:
        chosen.append("one_piece" if one else "describe")
    chosen += ["post", *posts] * bool(posts) + ["move"] * bool(moves or combines)
    return chosen + ["copy"] * moves + ["combine", *combines] * bool(combines)


def write(wanted: Wanted, measured: _core.Measured) -> str:
    """The whole file."""
    rows = [
        [part_of(wanted.schedule(root, rank)) for rank in range(wanted.ranks)]
        for root in wanted.roots
    ]
    slots = rows[0][0].slots
    alltoall = wanted.algorithm.collective == _core.Collective.alltoall
    found = find_programs(rows, wanted.order, slots > 1 and not alltoall)
    sections = _sections("routine.c")
    writer = Writer(found)
    programs = [writer.program(i, program) for i, program in enumerate(found.programs)]
    chosen = _chosen(rows)
    end = ["room", "in_segments" if wanted.params.segment else "at_once"] if chosen else ["nothing"]
    end += FUNCTIONS[wanted.function].sections
    lines = [
        *_head(wanted, measured, slots),
        *(f"#include <{name}.h>" for name in ("limits", "mpi", "stdio", "stdlib", "string")),
        "",
        sections["constants"].rstrip(),
        *constants(wanted, rows),
        sections["types"],
        *ranks_and_blocks(wanted, found),
        *(sections[name] for name in ("side", *chosen)),
        *(line for program in programs for line in program),
        *which_program(wanted, found),
        *(sections[name] for name in ("prepare", *end)),
        *_function(wanted),
        _self_test(wanted),
    ]
    return "\n".join(lines)
