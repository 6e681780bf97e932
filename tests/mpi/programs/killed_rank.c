// SPDX-License-Identifier: BSD-3-Clause
//
// The last rank is killed in the midst of collectives.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  enum { most = 1 << 16 };
  static double values[most], sums[most];
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 1000000; ++i) {
    if (i == 40 && rank == 0) fprintf(stderr, "under way\n");
    if (i == 60 && rank == ranks - 1) raise(SIGKILL);
    MPI_Allreduce(values, sums, i % 10 ? 4 : most, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  printf("came to the end\n");
  MPI_Finalize();
  return 0;
}
