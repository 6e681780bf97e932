// SPDX-License-Identifier: BSD-3-Clause
//
// Nonblocking and persistent collectives, with neighbours as well, in orders that MPI allows, and while a rank that
// others need sits in a function of files or of passive targets. Arguments: cases (those in main()). Says which hangs.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.c"

enum { kinds = 3, n = 3000, patience = 60 };  // an exchange with neighbours, an allgather, a persistent allreduce

struct calls {
  int in[2 * n], near[2 * n], sums[n], *all;
  MPI_Request requests[kinds];
};

static int rank, ranks;
static MPI_Comm ring[2];
static struct calls calls[2];
static char under_way[100];

static void hangs(int signal) {
  (void)signal;
  const ssize_t written = write(2, under_way, strlen(under_way));
  _exit(written > 0 ? 4 : 5);
}

static void enter(const char* name) {
  snprintf(under_way, sizeof under_way, "rank %d hangs in %s\n", rank, name);
  alarm(patience);
}

static void check(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "wrong: %s; or else: %s", what, under_way);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void make(struct calls* c, MPI_Comm on) {
  c->all = malloc(sizeof(int) * n * ranks);
  MPI_Allreduce_init(c->in, c->sums, n, MPI_INT, MPI_SUM, on, MPI_INFO_NULL, &c->requests[2]);
}

static void start(struct calls* c, MPI_Comm on, int seed) {
  for (int i = 0; i < 2 * n; ++i) c->in[i] = seed + 10 * rank + i % 7;
  memset(c->near, -1, sizeof c->near);
  memset(c->sums, -1, sizeof c->sums);
  MPI_Ineighbor_alltoall(c->in, n, MPI_INT, c->near, n, MPI_INT, on, &c->requests[0]);
  MPI_Iallgather(c->in, n, MPI_INT, c->all, n, MPI_INT, on, &c->requests[1]);
  MPI_Start(&c->requests[2]);
}

static void finish(struct calls* c, int seed) {
  const int below = (rank + ranks - 1) % ranks, above = (rank + 1) % ranks;
  MPI_Waitall(kinds, c->requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < n; ++i) {
    check(c->near[i] == seed + 10 * below + (n + i) % 7, "from the rank below");
    check(c->near[n + i] == seed + 10 * above + i % 7, "from the rank above");
    for (int r = 0; r < ranks; ++r) check(c->all[r * n + i] == seed + 10 * r + i % 7, "allgather");
    check(c->sums[i] == ranks * (seed + i % 7) + 5 * ranks * (ranks - 1), "allreduce");
  }
}

// One rank starts on both communicators, then waits; the others start on one at a time, in the opposite order.
static void crossed(void) {
  for (int turn = 0; turn < 3 * ranks; ++turn) {
    const int first = turn % ranks;
    if (rank == first)
      for (int c = 0; c < 2; ++c) start(&calls[c], ring[c], turn);
    for (int c = 1; c >= 0; --c) {
      if (rank != first) start(&calls[c], ring[c], turn);
      finish(&calls[rank == first ? 1 - c : c], turn);
    }
  }
}

// The communicator is freed while they are in flight.
static void freed(void) {
  for (int turn = 0; turn < 6; ++turn) {
    struct calls* gone = malloc(sizeof *gone);
    MPI_Comm copy;
    MPI_Comm_dup(ring[0], &copy);
    MPI_Barrier(copy);
    make(gone, copy);
    if (rank == turn % ranks) usleep(2000);
    start(gone, copy, turn);
    MPI_Comm_free(&copy);
    MPI_Barrier(MPI_COMM_WORLD);
    finish(gone, turn);
    MPI_Request_free(&gone->requests[2]);
    free(gone->all);
    free(gone);
  }
}

// Where rank `sits` waits until `helper` has completed its calls, and does its part behind that.
enum { in_lock, in_post, in_file, in_write, places };
static const char* const names[places] = {"MPI_Win_lock to MPI_Win_unlock", "MPI_Win_wait", "MPI_File_open",
                                          "MPI_File_write_at_all"};
static MPI_Win window;
static MPI_File file;
static const char* path;
static int in_window[8];

static void begin_group(int with, int (*begin)(MPI_Group, int, MPI_Win)) {
  MPI_Group world, other;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &with, &other);
  begin(other, 0, window);
  MPI_Group_free(&other);
  MPI_Group_free(&world);
}

static void with_all(int place) {
  MPI_Status status;
  if (place == in_file) {
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  } else if (place == in_write) {
    MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof rank, &rank, 1, MPI_INT, &status);
    MPI_File_close(&file);
  }
}

static void sit(int place, int helper) {
  const int word = 42;
  if (place == in_lock) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, helper, 0, window);
    MPI_Put(&word, 1, MPI_INT, helper, 0, 1, MPI_INT, window);
    MPI_Win_unlock(helper, window);
  } else if (place == in_post) {
    begin_group(helper, MPI_Win_post);
    MPI_Win_wait(window);
    check(in_window[1] == word, "what was put");
  }
  with_all(place);
}

static void help(int place, int sits) {
  const int word = 42;
  if (place == in_lock) MPI_Win_unlock(rank, window);
  if (place != in_post) return;
  begin_group(sits, MPI_Win_start);
  MPI_Put(&word, 1, MPI_INT, sits, 1, 1, MPI_INT, window);
  MPI_Win_complete(window);
}

static void sitting(void) {
  MPI_Win_create(in_window, sizeof in_window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int place = 0; place < places; ++place) {
    const int sits = place % ranks, helper = (sits + 1) % ranks;
    enter(names[place]);
    memset(in_window, 0, sizeof in_window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (place == in_lock && rank == helper) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != sits) usleep(2000);
    for (int c = 0; c < 2; ++c) start(&calls[c], ring[c], place);
    if (rank == sits) sit(place, helper);
    for (int c = 0; c < 2; ++c) finish(&calls[c], place);
    if (rank == helper) help(place, sits);
    if (rank != sits) with_all(place);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_free(&window);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"crossed", crossed}, {"freed", freed}, {"sitting", sitting}};
  const int periodic = 1;
  path = argv[1];
  signal(SIGALRM, hangs);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int c = 0; c < 2; ++c) {
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring[c]);
    MPI_Barrier(ring[c]);
    make(&calls[c], ring[c]);
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    enter(cases[i].name);
    if (is_given(argc, argv, cases[i].name)) cases[i].run();
  }
  enter("MPI_Finalize");
  for (int c = 0; c < 2; ++c) {
    MPI_Request_free(&calls[c].requests[2]);
    free(calls[c].all);
    MPI_Comm_free(&ring[c]);
  }
  MPI_Finalize();
  if (rank == 0) puts("all right");
  return 0;
}
