// SPDX-License-Identifier: BSD-3-Clause
//
// Ten allgathers on MPI_COMM_WORLD and ten on each half of it, all checked.
#include <mpi.h>
#include <stdio.h>

enum { numbers = 100, most_ranks = 16 };

static int gather(MPI_Comm comm) {
  static int all[most_ranks * numbers];
  int mine[numbers], rank, ranks, wrong = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int call = 0; call < 10; ++call) {
    for (int i = 0; i < numbers; ++i) mine[i] = 1000 * rank + i + call;
    MPI_Allgather(mine, numbers, MPI_INT, all, numbers, MPI_INT, comm);
    for (int r = 0; r < ranks; ++r)
      for (int i = 0; i < numbers; ++i) wrong += all[r * numbers + i] != 1000 * r + i + call;
  }
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, wrong, wrong_anywhere = 0;
  MPI_Comm half;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  wrong = gather(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  wrong += gather(half);
  MPI_Comm_free(&half);
  MPI_Reduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf(wrong_anywhere ? "%d wrong\n" : "all right\n", wrong_anywhere);
  MPI_Finalize();
  return wrong_anywhere != 0;
}
