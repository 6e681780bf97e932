// SPDX-License-Identifier: BSD-3-Clause
//
// All 17 persistent collectives: made, started five times with new contents of the buffers, completed in every way,
// freed. Arguments: cases (every, order, mixed, inactive, freed), and perhaps native, for a run without Stretto, or
// converts: see every_collective.c. Prints how often rank 0 made and started what.
#include <mpi.h>
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define PERSISTENT
#include <signal.h>
#include <unistd.h>

#include "arguments.c"
#include "every_collective.c"
#include "every_wait.c"

enum { turns = 5, groups = 8, most_numbers = 1 << 14 };

static int ranks;
static unsigned own;  // state from which numbers are drawn that differ on all ranks

// Starts in a random order. MPI 4.0, 6.13: calls are matched by the order in which they were made; that in which they
// are started may differ among ranks.
static void start_in_any_order(int n, MPI_Request* requests) {
  int started[2 * in_flight] = {0};
  for (int i = 0; i < n;) {
    const int at = (int)draw(&own, n);
    if (started[at]) continue;
    MPI_Start(&requests[at]);
    started[at] = 1;
    ++i;
  }
}

static void run_turns(int n, struct job* jobs, MPI_Request* requests, int in_order) {
  MPI_Request kept[in_flight];
  memcpy(kept, requests, sizeof kept);
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = 0; i < n; ++i) {
      jobs[i].seed += 7919;
      fill(&jobs[i]);
      ++starts[jobs[i].function];
    }
    if (!in_order) start_in_any_order(n, requests);
    if (in_order && turn % 2) MPI_Startall(n, requests);
    for (int i = 0; i < n && in_order && turn % 2 == 0; ++i) MPI_Start(&requests[i]);
    complete(n, requests, draw(&own, ways), &own);
    for (int i = 0; i < n; ++i) {
      if (requests[i] != kept[i]) wrong("request that should stay", &jobs[i]);
      check(&jobs[i]);
    }
  }
}

static void free_all(int n, struct job* jobs, MPI_Request* requests) {
  for (int i = 0; i < n; ++i) {
    MPI_Request_free(&requests[i]);
    if (requests[i] != MPI_REQUEST_NULL) wrong("freed request", &jobs[i]);
    drop(&jobs[i]);
  }
}

// Of Intel MPI 2021.18's own these three move a rank's own part only the first time.
static enum function sound(enum function f) {
#ifdef I_MPI_VERSION
  if (native && (f == gather || f == scatter || f == allgather)) return f + 1;
#endif
  return f;
}

static void make_group(int group, struct job* jobs, MPI_Request* requests, const MPI_Comm* comm, int communicators) {
  static const int bytes[] = {8, 20 << 10, 8, 20 << 10, 1 << 20};
  for (int i = 0; i < in_flight; ++i) {
    const int number = group * in_flight + i;
    struct job* j = &jobs[i];
    int size;
    *j = (struct job){.function = sound(number % functions), .kind = (number / functions + i) % kinds, .seed = number};
    j->comm = comm[number % communicators];
    MPI_Comm_size(j->comm, &size);
    j->in_place = number % 3 == 0;
    j->large = has_large && number % 4 == 1;
    j->shape = number;
    j->root = number % size;
    const int elements = bytes[(number + group) % 5] / (int)size_of(j->kind);
    j->n = number % 11 == 10 ? 0 : is_parted(j->function) ? (elements + size - 1) / size : elements;
    make(j);
    begin(j, &requests[i]);
  }
}

static void groups_of(int first, int last, const MPI_Comm* comm, int communicators, int in_order) {
  struct job jobs[in_flight];
  MPI_Request requests[in_flight];
  for (int group = first; group < last; ++group) {
    make_group(group, jobs, requests, comm, communicators);
    run_turns(in_flight, jobs, requests, in_order);
    free_all(in_flight, jobs, requests);
  }
}

static void every(void) {
  MPI_Comm comm[comms];
  MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm[1]);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &comm[2]);
  groups_of(0, groups, comm, comms, 1);
  for (int c = 0; c < comms; ++c) MPI_Comm_free(&comm[c]);
}

// Besides, one rank starts a persistent call before, another one behind a nonblocking and a blocking call.
static void order(void) {
#ifdef I_MPI_VERSION
  if (native) return;  // Intel MPI 2021.18's own v and w functions are matched by their starts
#endif
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  groups_of(1, 3, &comm, 1, 0);
  int in[3] = {1, 10, 100}, out[3];
  MPI_Request kept, requests[2];
  MPI_Allreduce_init(&in[0], &out[0], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &kept);
  ++made[allreduce];
  for (int turn = 0; turn < turns; ++turn) {
    const int at = (turn + world_rank) % 3;
    out[0] = out[1] = out[2] = -1;
    requests[0] = kept;
    if (at == 0) MPI_Start(&requests[0]);
    MPI_Iallreduce(&in[1], &out[1], 1, MPI_INT, MPI_SUM, comm, &requests[1]);
    if (at == 1) MPI_Start(&requests[0]);
    MPI_Allreduce(&in[2], &out[2], 1, MPI_INT, MPI_SUM, comm);
    if (at == 2) MPI_Start(&requests[0]);
    complete(2, requests, draw(&own, ways), &own);
    if (out[0] != ranks || out[1] != 10 * ranks || out[2] != 100 * ranks) wrong("sum of calls of three kinds", NULL);
    ++starts[allreduce], ++calls[allreduce], ++calls[allreduce];
  }
  MPI_Request_free(&kept);
  MPI_Comm_free(&comm);
}

// Persistent messages and collectives in one array, which MPI_Startall starts.
static void mixed(void) {
  static double in[most_numbers], sums[most_numbers], message[2][most_numbers];
  const int right = (world_rank + 1) % ranks, left = (world_rank + ranks - 1) % ranks;
  for (int n = 1; n <= most_numbers; n *= 128) {
    MPI_Request requests[4], kept[4];
    MPI_Send_init(message[0], n, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Allreduce_init(in, sums, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Recv_init(message[1], n, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
    memcpy(kept, requests, sizeof kept);
    ++made[allreduce], ++made[barrier];
    for (int turn = 0; turn < turns; ++turn) {
      for (int i = 0; i < n; ++i) in[i] = turn + i, message[0][i] = world_rank + turn + i;
      MPI_Startall(4, requests);
      ++starts[allreduce], ++starts[barrier];
      complete(4, requests, draw(&own, ways), &own);
      for (int i = 0; i < n; ++i)
        if (sums[i] != (double)ranks * (turn + i) || message[1][i] != left + turn + i) wrong("mixed array", NULL);
      if (memcmp(kept, requests, sizeof kept) != 0) wrong("requests of a mixed array", NULL);
    }
    for (int i = 0; i < 4; ++i) MPI_Request_free(&requests[i]);
  }
}

static void expect_empty(const MPI_Status* status, const char* what) {
  int count = -1, cancelled = 1;
  MPI_Get_count(status, MPI_INT, &count);
  MPI_Test_cancelled(status, &cancelled);
  if (status->MPI_SOURCE != MPI_ANY_SOURCE || status->MPI_TAG != MPI_ANY_TAG || count != 0 || cancelled)
    wrong(what, NULL);
}

static void wait_for_nothing(MPI_Request* request, const char* when) {
  const MPI_Request kept = *request;
  MPI_Status status[2];
  int flag = 0, at = 0, some = 0, places[1];
  MPI_Wait(request, &status[0]);
  expect_empty(&status[0], when);
  MPI_Test(request, &flag, &status[1]);
  expect_empty(&status[1], when);
  if (!flag) wrong("flag of MPI_Test", NULL);
  MPI_Waitany(1, request, &at, MPI_STATUS_IGNORE);
  if (at != MPI_UNDEFINED) wrong("index of MPI_Waitany", NULL);
  MPI_Testany(1, request, &at, &flag, &status[0]);
  if (!flag || at != MPI_UNDEFINED) wrong("flag or index of MPI_Testany", NULL);
  expect_empty(&status[0], when);
  MPI_Waitsome(1, request, &some, places, status);
  if (some != MPI_UNDEFINED) wrong("count of MPI_Waitsome", NULL);
#ifndef OPEN_MPI
  if (!native)  // MPICH 5.0.2's own, like Intel MPI 2021.18's, waits for ever, and tests in vain
#endif
  {
    MPI_Waitall(1, request, status);
    expect_empty(status, when);
    MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE);
    if (!flag) wrong("flag of MPI_Testall", NULL);
  }
  MPI_Request_get_status(*request, &flag, &status[1]);
  if (!flag) wrong("flag of MPI_Request_get_status", NULL);
  expect_empty(&status[1], when);
  if (*request != kept) wrong("inactive request", NULL);
}

static void inactive(void) {
  int one = 1, sum = 0;
  MPI_Request request, never;
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Bcast_init(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &never);
  ++made[allreduce], ++made[bcast];
  wait_for_nothing(&request, "wait for a request never started");
  for (int turn = 0; turn < turns; ++turn) {
    sum = 0;
    MPI_Start(&request);
    ++starts[allreduce];
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (sum != ranks) wrong("sum", NULL);
    wait_for_nothing(&request, "wait for a completed request");
  }
  MPI_Request_free(&request);
  wait_for_nothing(&never, "wait for a request that is to be freed");
  MPI_Request_free(&never);
  if (request != MPI_REQUEST_NULL || never != MPI_REQUEST_NULL) wrong("freed request", NULL);
}

// The communicator is freed while the calls are active; the requests outlive it. Others may get its handle.
static void freed(void) {
#ifdef OPEN_MPI
  if (native) return;  // Open MPI 5.0.11's own crash: they keep no hold of the communicator
#endif
  for (int turn = 0; turn < turns; ++turn) {
    struct job jobs[2] = {{.function = allreduce, .n = 5000}, {.function = alltoall, .n = 5000}};
    MPI_Comm comm, next;
    MPI_Request requests[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 2; ++i) {
      jobs[i].comm = comm;
      make(&jobs[i]);
      begin(&jobs[i], &requests[i]);
      ++starts[jobs[i].function];
    }
    MPI_Startall(2, requests);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, &next);
    MPI_Barrier(next);
    ++calls[barrier];
    complete(2, requests, draw(&own, ways), &own);
    for (int i = 0; i < 2; ++i) check(&jobs[i]);
    free_all(2, jobs, requests);
    MPI_Comm_free(&next);
  }
}

static const char* under_way = "MPI_Init";

static void hangs(int signal) {
  (void)signal;
  const ssize_t written = write(2, "hangs in ", 9) + write(2, under_way, strlen(under_way)) + write(2, "\n", 1);
  _exit(written > 0 ? 4 : 5);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"every", every}, {"order", order}, {"mixed", mixed}, {"inactive", inactive}, {"freed", freed}};
  native = is_given(argc, argv, "native");
  converts = is_given(argc, argv, "converts");
  signal(SIGALRM, hangs);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  own = world_rank + 1;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    if (is_given(argc, argv, cases[i].name)) {
      under_way = cases[i].name;
      alarm(60);
      cases[i].run();
    }
  print_counts();
  MPI_Finalize();
  if (world_rank == 0) puts("all right");
  return 0;
}

#else
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Finalize();
  if (rank == 0) puts("this MPI has no persistent collectives\nall right");
  return 0;
}
#endif
