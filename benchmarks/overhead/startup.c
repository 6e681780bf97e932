// SPDX-License-Identifier: BSD-3-Clause
//
// How long the first collective of a program takes, in µs, and by how many KiB that and some more collectives let a
// rank grow: the most of all ranks. Started, many times, by benchmarks/overhead/startup.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { values = 1024 };

static double resident(void) {
  char line[128];
  long kib = 0;
  FILE* status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (sscanf(line, "VmRSS: %ld", &kib) == 1) break;
  if (status) fclose(status);
  return (double)kib;
}

int main(int argc, char** argv) {
  static double in[values], out[values];
  MPI_Init(&argc, &argv);
  const double before = resident();
  const double begin = MPI_Wtime();
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double mine[2] = {(MPI_Wtime() - begin) * 1e6, 0};
  for (int i = 0; i < 20; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(in, out, values, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(out, values, MPI_DOUBLE, i % 2, MPI_COMM_WORLD);
  }
  mine[1] = resident() - before;
  double most[2];
  int rank;
  MPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%.1f %.0f\n", most[0], most[1]);
  MPI_Finalize();
  return 0;
}
