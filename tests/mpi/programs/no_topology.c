// SPDX-License-Identifier: BSD-3-Clause
//
// A neighbourhood collective on a communicator without a topology is an error; on one whose processes are all left out
// of a grid there is nothing to do. Afterwards all goes on.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, ranks, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int one = 1, many[64] = {0};
  for (int i = 0; i < 2; ++i) {
    if (!MPI_Neighbor_allgather(&one, 1, MPI_INT, many, 1, MPI_INT, MPI_COMM_WORLD)) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != ranks) MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int dims[1] = {1}, periodic[1] = {1};
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periodic, 0, &grid);
  if ((grid == MPI_COMM_NULL) != (rank > 0)) MPI_Abort(MPI_COMM_WORLD, 3);
  if (grid != MPI_COMM_NULL) {
    MPI_Neighbor_allgather(&one, 1, MPI_INT, many, 1, MPI_INT, grid);
    if (many[0] != 1 || many[1] != 1 || many[2] != 0) MPI_Abort(MPI_COMM_WORLD, 4);
    MPI_Comm_free(&grid);
  }
  if (rank == 0) printf("all right\n");
  MPI_Finalize();
  return 0;
}
