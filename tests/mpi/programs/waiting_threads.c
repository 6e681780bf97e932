// SPDX-License-Identifier: BSD-3-Clause
//
// Two threads of each rank wait for nonblocking allreduces, each on a communicator of its own, from which the last rank
// stays away.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void* take_part(void* of) {
  MPI_Comm comm = *(const MPI_Comm*)of;
  int sum = 0, one = 1;
  MPI_Request request;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return NULL;
}

int main(int argc, char** argv) {
  int rank, ranks, level;
  MPI_Comm comms[2];
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
