// SPDX-License-Identifier: BSD-3-Clause
//
// For Open MPI with --with-ft ulfm. All ranks but the last wait in a barrier, when that revokes the communicator:
// nobody has died. Then all go on without it.
#include <mpi.h>

#include <mpi-ext.h>
#include <stdio.h>
#include <unistd.h>

static int rank, ranks;

static void check(int correct, const char* what) {
  if (correct) return;
  fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char** argv) {
  int sum = 0, found = 0;
  MPI_Comm comm, fresh;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int i = 0; i < 20; ++i) MPI_Barrier(comm);
  if (rank == ranks - 1) {
    usleep(300000);
    MPIX_Comm_revoke(comm);
  }
  MPI_Error_class(MPI_Barrier(comm), &found);
  check(found == MPIX_ERR_REVOKED, "the error");
  MPIX_Comm_shrink(comm, &fresh);
  for (int i = 0; i < 20; ++i) {
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, fresh);
    check(sum == ranks * (ranks - 1) / 2, "after shrinking");
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum == ranks * (ranks - 1) / 2, "on the world");
  }
  MPI_Comm_free(&fresh);
  MPI_Comm_free(&comm);
  if (rank == 0) printf("all right\n");
  MPI_Finalize();
  return 0;
}
