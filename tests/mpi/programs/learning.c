// SPDX-License-Identifier: BSD-3-Clause
//
// Many calls, whose results are checked, for tests of learning. Arguments: how many calls; then words:
//   apart     ranks come to a call at different times
//   large     calls are longer
//   long      and still longer: they can be cut into segments
//   mixed     several functions and sizes take turns, one of them with sizes that only some ranks know
//   split     half of the ranks has a communicator of its own, on which it calls more often
//   freed     calls are on communicators that are made and freed again and again
//   pending   nonblocking calls, of one kind with the blocking ones, are under way
//   threads   two threads call on communicators of their own
//   nonblocking   calls are nonblocking ones, for most of which the program waits at once
//   either    two are nonblocking ones before each that blocks
//   elsewhere     the program goes to the folder other
//   several   of these three are under way at once, and one ends late
//   persistent   calls are starts of requests, now and then of two at once, by each rank in another order
// Prints "all right", and how long the calls took.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arguments.c"

enum { most = 4096 };

static int rank, ranks, calls, nonblocking;

static void wrong(const char* what, int call) {
  fprintf(stderr, "rank %d: wrong result of %s, call %d\n", rank, what, call);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Some calls are waited for later, or are asked for first.
static void wait_for(MPI_Request* request, int call) {
  int flag = 0;
  if (call % 5 == 4) nanosleep(&(struct timespec){.tv_nsec = 1000 * (1 + rank)}, NULL);
  if (call % 11 == 10) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void allreduce(MPI_Comm comm, int n, int call) {
  int in[most], out[most], me, all;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &all);
  for (int i = 0; i < n; ++i) in[i] = me + i + call;
  if (nonblocking) {
    MPI_Request request;
    MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, comm, &request);
    wait_for(&request, call);
  } else {
    MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm);
  }
  for (int i = 0; i < n; ++i)
    if (out[i] != all * (i + call) + all * (all - 1) / 2) wrong("allreduce", call);
}

static void bcast(MPI_Comm comm, int n, int call) {
  int data[most], me, all;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &all);
  for (int i = 0; i < n; ++i) data[i] = me == call % all ? call + i : -1;
  if (nonblocking) {
    MPI_Request request;
    MPI_Ibcast(data, n, MPI_INT, call % all, comm, &request);
    wait_for(&request, call);
  } else {
    MPI_Bcast(data, n, MPI_INT, call % all, comm);
  }
  for (int i = 0; i < n; ++i)
    if (data[i] != call + i) wrong("bcast", call);
}

static void alltoallv(MPI_Comm comm, int n, int call) {
  int in[most], out[most], counts[64], places[64], me, all;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &all);
  for (int r = 0; r < all; ++r) {
    counts[r] = n;
    places[r] = r * n;
    for (int i = 0; i < n; ++i) in[r * n + i] = call + me * all + r;
  }
  if (nonblocking) {
    MPI_Request request;
    MPI_Ialltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm, &request);
    wait_for(&request, call);
  } else {
    MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm);
  }
  for (int r = 0; r < all; ++r)
    if (n > 0 && out[r * n] != call + r * all + me) wrong("alltoallv", call);
}

static void mixed(MPI_Comm comm, int call) {
  allreduce(comm, call % 3 == 0 ? 1000 : 2, call);
  if (call % 2 == 0) bcast(comm, 1 + call % 5, call);
  if (call % 4 == 0) alltoallv(comm, 2 + call / 64 % 8, call);
  if (call % 7 == 0) MPI_Barrier(comm);
}

static void freed(void) {
  for (int i = 0; i < calls / 200; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);  // nonblocking calls need one that has set it up
    for (int call = 0; call < (i % 3 == 0 ? 20 : 1200); ++call) allreduce(comm, 2, call);
    MPI_Request last = MPI_REQUEST_NULL;
    int one = 1, sum = 0;
    if (nonblocking) MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &last);
#ifdef OPEN_MPI  // whose own calls do not survive that
    MPI_Wait(&last, MPI_STATUS_IGNORE);
#endif
    MPI_Comm_free(&comm);
    MPI_Wait(&last, MPI_STATUS_IGNORE);
    if (nonblocking && sum != ranks) wrong("iallreduce on a freed communicator", i);
  }
}

static void pending(int call) {
  int one = rank + call, sum = 0, other = rank, others = 0;
  MPI_Request requests[2];
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  allreduce(MPI_COMM_WORLD, 1, call);
  MPI_Iallreduce(&other, &others, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (sum != ranks * call + ranks * (ranks - 1) / 2 || others != ranks * (ranks - 1) / 2) wrong("iallreduce", call);
}

/// Before one that blocks.
static void either(int n, int call) {
  nonblocking = 1;
  for (int i = 0; i < 2; ++i) allreduce(MPI_COMM_WORLD, n, call);
  nonblocking = 0;
}

static void several(int call) {
  enum { all = 3 };
  static MPI_Request late = MPI_REQUEST_NULL;
  static int late_in, late_sum;
  int in[all], sums[all];
  MPI_Request requests[all];
  for (int i = 0; i < all; ++i) {
    in[i] = rank + call + i;
    MPI_Iallreduce(&in[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
  }
  if (call % 4 == 3) {
    MPI_Wait(&late, MPI_STATUS_IGNORE);
    if (call > 3 && late_sum != ranks) wrong("late iallreduce", call);
    late_in = 1;
    MPI_Iallreduce(&late_in, &late_sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &late);
  }
  MPI_Waitall(all, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < all; ++i)
    if (sums[i] != ranks * (call + i) + ranks * (ranks - 1) / 2) wrong("iallreduce", call);
  if (call == calls - 1) MPI_Wait(&late, MPI_STATUS_IGNORE);
}

/// Of a type that the program frees when the requests are made.
enum { places = 3 };
static int given[most], sums[most], passed[2 * places];
static MPI_Request kept[2];

static void make_requests(int n) {
  MPI_Datatype every_other;
  MPI_Type_vector(places, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  MPI_Allreduce_init(given, sums, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &kept[0]);
  MPI_Bcast_init(passed, 1, every_other, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &kept[1]);
  MPI_Type_free(&every_other);
}

static void free_requests(void) {
  for (int i = 0; i < 2; ++i) MPI_Request_free(&kept[i]);
}

static void wait_for_start(MPI_Request* request, int call) {
  int flag = 0;
  MPI_Start(request);
  if (call % 11 == 10) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
  if (!flag) MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void persistent(int n, int call) {
  if (call % (calls / 2) == 0) {
    if (call > 0) free_requests();
    make_requests(n);
  }
  for (int i = 0; i < n; ++i) given[i] = rank + i + call;
  for (int i = 0; i < 2 * places; ++i) passed[i] = rank == 1 ? call + i : -1;
  if (call % 7 == 6) {
    for (int i = 0; i < 2; ++i) MPI_Start(&kept[(i + rank) % 2]);
    MPI_Waitall(2, kept, MPI_STATUSES_IGNORE);
  } else {
    for (int i = 0; i < 2; ++i) wait_for_start(&kept[i], call);
  }
  for (int i = 0; i < n; ++i)
    if (sums[i] != ranks * (i + call) + ranks * (ranks - 1) / 2) wrong("allreduce by request", call);
  for (int i = 0; i < 2 * places; ++i)
    if (passed[i] != (rank == 1 || i % 2 == 0 ? call + i : -1)) wrong("bcast by request", call);
  if (call == calls - 1) free_requests();
}

static void* in_thread(void* comm) {
  for (int call = 0; call < calls; ++call) allreduce(*(MPI_Comm*)comm, 2, call);
  return NULL;
}

static void threads(void) {
  MPI_Comm comms[2];
  pthread_t other;
  for (int i = 0; i < 2; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    MPI_Barrier(comms[i]);
  }
  pthread_create(&other, NULL, in_thread, &comms[0]);
  in_thread(&comms[1]);
  pthread_join(other, NULL);
  for (int i = 0; i < 2; ++i) MPI_Comm_free(&comms[i]);
}

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, is_given(argc, argv, "threads") ? MPI_THREAD_MULTIPLE : level, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  calls = atoi(argv[1]);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  nonblocking = is_given(argc, argv, "nonblocking");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(half);
  const int n = is_given(argc, argv, "long") ? most : is_given(argc, argv, "large") ? 2000 : 2;
  if (is_given(argc, argv, "elsewhere") && chdir("other") != 0) wrong("chdir", 0);
  const double begin = MPI_Wtime();
  if (is_given(argc, argv, "several")) {
    for (int call = 0; call < calls; ++call) several(call);
  } else if (is_given(argc, argv, "freed")) {
    freed();
  } else if (is_given(argc, argv, "threads")) {
    threads();
  } else {
    for (int call = 0; call < calls; ++call) {
      if (is_given(argc, argv, "apart") && call % 16 == rank % 16)
        nanosleep(&(struct timespec){.tv_nsec = 20000 * (1 + rank)}, NULL);
      if (is_given(argc, argv, "split"))
        for (int i = 0; i < 1 + rank % 2; ++i) allreduce(half, 3, call);
      if (is_given(argc, argv, "pending")) pending(call);
      if (is_given(argc, argv, "persistent")) persistent(n, call);
      if (is_given(argc, argv, "either")) either(n, call);
      is_given(argc, argv, "mixed") ? mixed(MPI_COMM_WORLD, call) : allreduce(MPI_COMM_WORLD, n, call);
    }
  }
  const double end = MPI_Wtime();
  MPI_Comm_free(&half);
  if (rank == 0) printf("%.6f s\nall right\n", end - begin);
  MPI_Finalize();
  return 0;
}
