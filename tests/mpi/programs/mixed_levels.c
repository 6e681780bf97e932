// SPDX-License-Identifier: BSD-3-Clause
//
// Rank 0 has MPI_THREAD_MULTIPLE, the others MPI_THREAD_SINGLE: blocking, nonblocking and persistent collectives.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const char* number = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
  const int first = number && atoi(number) == 0;
  int rank, ranks, given, sum = 0, wrong = 0;
  MPI_Init_thread(&argc, &argv, first ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  const MPI_Comm both[] = {MPI_COMM_WORLD, copy};
  for (int i = 0; i < 20; ++i) {
    MPI_Request requests[2];
    int other = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, both[i % 2]);
    wrong += sum != ranks * (ranks - 1) / 2;
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, both[i % 2], &requests[0]);
    MPI_Iallreduce(&rank, &other, 1, MPI_INT, MPI_MAX, both[(i + 1) % 2], &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    wrong += sum != ranks * (ranks - 1) / 2 || other != ranks - 1;
#if MPI_VERSION >= 4
    MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, both[i % 2], MPI_INFO_NULL, &requests[0]);
    for (int turn = 0; turn < 2; ++turn) {
      sum = 0;
      MPI_Start(&requests[0]);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      wrong += sum != ranks * (ranks - 1) / 2;
    }
    MPI_Request_free(&requests[0]);
#endif
  }
  MPI_Comm_free(&copy);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf(wrong ? "wrong\n" : "all right\n");
  MPI_Finalize();
  return 0;
}
