// SPDX-License-Identifier: BSD-3-Clause
//
// Long messages between buffers of all origins: of malloc and its kin, or of MPI_Alloc_mem (with "alloc"), with every
// value checked; windows on them; a fork between the calls. MPI is not called in children.
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most = 70000 };  // doubles of each part: 560 KB

extern char** environ;
static int rank, ranks, wrong, by_mpi;

static void check(int right, const char* what, int turn) {
  if (right) return;
  if (wrong++ < 5) fprintf(stderr, "rank %d, turn %d: %s is wrong\n", rank, turn, what);
}

static void* allocate(size_t bytes, int turn) {
  void* block = NULL;
  if (by_mpi) {
    MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &block);
    return block;
  }
  switch (turn % 6) {
    case 0: return malloc(bytes);
    case 1: return calloc(bytes / 8 + 1, 8);
    case 2: return realloc(malloc(1000), bytes);
    case 3: return posix_memalign(&block, 1 << 16, bytes) == 0 ? block : NULL;
    case 4: return aligned_alloc(64, (bytes + 63) / 64 * 64);
    default: return realloc(realloc(malloc(3 * bytes), bytes), bytes + 5000);
  }
}

static void give_back(void* block) { by_mpi ? (void)MPI_Free_mem(block) : free(block); }

static double value(int from, int to, int i, int turn) { return from * 7919 + to * 104729 + i % 1009 + turn; }

static void collectives(double* in, double* out, int n, int turn) {
  const int root = turn % ranks;
  int right = 1;
  for (int to = 0; to < ranks; ++to)
    for (int i = 0; i < n; ++i) in[to * n + i] = value(rank, to, i, turn);
  MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int k = 0; k < ranks * n; ++k) right &= out[k] == value(k / n, rank, k % n, turn);
  check(right, "alltoall", turn);
  MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int k = 0; k < ranks * n; ++k) right &= out[k] == value(k / n, 0, k % n, turn);
  check(right, "allgather", turn);
  MPI_Scatter(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) right &= out[i] == value(root, rank, i, turn);
  check(right, "scatter", turn);
  MPI_Gather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
  for (int k = 0; rank == root && k < ranks * n; ++k) right &= out[k] == value(k / n, 0, k % n, turn);
  check(right, "gather", turn);
  MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(in + n, out + n, n, MPI_DOUBLE, MPI_MAX, root, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int from = 0; from < ranks; ++from) sum += value(from, 0, i, turn);
    right &= out[i] == sum && (rank != root || out[n + i] == value(ranks - 1, 1, i, turn));
  }
  check(right, "a reduction", turn);
  MPI_Request request;
  MPI_Ibcast(in, ranks * n, MPI_DOUBLE, root, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int k = 0; k < ranks * n; ++k) right &= in[k] == value(root, k / n, k % n, turn);
  check(right, "bcast", turn);
}

/// A child sees what was there when it was made, whatever the parent and its peers do meanwhile; and they see nothing
/// of what it does.
static void with_a_child(double* in, double* out, int turn) {
  int begin[2], status = 0;
  char word = 0;
  for (int i = 0; i < most; ++i) in[i] = out[i] = rank * 1000 + i % 997;
  if (pipe(begin) != 0) abort();
  const pid_t child = fork();
  if (child == 0) {
    close(begin[1]);
    if (read(begin[0], &word, 1) != 1) _exit(2);
    for (int i = 0; i < most; ++i)
      if (in[i] != rank * 1000 + i % 997 || out[i] != rank * 1000 + i % 997) _exit(3);
    memset(in, 0xff, most * sizeof *in);
    double* more = malloc(most * sizeof *more);
    more = realloc(memset(more, 0, most * sizeof *more), 3 * most * sizeof *more);
    free(more);
    if (!by_mpi) in = realloc(in, 4 * most * ranks * sizeof *in);
    if (!in || !(in[most - 1] != in[most - 1])) _exit(4);
    if (!by_mpi) free(in), free(out);
    _exit(0);
  }
  close(begin[0]);
  collectives(in, out, most, turn);
  if (write(begin[1], "x", 1) != 1) abort();
  close(begin[1]);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "what a child has", WEXITSTATUS(status));
  for (int i = 0; i < ranks * most; ++i)
    check(in[i] == value(turn % ranks, i / most, i % most, turn), "the parent's", i);
  char* arguments[] = {"true", NULL};
  pid_t other;
  check(posix_spawnp(&other, "true", NULL, NULL, arguments, environ) == 0 && waitpid(other, &status, 0) == other,
        "a program that was started", turn);
}

static void window(double* memory) {
  MPI_Win win;
  for (int i = 0; i < most; ++i) memory[i] = -1;
  MPI_Win_create(memory, most * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  double* mine = allocate(most * sizeof *mine, 0);
  for (int i = 0; i < most; ++i) mine[i] = rank * 10 + i % 7;
  MPI_Win_fence(0, win);
  MPI_Put(mine, most, MPI_DOUBLE, (rank + 1) % ranks, 0, most, MPI_DOUBLE, win);
  MPI_Win_fence(0, win);
  const int from = (rank + ranks - 1) % ranks;
  for (int i = 0; i < most; ++i) check(memory[i] == from * 10 + i % 7, "what was put", i);
  MPI_Accumulate(mine, most, MPI_DOUBLE, (rank + 1) % ranks, 0, most, MPI_DOUBLE, MPI_SUM, win);
  MPI_Win_fence(0, win);
  MPI_Get(mine, most, MPI_DOUBLE, rank, 0, most, MPI_DOUBLE, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < most; ++i) check(mine[i] == 2 * (from * 10 + i % 7), "what was got", i);
  MPI_Win_free(&win);
  give_back(mine);
}

/// Blocks that come and go in several threads.
static void* churn(void* seed) {
  unsigned random = (unsigned)(uintptr_t)seed;
  unsigned char* blocks[8] = {0};
  size_t sizes[8] = {0};
  for (int turn = 0; turn < 300; ++turn) {
    random = random * 1664525 + 1013904223;
    const int k = (int)(random >> 8) % 8;
    const size_t bytes = 100000 + (random >> 12) % 500000;
    if (blocks[k] && (blocks[k][0] != k || blocks[k][sizes[k] - 1] != k)) return "other's";
    if (turn % 3 == 0) {
      free(blocks[k]);
      blocks[k] = calloc(1, bytes);
      if (blocks[k][0] != 0 || blocks[k][bytes / 2] != 0 || blocks[k][bytes - 1] != 0) return "not zero";
    } else {
      blocks[k] = realloc(blocks[k], bytes);
      if (sizes[k] > 0 && blocks[k][0] != k) return "not kept";
    }
    if (malloc_usable_size(blocks[k]) < bytes) return "too small";
    sizes[k] = bytes;
    blocks[k][0] = blocks[k][bytes - 1] = (unsigned char)k;
  }
  for (int k = 0; k < 8; ++k) free(blocks[k]);
  return NULL;
}

static void threads(void) {
  pthread_t all[4];
  void* fault = NULL;
  for (uintptr_t t = 0; t < 4; ++t) pthread_create(&all[t], NULL, churn, (void*)(t + 1));
  for (int t = 0; t < 4; ++t) {
    pthread_join(all[t], &fault);
    if (fault) fprintf(stderr, "a block is %s\n", (char*)fault);
    check(!fault, "a thread's block", t);
  }
}

int main(int argc, char** argv) {
  by_mpi = argc > 1 && strcmp(argv[1], "alloc") == 0;
  double* early = by_mpi ? NULL : allocate(2 * sizeof(double) * most, 0);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int turn = 0; turn < 12; ++turn) {
    const int n = turn % 3 == 0 ? most : turn % 3 == 1 ? most / 3 + turn : 2500;
    double* in = allocate(sizeof(double) * n * ranks, turn);
    double* out = allocate(sizeof(double) * n * ranks, turn / 2);
    collectives(in, out, n, turn);
    if (turn % 6 == 0) with_a_child(in, out, turn);
    if (turn == 3) window(in);
    give_back(in);
    give_back(out);
  }
  if (!by_mpi) threads();
  free(early);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && wrong == 0) printf("all right\n");
  MPI_Finalize();
  return wrong != 0;
}
