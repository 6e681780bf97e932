// SPDX-License-Identifier: BSD-3-Clause
//
// Calls whose number, size and lateness a test knows: what a profile and a trace must say of them.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { small = 3000, large = 20, doubles = 1 << 16, freed = 5 };

static void nap(double seconds) {
  const struct timespec time = {0, (long)(seconds * 1e9)};
  nanosleep(&time, NULL);
}

int main(int argc, char** argv) {
  int rank, ranks;
  double one = 1, sum = 0;
  double* in = calloc(doubles, sizeof *in);
  double* out = calloc(doubles, sizeof *out);
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < small; ++i) {
    if (rank == ranks - 1 && i == small / 2) nap(0.25);  // one long wait among short calls
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_set_name(half, "half");
  for (int i = 0; i < large; ++i) MPI_Allreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, half);
  MPI_Comm_free(&half);
  for (int i = 0; i < freed; ++i) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_name(copy, "copy");
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
  }
  if (rank == ranks - 1) nap(0.25);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 7; ++i) MPI_Reduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  free(in);
  free(out);
  if (rank == 0) printf("all right\n");
  MPI_Finalize();
  return 0;
}
