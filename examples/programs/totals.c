// SPDX-License-Identifier: BSD-3-Clause
//
// Every rank learns the numbers of all ranks (MPI_Allgather) and their sums (MPI_Allreduce), and checks both.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { numbers = 1000 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong = 0, wrong_anywhere = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double mine[numbers], sums[numbers];
  double* all = malloc(sizeof(double) * numbers * (size_t)ranks);
  for (int i = 0; i < numbers; ++i) mine[i] = rank + i;
  MPI_Allgather(mine, numbers, MPI_DOUBLE, all, numbers, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Allreduce(mine, sums, numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < numbers; ++i) wrong += all[r * numbers + i] != r + i;
  for (int i = 0; i < numbers; ++i) wrong += sums[i] != ranks * (ranks - 1) / 2.0 + (double)ranks * i;
  MPI_Reduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf(wrong_anywhere ? "%d wrong\n" : "all right\n", wrong_anywhere);
  free(all);
  MPI_Finalize();
  return wrong_anywhere != 0;
}
