// SPDX-License-Identifier: BSD-3-Clause
//
// Nonblocking calls of several threads, each on a communicator of its own, while they wait for some that the main
// thread has posted: a request's handle may come again in another thread as soon as it is complete.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { threads = 4, turns = 200, in_flight = 8, shared = 64 };

static MPI_Comm comms[threads];
static MPI_Request requests[shared];
static double one = 1, sums[shared];

static void* work(void* number) {
  const int thread = (int)(long)number;
  double sum[in_flight];
  MPI_Request own[in_flight];
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = 0; i < in_flight; ++i) MPI_Iallreduce(&one, &sum[i], 1, MPI_DOUBLE, MPI_SUM, comms[thread], &own[i]);
    MPI_Waitall(in_flight, own, MPI_STATUSES_IGNORE);
  }
  for (int i = thread; i < shared; i += threads) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  return NULL;
}

int main(int argc, char** argv) {
  int given, rank;
  pthread_t all[threads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < threads; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    MPI_Barrier(comms[i]);
  }
  for (int i = 0; i < shared; ++i) MPI_Iallreduce(&one, &sums[i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
  for (long i = 0; i < threads; ++i) pthread_create(&all[i], NULL, work, (void*)i);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  for (int i = 0; i < threads; ++i) MPI_Comm_free(&comms[i]);
  if (rank == 0) printf("all right\n");
  MPI_Finalize();
  return 0;
}
