// SPDX-License-Identifier: BSD-3-Clause
//
// replay CALLS FILE: makes CALLS collective calls, back to back, those of FILE in order and again from its first. Each
// line names a function, a form and the bytes that rules go by: "allreduce blocking 8". Prints the seconds that the
// slowest rank took; the last sum is checked.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { allreduce, reduce, bcast, allgather, alltoall, gather, scatter, scan, exscan, barrier, functions };
static const char* const names[functions] = {"allreduce", "reduce",  "bcast", "allgather", "alltoall",
                                             "gather",    "scatter", "scan",  "exscan",    "barrier"};

struct Call {
  int function, nonblocking;
  int elements;  // of the vector, or of a rank's part
  MPI_Datatype type;
};

static int ranks, rank;
static void *input, *output;

static void fail(const char* what) {
  if (rank == 0) fprintf(stderr, "replay: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static struct Call read_call(const char* line) {
  char function[64], form[64];
  long bytes = 0;
  if (sscanf(line, "%63s %63s %ld", function, form, &bytes) != 3 || bytes < 0 || bytes > 1 << 24)
    fail("a line is not 'FUNCTION FORM BYTES', of 16 MiB at most");
  struct Call call = {.nonblocking = strcmp(form, "nonblocking") == 0};
  while (call.function < functions && strcmp(function, names[call.function]) != 0) ++call.function;
  if (call.function == functions) fail("a function that cannot be replayed");
  const int parted = call.function >= allgather && call.function <= scatter;
  const long size = parted ? bytes / ranks : bytes;
  call.type = size % 8 == 0 ? MPI_DOUBLE : size % 4 == 0 ? MPI_INT : MPI_CHAR;
  call.elements = (int)(size / (size % 8 == 0 ? 8 : size % 4 == 0 ? 4 : 1));
  return call;
}

/// With a handle of its own: a rank that waits at once is what most programs do.
#define MAKE(name, ...)                      \
  do {                                       \
    if (call.nonblocking) {                  \
      MPI_I##name(__VA_ARGS__, &request);    \
      MPI_Wait(&request, MPI_STATUS_IGNORE); \
    } else {                                 \
      MPI_##name(__VA_ARGS__);               \
    }                                        \
  } while (0)

#define MPI_IAllreduce MPI_Iallreduce
#define MPI_IReduce MPI_Ireduce
#define MPI_IBcast MPI_Ibcast
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IGather MPI_Igather
#define MPI_IScatter MPI_Iscatter
#define MPI_IScan MPI_Iscan
#define MPI_IExscan MPI_Iexscan
#define MPI_IBarrier MPI_Ibarrier

static void make(struct Call call) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int n = call.elements;
  const MPI_Datatype t = call.type;
  MPI_Request request;
  switch (call.function) {
    case allreduce: MAKE(Allreduce, input, output, n, t, MPI_SUM, world); break;
    case reduce: MAKE(Reduce, input, output, n, t, MPI_SUM, 0, world); break;
    case bcast: MAKE(Bcast, input, n, t, 0, world); break;
    case allgather: MAKE(Allgather, input, n, t, output, n, t, world); break;
    case alltoall: MAKE(Alltoall, input, n, t, output, n, t, world); break;
    case gather: MAKE(Gather, input, n, t, output, n, t, 0, world); break;
    case scatter: MAKE(Scatter, output, n, t, input, n, t, 0, world); break;
    case scan: MAKE(Scan, input, output, n, t, MPI_SUM, world); break;
    case exscan: MAKE(Exscan, input, output, n, t, MPI_SUM, world); break;
    default: MAKE(Barrier, world); break;
  }
}

static struct Call* read_calls(const char* path, int* count) {
  FILE* file = fopen(path, "r");
  if (!file) fail("the list of calls cannot be read");
  struct Call* all = NULL;
  char line[256];
  int room = 0;
  for (*count = 0; fgets(line, sizeof line, file); ++*count) {
    if (*count == room) {
      room = room > 0 ? 2 * room : 1024;
      all = realloc(all, (size_t)room * sizeof *all);
      if (!all) fail("no memory");
    }
    all[*count] = read_call(line);
  }
  fclose(file);
  if (*count == 0) fail("the list of calls is empty");
  return all;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3) fail("usage: replay CALLS FILE");
  int count = 0;
  struct Call* all = read_calls(argv[2], &count);
  input = calloc(1, 1 << 25);
  output = calloc(1, 1 << 25);
  if (!input || !output) fail("no memory");
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const int calls = atoi(argv[1]);
  for (int i = 0; i < calls; ++i) make(all[i % count]);
  double mine = MPI_Wtime() - begin, slowest = 0, one = 1, sum = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (sum != ranks) fail("a wrong sum");
  if (rank == 0) printf("%.9f\n", slowest);
  free(all);
  free(input);
  free(output);
  MPI_Finalize();
  return 0;
}
