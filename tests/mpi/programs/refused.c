// SPDX-License-Identifier: BSD-3-Clause
//
// Arguments that MPI refuses, on all ranks: prints the class of each error, and whether a right call after that is
// right.
#include <mpi.h>
#include <stdio.h>

static int ranks, one = 1, sum, many[64];
static MPI_Request request;

#define CALL(name, call) \
  static int name(void) { return (call); }
CALL(count, MPI_Allreduce(&one, &sum, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD))
CALL(type, MPI_Bcast(&one, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD))
CALL(operator, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD))
CALL(root, MPI_Bcast(&one, 1, MPI_INT, ranks, MPI_COMM_WORLD))
CALL(part, MPI_Alltoall(many, -1, MPI_INT, many + 32, -1, MPI_INT, MPI_COMM_WORLD))
CALL(nonblocking_count, MPI_Iallreduce(&one, &sum, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request))
CALL(nonblocking_root, MPI_Ibcast(&one, 1, MPI_INT, -1, MPI_COMM_WORLD, &request))
CALL(persistent_count, MPI_Allreduce_init(&one, &sum, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request))

#ifdef OPEN_MPI  // Intel MPI natively dies of it
// Behind some that are right, whose plan is kept.
static int no_types(void) {
  static int counts[32], places[32];
  static MPI_Datatype types[32];
  for (int r = 0; r < ranks; ++r) {
    counts[r] = 1;
    places[r] = r * (int)sizeof *many;
    types[r] = MPI_INT;
  }
  for (int i = 0; i < 10; ++i)
    MPI_Alltoallw(many, counts, places, types, many + 32, counts, places, types, MPI_COMM_WORLD);
  return MPI_Alltoallw(many, counts, places, types, many + 32, counts, places, NULL, MPI_COMM_WORLD);
}
#endif

static const struct {
  const char* name;
  int (*call)(void);
} all[] = {{"count", count}, {"type", type},
           {"operator", operator},
            {"root", root},
            {"part", part},
#ifdef OPEN_MPI
            {"no types", no_types},
#endif
            {"nonblocking count", nonblocking_count},
            {"nonblocking root", nonblocking_root},
            {"persistent count", persistent_count}};

int main(int argc, char** argv) {
  int rank, class;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (size_t c = 0; c < sizeof all / sizeof *all; ++c) {
    MPI_Error_class(all[c].call(), &class);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: class %d, then %s\n", all[c].name, class, sum == ranks ? "right" : "wrong");
  }
  MPI_Finalize();
  return 0;
}
