// SPDX-License-Identifier: BSD-3-Clause
//
// What a program that learns keeps of a call serves the next calls of the same turn, but not others. Arguments: how
// many calls; then a case:
//   growing   gathers in which one rank sends more from time to time, and the others do not know it
//   told      allreduces whose algorithm the program sets and resets by an info key
//   types     bcasts of types that are freed and made again
// Prints "all right".
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "arguments.c"

enum { most = 4096, few = 40 };

static int rank, ranks, calls;
static MPI_Comm comm;

static void wrong(const char* what, int call) {
  fprintf(stderr, "rank %d: wrong result of %s, call %d\n", rank, what, call);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Rank 1 has two buffers, so that its plans are not always found where the others' are.
static void growing(int call) {
  static int in[2][most], out[64 * most];
  int counts[64], places[64];
  const int more = call / 37 % 2 == 0 ? few : most / 2;
  for (int r = 0; r < ranks; ++r) {
    counts[r] = r == 1 ? more : few;
    places[r] = r * most;
  }
  int* const mine = in[rank == 1 ? call % 2 : 0];
  for (int i = 0; i < counts[rank]; ++i) mine[i] = call + rank + i;
  MPI_Gatherv(mine, counts[rank], MPI_INT, out, counts, places, MPI_INT, 0, comm);
  for (int r = 0; rank == 0 && r < ranks; ++r)
    for (int i = 0; i < counts[r]; ++i)
      if (out[places[r] + i] != call + r + i) wrong("gatherv", call);
}

static void told(int call) {
  if (call % 61 == 60) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "stretto_allreduce", call / 61 % 2 == 0 ? "logical_ring" : "rules");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
  }
  int in = rank + call, sum = 0;
  MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (sum != ranks * call + ranks * (ranks - 1) / 2) wrong("allreduce", call);
}

/// An MPI may give a new type the handle of one that was freed.
static void types(int call) {
  static MPI_Datatype type = MPI_DATATYPE_NULL;
  int data[6];
  const int stride = 1 + call / 5 % 2;
  if (call % 5 == 0) {
    if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
    MPI_Type_vector(3, 1, stride, MPI_INT, &type);
    MPI_Type_commit(&type);
  }
  for (int i = 0; i < 6; ++i) data[i] = rank == 0 ? call + i : -1;
  MPI_Bcast(data, 1, type, 0, comm);
  for (int i = 0; i < 6; ++i)
    if (data[i] != (rank == 0 || (i % stride == 0 && i < 3 * stride) ? call + i : -1)) wrong("bcast", call);
  if (call == calls - 1) MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  calls = atoi(argv[1]);
  for (int call = 0; call < calls; ++call) {
    if (is_given(argc, argv, "growing")) growing(call);
    if (is_given(argc, argv, "told")) told(call);
    if (is_given(argc, argv, "types")) types(call);
  }
  if (rank == 0) printf("all right\n");
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
