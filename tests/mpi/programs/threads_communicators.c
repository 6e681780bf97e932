// SPDX-License-Identifier: BSD-3-Clause
//
// Threads that at the same time duplicate, split, use and free communicators, each those of its own line.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 4, rounds = 60, most = 3000 };

static MPI_Comm lines[threads];

static void check(int correct, const char* what, int thread, int round) {
  if (correct) return;
  fprintf(stderr, "thread %d, round %d: wrong: %s\n", thread, round, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/// The same on all ranks of a line.
static unsigned next(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static void use(MPI_Comm comm, int thread, int round, unsigned* seed) {
  static _Thread_local int in[most], out[4 * most];
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int n = 1 + (int)(next(seed) % (most - 1)), root = n % ranks;
  for (int i = 0; i < n; ++i) in[i] = rank * 7 + i + thread;
  MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < n; ++i)
    check(out[i] == 7 * ranks * (ranks - 1) / 2 + ranks * (i + thread), "allreduce", thread, round);
  MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, comm);
  for (int i = 0; i < n * ranks; ++i) check(out[i] == i / n * 7 + i % n + thread, "allgather", thread, round);
  for (int i = 0; i < n; ++i) out[i] = rank == root ? in[i] : -1;
  MPI_Bcast(out, n, MPI_INT, root, comm);
  for (int i = 0; i < n; ++i) check(out[i] == root * 7 + i + thread, "bcast", thread, round);
  MPI_Barrier(comm);
}

static void* work(void* argument) {
  const int thread = *(int*)argument;
  unsigned seed = 12345u + (unsigned)thread;
  int rank;
  MPI_Comm_rank(lines[thread], &rank);
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm comm;
    const unsigned what = next(&seed);
    if (what % 2)
      MPI_Comm_dup(lines[thread], &comm);
    else
      MPI_Comm_split(lines[thread], what / 2 % 2 ? rank & 1 : rank >> 1, what & 8 ? -rank : rank, &comm);
    for (int i = 0; i < 3; ++i) use(comm, thread, round, &seed);
    use(lines[thread], thread, round, &seed);
    MPI_Comm_free(&comm);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int given, rank, numbers[threads];
  pthread_t all[threads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  if (given != MPI_THREAD_MULTIPLE) return 4;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int t = 0; t < threads; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &lines[t]);
  for (int t = 0; t < threads; ++t) {
    numbers[t] = t;
    pthread_create(&all[t], NULL, work, &numbers[t]);
  }
  for (int t = 0; t < threads; ++t) pthread_join(all[t], NULL);
  for (int t = 0; t < threads; ++t) MPI_Comm_free(&lines[t]);
  if (rank == 0) printf("all right\n");
  MPI_Finalize();
  return 0;
}
