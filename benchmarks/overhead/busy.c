// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks work in turn for some us, then all make a short allreduce. Prints the us of a step. Arguments: the work, and
// how many steps. Started by benchmarks/overhead/busy.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void work(double seconds) {
  const double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) continue;
}

int main(int argc, char** argv) {
  int rank, ranks;
  double one = 1, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double seconds = atof(argv[1]) * 1e-6;
  const int steps = atoi(argv[2]);
  for (int i = 0; i < 20; ++i) MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < steps; ++i) {
    if (i % ranks == rank) work(seconds);
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%.2f\n", (MPI_Wtime() - begin) / steps * 1e6);
  MPI_Finalize();
  return 0;
}
