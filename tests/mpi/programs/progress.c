/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a rank has under way in the MPI goes on while it waits in a collective, because another rank needs that before
 * it comes there: a long message, a nonblocking collective, and access to a window. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { count = 1 << 20 };

static void check(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "%s is wrong\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void long_message(int rank, double* data) {
  if (rank == 0) {
    MPI_Request request;
    MPI_Isend(data, count, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  if (rank == 1) {
    MPI_Recv(data, count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(data[0] == 7 && data[count - 1] == 7, "the message");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void nonblocking(int rank, int ranks, MPI_Comm other) {
  int one = 1, sum = 0;
  MPI_Request request;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other, &request);
  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank != 0) MPI_Barrier(MPI_COMM_WORLD);
  check(sum == ranks, "the sum");
}

static void window(int rank, int ranks) {
  int* memory = NULL;
  MPI_Win win;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  *memory = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) {
    const int one = 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    check(*memory == ranks - 1, "the window");
    MPI_Win_unlock(0, win);
  }
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  double* data = malloc(count * sizeof *data);
  for (int i = 0; i < count; ++i) data[i] = rank == 0 ? 7 : 0;
  for (int i = 0; i < 20; ++i) {
    long_message(rank, data);
    nonblocking(rank, ranks, other);
  }
  window(rank, ranks);
  free(data);
  MPI_Comm_free(&other);
  MPI_Finalize();
  if (rank == 0) puts("all right");
  return 0;
}
