// SPDX-License-Identifier: BSD-3-Clause
//
// Some ranks have Stretto and some have not: the even ones alone make collectives, on a communicator of their own.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, ranks, right = 1;
  MPI_Comm mine, copy;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &mine);
  MPI_Comm_dup(mine, &copy);
  for (int i = 0; i < 20 && rank % 2 == 0; ++i) {
    int sum = 0, expected = 0;
    for (int r = 0; r < ranks; r += 2) expected += r;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, i % 2 ? mine : copy);
    right = right && sum == expected;
  }
  MPI_Comm_free(&copy);
  MPI_Comm_free(&mine);
  if (rank == 0) printf(right ? "all right\n" : "wrong\n");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
