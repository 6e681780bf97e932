// SPDX-License-Identifier: BSD-3-Clause
//
// A barrier and another call take turns, as in most benchmarks. Prints how much longer the other one takes with one
// number for each rank than with two: medians, the slowest rank.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { calls = 20000 };

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

static double median(int numbers) {
  static double in[64], out[64], times[calls];
  for (int i = 0; i < calls; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    MPI_Reduce_scatter_block(in, out, numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    times[i] = MPI_Wtime() - begin;
  }
  qsort(times, calls, sizeof *times, compare);
  return times[calls / 2];
}

int main(int argc, char** argv) {
  int rank;
  double ratio, most;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  median(1);  // warm
  ratio = median(1) / median(2);
  MPI_Reduce(&ratio, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.3f\n", most);
  MPI_Finalize();
  return 0;
}
