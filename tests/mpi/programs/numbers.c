// SPDX-License-Identifier: BSD-3-Clause
//
// Prints the numbers of communicators made after collectives on others: they show whether anybody else made some.
// Argument: single or multiple (threads).
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  int given, rank, sum = 0;
  MPI_Comm comm, last[3];
  MPI_Init_thread(&argc, &argv, strcmp(argv[1], "multiple") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < 3; ++i) {
    MPI_Comm_dup(i ? last[i - 1] : comm, &last[i]);
    MPI_Barrier(last[i]);
    if (rank == 0) printf("%d\n", (int)MPI_Comm_c2f(last[i]));
  }
  for (int i = 0; i < 3; ++i) MPI_Comm_free(&last[i]);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
