/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Persistent collectives that ranks start at different times: some before and some behind blocking collectives on the
 * same communicator. Then by a thread of their own, while another one makes the blocking calls. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 1 << 14, rounds = 30 };

static int rank, ranks;
static MPI_Request request;
static int in[most], out[most];

static void check(int right, const char* what, int count) {
  if (right) return;
  fprintf(stderr, "rank %d: %s of %d is wrong\n", rank, what, count);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void blocking(MPI_Comm comm, int round) {
  int number = rank == round % ranks ? round : -1, mine = rank, sum = 0;
  MPI_Bcast(&number, 1, MPI_INT, round % ranks, comm);
  check(number == round, "a bcast", 1);
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  check(sum == ranks * (ranks - 1) / 2, "a sum", 1);
}

static void finish(int count, int round) {
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < count; ++i) check(out[i] == ranks * round + ranks * (ranks - 1) / 2, "a persistent sum", count);
}

static void fill(int count, int round) {
  for (int i = 0; i < count; ++i) in[i] = round + rank;
}

static void in_turns(MPI_Comm comm, int count) {
  for (int round = 0; round < rounds; ++round) {
    const int early = (rank + round) % 2 == 0;
    fill(count, round);
    if (early) MPI_Start(&request);
    blocking(comm, round);
    if (!early) MPI_Start(&request);
    if (early) finish(count, round);
    blocking(comm, round);
    if (!early) finish(count, round);
  }
}

static void* start_all(void* counted) {
  const int count = *(const int*)counted;
  for (int round = 0; round < rounds; ++round) {
    fill(count, round);
    MPI_Start(&request);
    finish(count, round);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Comm comm;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(level == MPI_THREAD_MULTIPLE, "the level", level);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int count = 1; count <= most; count *= 128) {
    MPI_Allreduce_init(in, out, count, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
    in_turns(comm, count);
    pthread_t starter;
    pthread_create(&starter, NULL, start_all, &count);
    for (int round = 0; round < rounds; ++round) blocking(comm, round);
    pthread_join(starter, NULL);
    MPI_Request_free(&request);
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  if (rank == 0) puts("all right");
  return 0;
}
