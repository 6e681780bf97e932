// SPDX-License-Identifier: BSD-3-Clause
//
// How much memory is resident in rank 0 after some short collectives: "resident: N KiB".
#include <mpi.h>
#include <stdio.h>

enum { values = 1024 };

int main(int argc, char** argv) {
  static double vector[values], sum[values];
  double in = 1, out = 0;
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 20; ++i) {
    MPI_Allreduce(vector, sum, values, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(vector, values, MPI_DOUBLE, i % 2, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) {
    char line[256];
    long kib = -1;
    FILE* sums = fopen("/proc/self/smaps_rollup", "r");
    while (sums && fgets(line, sizeof line, sums))
      if (sscanf(line, "Rss: %ld", &kib) == 1) break;
    if (sums) fclose(sums);
    printf("resident: %ld KiB\n", out == ranks ? kib : -1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
