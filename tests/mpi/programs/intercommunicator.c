// SPDX-License-Identifier: BSD-3-Clause
//
// Even and odd ranks, joined by an intercommunicator: each side receives what the other one has.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, ranks, side, all[64], sum = 0;
  MPI_Comm half, between;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  side = rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 0, &between);

  MPI_Barrier(between);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, between);
  int expected = 0, others = 0;
  for (int r = 1 - side; r < ranks; r += 2, ++others) expected += r;
  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, between);
  int right = sum == expected;
  for (int i = 0; i < others; ++i) right = right && all[i] == 2 * i + 1 - side;
  int value = rank == 0 ? 42 : 0;
  MPI_Bcast(&value, 1, MPI_INT, side == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, between);
  right = right && (side == 0 ? value == (rank == 0 ? 42 : 0) : value == 42);

  int everybody = 0;
  MPI_Allreduce(&right, &everybody, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  if (rank == 0) printf(everybody ? "all right\n" : "wrong\n");
  MPI_Finalize();
  return everybody ? 0 : 3;
}
