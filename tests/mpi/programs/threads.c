// SPDX-License-Identifier: BSD-3-Clause
//
// Threads that call collectives at the same time, each on a communicator of its own; then these go from hand to hand.
// Then more threads, one after the other, than could have memory of their own at once.
// Argument: first (the first calls are made by one thread) or together (by all at once).
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads = 3, handovers = 4, short_lived = 100, most = 1 << 17 };  // doubles: 1 MiB

static int rank, ranks;
static MPI_Comm comms[threads];
static pthread_barrier_t together;

static void check(int correct, const char* what, int thread, int n) {
  if (correct) return;
  fprintf(stderr, "rank %d, thread %d: wrong: %s of %d\n", rank, thread, what, n);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void collectives(MPI_Comm comm, int thread, int n, double* in, double* out) {
  const int root = (thread + n) % ranks, others = ranks * (ranks - 1) / 2;
  for (int i = 0; i < n; ++i) in[i] = rank + thread + i;
  MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, comm);
  for (int i = 0; i < n; ++i) check(out[i] == others + (double)ranks * (thread + i), "allreduce", thread, n);
  for (int i = 0; i < n; ++i) out[i] = rank == root ? in[i] : -1;
  MPI_Bcast(out, n, MPI_DOUBLE, root, comm);
  for (int i = 0; i < n; ++i) check(out[i] == root + thread + i, "bcast", thread, n);
  const int each = n / ranks;
  MPI_Alltoall(in, each, MPI_DOUBLE, out, each, MPI_DOUBLE, comm);
  for (int i = 0; i < each * ranks; ++i)
    check(out[i] == i / each + thread + rank * each + i % each, "alltoall", thread, n);
  MPI_Barrier(comm);
}

static void* work(void* argument) {
  const int thread = *(int*)argument;
  double* in = malloc(sizeof(double) * most);
  double* out = malloc(sizeof(double) * most);
  for (int turn = 0; turn < handovers; ++turn) {
    const int comm = (thread + turn) % threads;
    pthread_barrier_wait(&together);
    for (int n = 1; n <= most; n = n == 1 ? 32 : n * 8) collectives(comms[comm], comm, n, in, out);
    for (int i = 0; i < 100; ++i) collectives(comms[comm], comm, 1 + i, in, out);
  }
  free(in);
  free(out);
  return NULL;
}

static void* work_once(void* argument) {
  double in[64], out[64];
  collectives(comms[0], *(int*)argument, 64, in, out);
  return NULL;
}

int main(int argc, char** argv) {
  int given, numbers[threads];
  double one[2] = {0, 0};
  pthread_t all[threads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  if (given != MPI_THREAD_MULTIPLE) return 4;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  pthread_barrier_init(&together, NULL, threads);
  for (int t = 0; t < threads; ++t) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    if (!strcmp(argv[1], "first")) MPI_Allreduce(&one[0], &one[1], 1, MPI_DOUBLE, MPI_SUM, comms[t]);
  }
  for (int t = 0; t < threads; ++t) {
    numbers[t] = t;
    pthread_create(&all[t], NULL, work, &numbers[t]);
  }
  for (int t = 0; t < threads; ++t) pthread_join(all[t], NULL);
  for (int i = 0; i < short_lived; ++i) {
    pthread_create(&all[0], NULL, work_once, &i);
    pthread_join(all[0], NULL);
  }
  for (int t = 0; t < threads; ++t) MPI_Comm_free(&comms[t]);
  if (rank == 0) printf("all right\n");
  MPI_Finalize();
  return 0;
}
