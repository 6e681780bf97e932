// SPDX-License-Identifier: BSD-3-Clause
//
// Two threads of each rank wait for nonblocking allreduces, one by MPI_Wait and one by MPI_Waitall, each on a
// communicator of its own, from which the last rank stays away.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static MPI_Comm comms[2];

static void* take_part(void* of) {
  const MPI_Comm* comm = of;
  int sums[2], one = 1;
  MPI_Request requests[2];
  for (int i = 0; i < 2; ++i) MPI_Iallreduce(&one, &sums[i], 1, MPI_INT, MPI_SUM, *comm, &requests[i]);
  if (comm == comms) {
    for (int i = 0; i < 2; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  } else {
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int rank, ranks, level;
  pthread_t threads[2];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 2; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    MPI_Barrier(comms[i]);
  }
  if (rank == ranks - 1) sleep(100);
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, take_part, &comms[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  printf("came to the end\n");
  MPI_Finalize();
  return 0;
}
