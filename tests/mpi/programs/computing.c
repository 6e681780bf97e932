/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nonblocking and persistent collectives end while every rank computes and calls no MPI: it reads what a call brings
 * until it is there. The level of threads is the one that the program asked for. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { most = 1 << 17, patience = 30 /* seconds */ };

static int rank, ranks;

static void check(int right, const char* what, int count) {
  if (right) return;
  fprintf(stderr, "rank %d: %s of %d\n", rank, what, count);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int all_are(const volatile double* data, int count, double value) {
  for (int i = 0; i < count; ++i)
    if (data[i] != value) return 0;
  return 1;
}

/* Computes until `count` numbers have that value. */
static void compute_until(const volatile double* data, int count, double value, const char* what) {
  const double begun = seconds();
  while (!all_are(data, count, value)) check(seconds() - begun < patience, what, count);
}

static void fill(double* data, int count, double value) {
  for (int i = 0; i < count; ++i) data[i] = value;
}

static void of_count(int count, double* in, double* out) {
  MPI_Request request;
  fill(in, count, rank + 1);
  fill(out, count, -1);
  MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  compute_until(out, count, ranks * (ranks + 1) / 2.0, "an allreduce does not end");
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  fill(out, count, rank == 1 ? 7 : -1);
  MPI_Ibcast(out, count, MPI_DOUBLE, 1, MPI_COMM_WORLD, &request);
  compute_until(out, count, 7, "a bcast does not end");
  MPI_Barrier(MPI_COMM_WORLD); /* beside it */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#if MPI_VERSION >= 4
static void persistent(int count, double* in, double* out) {
  MPI_Request request;
  MPI_Allreduce_init(in, out, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 3; ++i) {
    fill(in, count, i + rank);
    fill(out, count, -1);
    MPI_Start(&request);
    compute_until(out, count, i + ranks - 1, "a persistent allreduce does not end");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}
#endif

int main(int argc, char** argv) {
  int provided = -1, level = -1;
  const int asked = argc > 1 ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE;
  if (argc > 1)
    MPI_Init_thread(&argc, &argv, asked, &provided);
  else
    MPI_Init(&argc, &argv);
  MPI_Query_thread(&level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(level == asked && (argc == 1 || provided == asked), "another level of threads instead", level);
  double* in = malloc(most * sizeof *in);
  double* out = malloc(most * sizeof *out);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int count = 1; count <= most; count *= 32) {
    of_count(count, in, out);
#if MPI_VERSION >= 4
    persistent(count, in, out);
#endif
  }
  free(in);
  free(out);
  MPI_Finalize();
  if (rank == 0) puts("all right");
  return 0;
}
