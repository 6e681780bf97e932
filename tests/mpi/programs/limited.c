// SPDX-License-Identifier: BSD-3-Clause
//
// Allows itself no file of more than 8 KiB before its trace is written.
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 1000; ++i) MPI_Barrier(MPI_COMM_WORLD);
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = 8 << 10;
  setrlimit(RLIMIT_FSIZE, &limit);
  MPI_Finalize();
  if (rank == 0) printf("all right\n");
  return 0;
}
