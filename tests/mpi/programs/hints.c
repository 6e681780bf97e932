// SPDX-License-Identifier: BSD-3-Clause
//
// Says by info keys which algorithms serve its communicators, and asks after each call which one did. Run with 4 ranks
// and a rules file that chooses BY_RULES.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BY_RULES "allreduce/reduce_bcast"
enum { elements = 3000 };

static int rank;
static const char* (*last_algorithm)(void);

static MPI_Info info_with(const char* key, const char* value) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  return info;
}

static void hint(MPI_Comm comm, const char* key, const char* value) {
  MPI_Info info = info_with(key, value);
  MPI_Comm_set_info(comm, info);
  MPI_Info_free(&info);
}

/// An allreduce in full; `expected` starts like the algorithm that serves it, or is null.
static void reduce(MPI_Comm comm, const char* expected, int line) {
  int in[elements], out[elements], ranks, me;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &me);
  for (int i = 0; i < elements; ++i) in[i] = me + i;
  for (int again = 0; again < 3; ++again) {
    MPI_Allreduce(in, out, elements, MPI_INT, MPI_SUM, comm);
    const char* used = last_algorithm();
    if (expected && strcmp(used, expected) != 0) {
      fprintf(stderr, "rank %d, line %d: %s and not %s\n", rank, line, used, expected);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  for (int i = 0; i < elements; ++i)
    if (out[i] != ranks * (ranks - 1) / 2 + ranks * i) MPI_Abort(MPI_COMM_WORLD, 1);
}
#define REDUCE(comm, expected) reduce(comm, expected, __LINE__)

static void ways_to_hint(void) {
  MPI_Comm comm, half;
  MPI_Info info = info_with("stretto_allreduce", "ring,segment=4K");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  REDUCE(comm, "allreduce/ring");
  hint(comm, "stretto_bcast", "binomial");  // the other key stays
  REDUCE(comm, "allreduce/ring");
  hint(comm, "stretto_allreduce", "circulant");  // after use
  REDUCE(comm, "allreduce/circulant");
  hint(comm, "stretto_allreduce", "native");
  REDUCE(comm, "native");
  hint(comm, "stretto_allreduce", "rules");
  REDUCE(comm, BY_RULES);
  MPI_Comm_dup(comm, &half);  // a duplicate has no hints
  REDUCE(half, BY_RULES);
  MPI_Comm_free(&half);
  MPI_Comm_free(&comm);

  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &comm);
  REDUCE(comm, "allreduce/ring");
  MPI_Comm_split(comm, rank % 2, 0, &half);
  REDUCE(half, BY_RULES);
  hint(half, "stretto_allreduce", rank % 2 ? "linear" : "recursive_doubling");
  REDUCE(half, rank % 2 ? "allreduce/linear" : "allreduce/recursive_doubling");
  MPI_Comm_free(&half);
  MPI_Comm_free(&comm);
  MPI_Info_free(&info);
}

static void what_is_ignored(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "rows");
  hint(comm, "stretto_allreduce", "rong");
  hint(comm, "stretto_alreduce", "ring");
  hint(comm, "something_else", "1");
  REDUCE(comm, BY_RULES);
  hint(comm, "stretto_allreduce", rank == 1 ? "ring" : "circulant");
  REDUCE(comm, BY_RULES);
  hint(comm, rank == 1 ? "stretto_allreduce" : "other", "ring");
  REDUCE(comm, BY_RULES);
  hint(comm, "stretto_allreduce", "ring");
  REDUCE(comm, "allreduce/ring");
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  last_algorithm = (const char* (*)(void))dlsym(RTLD_DEFAULT, "stretto_last_algorithm");
  if (!last_algorithm) return 1;
  if (argc > 1) {  // what the environment forces stands above the keys
    hint(MPI_COMM_WORLD, "stretto_allreduce", "ring");
    REDUCE(MPI_COMM_WORLD, argv[1]);
  } else {
    ways_to_hint();
    what_is_ignored();
    hint(MPI_COMM_SELF, "stretto_allreduce", "native");
    REDUCE(MPI_COMM_SELF, "native");
  }
  if (rank == 0) puts("all right");
  MPI_Finalize();
  return 0;
}
