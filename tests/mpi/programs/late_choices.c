/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nonblocking collectives of sizes that not all ranks know. Arguments: "kept": behind a blocking one like it, with
 * other counts between some of the ranks; "queued": several behind each other, while one rank comes late; "made": one
 * before a window and a file are made, which the MPI does by collectives of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_ranks = 8, most = 1 << 14, rounds = 20 };

static int rank, ranks;
static int in[most_ranks * most], out[most_ranks * most];
static int give[most_ranks], take[most_ranks], first[most_ranks];

static void check(int right, const char* what, int round) {
  if (right) return;
  fprintf(stderr, "rank %d: %s is wrong in round %d\n", rank, what, round);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Elements that two ranks send each other: with `more`, some more if one is the last and one the last but one. */
static int count_between(int a, int b, int count, int more) {
  return a != b && a + b == 2 * ranks - 3 ? count + more : count;
}

static void fill(int count, int more, int round) {
  for (int r = 0; r < ranks; ++r) {
    give[r] = take[r] = count_between(rank, r, count, more);
    first[r] = r * most;
    for (int i = 0; i < give[r]; ++i) in[first[r] + i] = round + ranks * rank + r;
  }
  memset(out, 0, sizeof out);
}

static void check_all(int round) {
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < take[r]; ++i) check(out[first[r] + i] == round + ranks * r + rank, "an alltoallv", round);
}

static void kept(MPI_Comm comm, int round) {
  const int count = most / 2;
  MPI_Request request;
  fill(count, 0, round);
  MPI_Alltoallv(in, give, first, MPI_INT, out, take, first, MPI_INT, comm);
  check_all(round);
  fill(count, 1 + round, round);
  MPI_Ialltoallv(in, give, first, MPI_INT, out, take, first, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_all(round);
}

static void queued(MPI_Comm comm, int round) {
  static int gathered[most_ranks], firsts[most_ranks], ones[most_ranks];
  int sum = 0;
  MPI_Request requests[3];
  for (int r = 0; r < ranks; ++r) {
    gathered[r] = -1;
    firsts[r] = r;
    ones[r] = 1;
  }
  fill(round % 2 ? most / 2 : 1, 0, round);
  if (rank == round % ranks) usleep(2000);
  MPI_Ialltoallv(in, give, first, MPI_INT, out, take, first, MPI_INT, comm, &requests[0]);
  MPI_Igatherv(&rank, 1, MPI_INT, gathered, ones, firsts, MPI_INT, 0, comm, &requests[1]);
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  check_all(round);
  for (int r = 0; r < ranks && rank == 0; ++r) check(gathered[r] == r, "a gatherv", round);
  check(sum == ranks * (ranks - 1) / 2, "an allreduce", round);
}

static void made(MPI_Comm comm, int round, const char* path) {
  MPI_Request request;
  fill(round < 8 ? 1 : most / 2, 0, round);  // ranks tell each other sizes in some calls only
  if (rank == round % ranks) usleep(2000);
  MPI_Ialltoallv(in, give, first, MPI_INT, out, take, first, MPI_INT, comm, &request);
  if (round % 2) {
    MPI_Win window;
    void* base;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &base, &window);
    MPI_Win_free(&window);
  } else {
    MPI_File file;
    check(MPI_File_open(comm, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS, "a file", round);
    MPI_File_close(&file);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_all(round);
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  alarm(90);  // rather than to hang
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(argc == 2 && ranks >= 2 && ranks <= most_ranks, "the call of this program", 0);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);  // after which nonblocking calls are served
  for (int round = 0; round < rounds; ++round) {
    if (strcmp(argv[1], "kept") == 0) kept(comm, round);
    if (strcmp(argv[1], "queued") == 0) queued(comm, round);
    if (strcmp(argv[1], "made") == 0) made(comm, round, argv[0]);
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  if (rank == 0) puts("all right");
  return 0;
}
