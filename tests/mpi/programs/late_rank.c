// SPDX-License-Identifier: BSD-3-Clause
//
// Rank 0 comes to a barrier two seconds late. Prints the most that another one used its core meanwhile, in percent.
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static double used(void) {
  struct rusage all;
  getrusage(RUSAGE_SELF, &all);
  return (double)(all.ru_utime.tv_sec + all.ru_stime.tv_sec) +
         (double)(all.ru_utime.tv_usec + all.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 10; ++i) MPI_Barrier(MPI_COMM_WORLD);
  const double core = used(), clock = MPI_Wtime();
  if (rank == 0) sleep(2);
  MPI_Barrier(MPI_COMM_WORLD);
  double most = 0, share = 100 * (used() - core) / (MPI_Wtime() - clock);
  MPI_Reduce(&share, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.1f %%\n", most);
  MPI_Finalize();
  return 0;
}
