// SPDX-License-Identifier: BSD-3-Clause
//
// A program whose MPI says that it takes buffers on GPUs, in a process with a GPU's driver:
// the library argv[1] stands for that one.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int MPIX_Query_cuda_support(void) { return 1; }

int main(int argc, char** argv) {
  int rank = 0, ranks = 0, sum = 0, alone = 0;
  MPI_Comm half;
  if (argc > 1 && !dlopen(argv[1], RTLD_NOW)) return 3;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&rank, &alone, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
  MPI_Bcast(&ranks, 1, MPI_INT, 0, half);
  MPI_Comm_free(&half);
  if (rank == 0 && sum == ranks * (ranks - 1) / 2) puts("all right");
  MPI_Finalize();
  return alone != rank;
}
