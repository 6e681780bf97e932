// SPDX-License-Identifier: BSD-3-Clause
//
// One rank's arguments do not go with those of the others: more is sent than it says that it receives. Prints what
// every rank is told. Arguments: the collective; then, if all shall go on afterwards, how often they do it again
// before.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { full = 4, less = 2, most = 16 };  // numbers of a rank

static int rank, ranks;
static int in[full * most], out[full * most];

static int call(const char* what, MPI_Comm comm) {
  const int fits = rank == 1 ? less : full;  // rank 1 is the one; where there is a root, it is that
  if (!strcmp(what, "gather of another"))
    return MPI_Gather(in, rank == 2 ? 2 * full : full, MPI_INT, out, full, MPI_INT, 1, comm);
  if (!strcmp(what, "gather")) return MPI_Gather(in, full, MPI_INT, out, fits, MPI_INT, 1, comm);
  if (!strcmp(what, "scatter")) return MPI_Scatter(in, full, MPI_INT, out, fits, MPI_INT, 1, comm);
  if (!strcmp(what, "allgather")) return MPI_Allgather(in, full, MPI_INT, out, fits, MPI_INT, comm);
  if (!strcmp(what, "alltoall")) return MPI_Alltoall(in, full, MPI_INT, out, fits, MPI_INT, comm);
  int counts[most], places[most];
  for (int r = 0; r < ranks; ++r) {
    counts[r] = !strcmp(what, "gatherv of another") && r != 2 ? full : fits;
    places[r] = r * full;
  }
  if (!strncmp(what, "gatherv", 7)) return MPI_Gatherv(in, full, MPI_INT, out, counts, places, MPI_INT, 1, comm);
  for (int r = 0; r < ranks; ++r) counts[r] = full;
  return MPI_Scatterv(in, counts, places, MPI_INT, out, fits, MPI_INT, 1, comm);
}

int main(int argc, char** argv) {
  int mine = 0, classes[most], sum = 0;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int i = 0; i < full * most; ++i) in[i] = rank;
  MPI_Error_class(call(argv[1], comm), &mine);

  // By messages that no collective of before can be in the way of.
  for (int r = 1; r < ranks; ++r) {
    if (rank == r) MPI_Send(&mine, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&classes[r], 1, MPI_INT, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  classes[0] = mine;
  for (int r = 0; rank == 0 && r < ranks; ++r)
    printf("rank %d: %s\n", r,
           classes[r] == MPI_SUCCESS        ? "none"
           : classes[r] == MPI_ERR_TRUNCATE ? "truncated"
                                            : "another");
  if (argc > 2) {
    for (int i = 0; i < atoi(argv[2]); ++i) {
      if (rank == 3) usleep(1000);  // what it sends comes when the call has failed elsewhere, and nobody receives it
      call(argv[1], comm);
    }
    for (int i = 0; i < 3; ++i) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf(sum == ranks * (ranks - 1) / 2 ? "goes on\n" : "wrong\n");
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
