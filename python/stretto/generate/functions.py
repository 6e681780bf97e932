# SPDX-License-Identifier: BSD-3-Clause
"""The functions of MPI in C: their arguments, what these mean, and calls that test them."""

from dataclasses import dataclass

WHOLE = "int count, MPI_Datatype type"
OPERATED = f"const void* input, void* output, {WHOLE}, MPI_Op op"
SENT, TO = f"const void* input, {WHOLE}", "void* output"
RECEIVED = "int output_count, MPI_Datatype output_type"
COUNTED = "const int counts[], const int displs[]"


@dataclass(frozen=True)
class Function:
    """One function. `body` stands between prepare() and perform(), `end`, if any, instead of the
    latter; `call` are arguments of the self-test, where `out` is what is compared."""

    parameters: str
    body: str
    call: str
    end: str = ""
    sections: tuple[str, ...] = ()
    in_place: bool = True
    segments: bool = True  # do all ranks know the sizes of all parts?
    irregular: bool = False


VECTOR = """\
s.op = op;
s.sides[OUTPUT] = side_of(output, count, NULL, NULL, type);
s.sides[INPUT] = input == MPI_IN_PLACE ? s.sides[OUTPUT] : side_of(input, count, NULL, NULL, type);
"""
EACH = Function(OPERATED, VECTOR, "from, out, count, type, op")


# What a collector says of the parts: the sizes of its side, its parameters; and the test's
# arguments: the size of the own part and those of all.
COLLECTED = {
    False: ("output_count, NULL, NULL", RECEIVED, "count", "count"),
    True: ("0, counts, displs", f"{COUNTED}, MPI_Datatype output_type", "counts[rank]",
           "counts, displs"),
}  # fmt: skip


def _gather(irregular: bool) -> Function:
    sizes, received, mine, sizes_of = COLLECTED[irregular]
    body = f"""\
const int at_root = rank_at(s.me) == root;
if (at_root) s.sides[OUTPUT] = side_of(output, {sizes}, output_type);
s.sides[INPUT] = at_root && input == MPI_IN_PLACE ? s.sides[OUTPUT] : part_of(input, count, type);
if (!at_root) s.sides[OUTPUT] = s.sides[INPUT];
"""
    call = f"rank == root ? from : in, {mine}, type, out, {sizes_of}, type, root"
    parameters = f"{SENT}, {TO}, {received}, int root"
    return Function(parameters, body, call, "", ("own",), segments=False, irregular=irregular)


def _scatter(irregular: bool) -> Function:
    sizes, sent, call = "count, NULL, NULL", WHOLE, "in, count, type"
    if irregular:
        sizes, sent = "0, counts, displs", f"{COUNTED}, MPI_Datatype type"
        call = "in, counts, displs, type"
    body = f"""\
const int at_root = rank_at(s.me) == root;
s.sizes = INPUT;
if (at_root) s.sides[INPUT] = side_of(input, {sizes}, type);
s.sides[OUTPUT] =
    at_root && output == MPI_IN_PLACE ? s.sides[INPUT] : part_of(output, output_count, output_type);
if (!at_root) s.sides[INPUT] = s.sides[OUTPUT];
"""
    mine = COLLECTED[irregular][2]
    call += f", rank == root && in_place ? MPI_IN_PLACE : out, {mine}, type, root"
    parameters = f"const void* input, {sent}, {TO}, {RECEIVED}, int root"
    return Function(parameters, body, call, "", ("own",), segments=False, irregular=irregular)


def _allgather(irregular: bool) -> Function:
    sizes, received, mine, sizes_of = COLLECTED[irregular]
    body = f"""\
s.sides[OUTPUT] = side_of(output, {sizes}, output_type);
s.sides[INPUT] = input == MPI_IN_PLACE ? s.sides[OUTPUT] : part_of(input, count, type);
"""
    call = f"from, {mine}, type, out, {sizes_of}, type"
    return Function(f"{SENT}, {TO}, {received}", body, call, sections=("own",), irregular=irregular)


def _alltoall(irregular: bool) -> Function:
    sizes = "0, output_counts, output_displs" if irregular else "output_count, NULL, NULL"
    own = "0, counts, displs" if irregular else "count, NULL, NULL"
    parameters = f"{SENT}, {TO}, {RECEIVED}"
    call = "from, count, type, out, count, type"
    if irregular:
        parameters = (
            f"const void* input, {COUNTED}, MPI_Datatype type, {TO}, const int output_counts[], "
            "const int output_displs[], MPI_Datatype output_type"
        )
        call = "from, counts, displs, type, out, counts, displs, type"
    body = f"""\
char* room = NULL;
s.sides[OUTPUT] = side_of(output, {sizes}, output_type);
if (input == MPI_IN_PLACE)
  CHECKED(save(&s.sides[OUTPUT], &s.sides[INPUT], &room));
else
  s.sides[INPUT] = side_of(input, {own}, type);
"""
    end = """\
const int code = perform(&s);
free(room);
return code;
"""
    return Function(parameters, body, call, end, ("saved",), segments=False, irregular=irregular)


def _reduce_scatter(irregular: bool) -> Function:
    counts, mine, sizes, displs = "int count", "count", "count, NULL, NULL", ""
    if irregular:
        counts, mine, sizes = "const int counts[]", "counts[rank_at(s.me)]", "0, counts, displs"
        displs = """\
int displs[RANKS] = {0};
for (int r = 1; r < RANKS; ++r) displs[r] = displs[r - 1] + counts[r - 1];
"""
    body = f"""\
const int mine = {mine};
const void* vector = input == MPI_IN_PLACE ? output : input;
char* room = NULL;
{displs}s.op = op;
s.sizes = INPUT;
s.sides[INPUT] = side_of(vector, {sizes}, type);
s.sides[OUTPUT] = part_of(output, mine, type);
if (input == MPI_IN_PLACE) {{
  MPI_Aint first;
  room = malloc(bytes_of(mine, type, &first));
  if (room == NULL) return MPI_ERR_NO_MEM;
  s.sides[OUTPUT].base = room - first;
}}
"""
    end = """\
int code = perform(&s);
if (room != NULL && code == MPI_SUCCESS)
  code = MPI_Sendrecv(s.sides[OUTPUT].base, mine, type, 0, TAG, output, mine, type, 0, TAG,
                      MPI_COMM_SELF, MPI_STATUS_IGNORE);
free(room);
return code;
"""
    parameters = f"const void* input, void* output, {counts}, MPI_Datatype type, MPI_Op op"
    call = f"from, out, {'counts' if irregular else 'count'}, type, op"
    return Function(parameters, body, call, end, ("own",), irregular=irregular)


FUNCTIONS = {
    "barrier": Function(
        "",
        "s.sides[INPUT] = s.sides[OUTPUT] = side_of(NULL, 0, NULL, NULL, MPI_BYTE);\n",
        "", in_place=False, segments=False,
    ),
    "bcast": Function(
        f"void* buffer, {WHOLE}, int root",
        "s.sides[INPUT] = s.sides[OUTPUT] = side_of(buffer, count, NULL, NULL, type);\n",
        "rank == root ? memcpy(out, in, bytes) : out, count, type, root", in_place=False,
    ),
    "gather": _gather(False),
    "gatherv": _gather(True),
    "scatter": _scatter(False),
    "scatterv": _scatter(True),
    "allgather": _allgather(False),
    "allgatherv": _allgather(True),
    "alltoall": _alltoall(False),
    "alltoallv": _alltoall(True),
    "reduce": Function(
        f"{OPERATED}, int root",
        "s.sizes = INPUT;\n" + VECTOR,  # elsewhere the output is not touched
        "rank == root ? from : in, out, count, type, op, root",
    ),
    "allreduce": EACH,
    "reduce_scatter": _reduce_scatter(True),
    "reduce_scatter_block": _reduce_scatter(False),
    "scan": EACH,
    "exscan": EACH,
}  # fmt: skip
