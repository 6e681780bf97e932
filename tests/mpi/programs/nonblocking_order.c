// SPDX-License-Identifier: BSD-3-Clause
//
// Every order of nonblocking collectives, waits and other calls that MPI allows must end. Arguments: cases (those
// in main()), and perhaps native, for a run without Stretto. Says which case hangs after a minute.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.c"

enum what { sums, copies, exchanges, whats };  // MPI_Iallreduce, MPI_Ibcast from rank root, MPI_Ialltoall
enum { sizes = 3, comms = 3, patience = 60 };

struct operation {
  enum what what;
  int n, root, seed, *in, *out;  // n numbers, or n between any two ranks
  MPI_Request request;
};

static const int bytes[sizes] = {8, 64 << 10, 2 << 20};
static int rank, ranks, native;
static MPI_Comm comm[comms];
static char under_way[200];

static void hangs(int signal) {
  (void)signal;
  const ssize_t written = write(2, under_way, strlen(under_way));
  _exit(written > 0 ? 4 : 5);
}

static void enter(const char* name, const char* detail, int size) {
  snprintf(under_way, sizeof under_way, "rank %d hangs in %s, %s, %d bytes\n", rank, name, detail, size);
  alarm(patience);
}

static void check(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "wrong: %s; or else: %s", what, under_way);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static int value(int seed, int r, int i) { return (seed * 131 + r * 17 + i) % 1000; }

static void start(struct operation* o, enum what what, int size, int seed, int root, MPI_Comm on) {
  o->what = what, o->root = root, o->seed = seed;
  o->n = what == exchanges ? (size / 4 + ranks - 1) / ranks : size / 4;
  const int all = what == exchanges ? o->n * ranks : o->n;
  o->in = malloc(sizeof(int) * all);
  o->out = malloc(sizeof(int) * all);
  for (int i = 0; i < all; ++i) {
    o->in[i] = value(seed, rank, i);
    o->out[i] = what == copies && rank == root ? o->in[i] : -1;
  }
  if (what == sums) MPI_Iallreduce(o->in, o->out, o->n, MPI_INT, MPI_SUM, on, &o->request);
  if (what == copies) MPI_Ibcast(o->out, o->n, MPI_INT, root, on, &o->request);
  if (what == exchanges) MPI_Ialltoall(o->in, o->n, MPI_INT, o->out, o->n, MPI_INT, on, &o->request);
}

static int expected(const struct operation* o, int i) {
  if (o->what == copies) return value(o->seed, o->root, i);
  if (o->what == exchanges) return value(o->seed, i / o->n, rank * o->n + i % o->n);
  int sum = 0;
  for (int r = 0; r < ranks; ++r) sum += value(o->seed, r, i);
  return sum;
}

static void finish(struct operation* o) {
  MPI_Wait(&o->request, MPI_STATUS_IGNORE);
  check(o->request == MPI_REQUEST_NULL, "request");
  const int all = o->what == exchanges ? o->n * ranks : o->n;
  for (int i = 0; i < all; ++i) check(o->out[i] == expected(o, i), "result");
  free(o->in);
  free(o->out);
}

// A blocking one, of a size of its own.
static void allreduce(MPI_Comm on, int n) {
  int* in = malloc(sizeof(int) * n);
  int* out = malloc(sizeof(int) * n);
  for (int i = 0; i < n; ++i) in[i] = rank + i;
  MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, on);
  for (int i = 0; i < n; ++i) check(out[i] == ranks * (ranks - 1) / 2 + ranks * i, "blocking allreduce");
  free(in);
  free(out);
}

// One rank starts all, then waits; the others start, wait for and then start the next, in the opposite order.
static void crossed(int size) {
  struct operation o[comms];
  for (int what = 0; what < whats; ++what) {
    const int first = (what + 1) % ranks;
    if (rank == first)
      for (int c = 0; c < comms; ++c) start(&o[c], (what + c) % whats, size, c, c % ranks, comm[c]);
    for (int c = comms - 1; c >= 0; --c) {
      if (rank != first) start(&o[c], (what + c) % whats, size, c, c % ranks, comm[c]);
      finish(&o[rank == first ? comms - 1 - c : c]);
    }
  }
}

// Several are in flight on one communicator, and waited for in different orders.
static void reversed(int size) {
  enum { many = 8 };
  struct operation o[many];
  for (int i = 0; i < many; ++i) start(&o[i], i % whats, size, i, i % ranks, comm[0]);
  for (int i = 0; i < many; ++i) finish(&o[rank % 2 ? i : many - 1 - i]);
}

// A start must not wait for others: they start only when they hear that all were started.
static void ahead(int size) {
  enum { most = 300 };
  static struct operation o[most];
  const int many = size > 1 << 20 ? 6 : size > 8 ? 30 : most;
  for (int first = 0; first < 2; ++first) {
    if (rank != first) MPI_Recv(NULL, 0, MPI_INT, first, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < many; ++i) start(&o[i], i % whats, size, i, (first + i) % ranks, comm[i % 2]);
    for (int r = 0; r < ranks && rank == first; ++r)
      if (r != first) MPI_Send(NULL, 0, MPI_INT, r, 1, MPI_COMM_WORLD);
    for (int i = 0; i < many; ++i) finish(&o[(rank + first) % 2 ? many - 1 - i : i]);
  }
}

// Blocking ones, on the same communicator and on another, while others are in flight. The last ones need that what one
// rank has in flight goes on while it waits in a blocking one.
static void blocking(int size) {
  struct operation o[3];
  for (int i = 0; i < 3; ++i) {
    start(&o[i], i, size, i, i % ranks, comm[0]);
    allreduce(comm[0], i == 1 ? 1 : 3000);
    allreduce(comm[1], i == 2 ? 1 : 70000);
  }
  for (int i = 2; i >= 0; --i) finish(&o[i]);
  for (int i = 0; i < 6; ++i) {
    start(&o[0], i % 3, size, i, i % ranks, comm[2]);
    if (rank == i % ranks) {
      i < 3 ? allreduce(comm[1], 20000) : (void)MPI_Barrier(comm[1]);
      finish(&o[0]);
    } else {
      finish(&o[0]);
      i < 3 ? allreduce(comm[1], 20000) : (void)MPI_Barrier(comm[1]);
    }
  }
}

// The communicator is freed while they are in flight; the next one may get its handle.
static void freed(int size) {
#ifdef OPEN_MPI
  if (native) return;  // Open MPI 5.0.11's own crash: they keep no hold of the communicator
#endif
  struct operation o[9];
  for (int i = 0; i < 9; i += 3) {
    MPI_Comm gone, half;
    MPI_Comm_dup(MPI_COMM_WORLD, &gone);
#ifndef OPEN_MPI
    if (i != 3)  // perhaps native, as below; those of Open MPI crash
#endif
      MPI_Barrier(gone);
    if (rank == i % ranks) usleep(2000);
    for (int k = i; k < i + 3; ++k) start(&o[k], k % whats, size, k, k % ranks, gone);
    MPI_Comm_free(&gone);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Barrier(half);
    MPI_Comm_free(&half);
    if (i == 3) finish(&o[5]);
  }
  for (int i = 8; i >= 0; --i)
    if (i != 5) finish(&o[i]);
}

// Nonblocking calls are not served on a communicator of MPI_Comm_idup before a blocking one. The first may be waited
// for while one rank is in that blocking one already.
static void fresh(int size) {
  struct operation o[9];
  for (int i = 0; i < 9; i += 3) {
    MPI_Comm new;
    MPI_Request made;
    MPI_Comm_idup(MPI_COMM_WORLD, &new, &made);
    MPI_Wait(&made, MPI_STATUS_IGNORE);
    if (rank == 1) usleep(2000);
    start(&o[i], i / 3, size, i, 1, new);
    if (rank != 0) finish(&o[i]);
    allreduce(new, 20000);
    for (int k = i + 1; k < i + 3; ++k) start(&o[k], k % whats, size, k, k % ranks, new);
    finish(&o[i + 2]);
    if (rank == 0) finish(&o[i]);
    finish(&o[i + 1]);
    MPI_Comm_free(&new);
  }
}

static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) ((int*)inout)[2 * i] += ((int*)in)[2 * i];
}

// Types and an operator are freed before the call that uses them is complete; others may get their handles.
static void types(int size) {
  const int n = size / 8, next = (rank + 1) % ranks;
  int got;
  int* in = malloc(sizeof(int) * 2 * n);
  int* out = malloc(sizeof(int) * 2 * n);
  int* copy = malloc(sizeof(int) * 2 * n);
  for (int turn = 0; turn < 3; ++turn) {
    MPI_Datatype spaced, whole, other;
    MPI_Op op, other_op;
    MPI_Request requests[2];
    for (int i = 0; i < 2 * n; ++i) in[i] = rank + i, out[i] = -1, copy[i] = rank == 0 ? i : -1;
    if (rank == turn % ranks) usleep(2000);
    MPI_Type_create_resized(MPI_INT, 0, 8, &spaced);
    MPI_Type_commit(&spaced);
    MPI_Type_vector(n, 1, 2, MPI_INT, &whole);
    MPI_Type_commit(&whole);
    MPI_Op_create(add, turn % 2, &op);
    MPI_Iallreduce(in, out, n, spaced, op, comm[0], &requests[0]);
    MPI_Ibcast(copy, 1, whole, 0, comm[1], &requests[1]);
    MPI_Type_free(&spaced);
    MPI_Type_free(&whole);
    MPI_Op_free(&op);
    MPI_Type_contiguous(3, MPI_CHAR, &other);
    MPI_Type_commit(&other);
    MPI_Op_create(add, 1, &other_op);
    MPI_Sendrecv(&rank, 1, other, next, 1, &got, 1, other, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Type_free(&other);
    MPI_Op_free(&other_op);
    for (int i = 0; i < n; ++i) {
      check(out[2 * i] == ranks * (ranks - 1) / 2 + ranks * 2 * i && out[2 * i + 1] == -1, "sum of a freed type");
      check(copy[2 * i] == 2 * i && copy[2 * i + 1] == (rank == 0 ? 2 * i + 1 : -1), "copy of a freed type");
    }
  }
  free(in);
  free(out);
  free(copy);
}

// In what a rank sits while others need it in collectives that it has started. The helper ends it only when its own are
// complete.
enum way {
  in_recv,
  in_probe,
  in_mprobe,
  in_iprobe,
  in_wait,
  in_waitany,
  in_waitsome,
  in_waitall,
  in_test,
  in_testall,
  in_persistent,
  in_ssend,
  in_long_send,
  in_sendrecv,
  in_dup,
  in_fence,
  ways
};
static const char* const way_names[] = {"MPI_Recv",
                                        "MPI_Probe",
                                        "MPI_Mprobe",
                                        "MPI_Iprobe",
                                        "MPI_Wait",
                                        "MPI_Waitany",
                                        "MPI_Waitsome",
                                        "MPI_Waitall",
                                        "MPI_Test",
                                        "MPI_Testall",
                                        "MPI_Start and MPI_Wait",
                                        "MPI_Ssend",
                                        "a long MPI_Send",
                                        "MPI_Sendrecv",
                                        "MPI_Comm_dup",
                                        "MPI_Win_fence"};
enum { word = 42, long_message = 4 << 20 };
static MPI_Win window;
static char* long_buffer;

static void sit_in_receive(enum way way, int helper) {
  int got = 0, flag = 0, at, some;
  MPI_Message message;
  MPI_Request request;
  if (way == in_probe) MPI_Probe(helper, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  while (way == in_iprobe && !flag) MPI_Iprobe(helper, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  if (way == in_mprobe) {
    MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  } else if (way < in_wait) {
    MPI_Recv(&got, 1, MPI_INT, helper, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (way == in_persistent) {
    MPI_Recv_init(&got, 1, MPI_INT, helper, 1, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  } else {
    MPI_Irecv(&got, 1, MPI_INT, helper, 1, MPI_COMM_WORLD, &request);
    if (way == in_wait) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (way == in_waitany) MPI_Waitany(1, &request, &at, MPI_STATUS_IGNORE);
    if (way == in_waitsome) MPI_Waitsome(1, &request, &some, &at, MPI_STATUSES_IGNORE);
    if (way == in_waitall) MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    while (way == in_test && !flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    while (way == in_testall && !flag) MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE);
  }
  check(got == word, "what a rank sat in");
}

static void join_all(enum way way) {
  MPI_Comm copy;
  if (way == in_fence) MPI_Win_fence(0, window);
  if (way != in_dup) return;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_free(&copy);
}

static void sit(enum way way, int helper) {
  int out = word, in = 0;
  if (way < in_ssend) sit_in_receive(way, helper);
  if (way == in_ssend) MPI_Ssend(&out, 1, MPI_INT, helper, 1, MPI_COMM_WORLD);
  if (way == in_long_send) MPI_Send(long_buffer, long_message, MPI_CHAR, helper, 1, MPI_COMM_WORLD);
  if (way == in_sendrecv)
    MPI_Sendrecv(&out, 1, MPI_INT, helper, 1, &in, 1, MPI_INT, helper, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  join_all(way);
}

static void help(enum way way, int sitting) {
  int out = word, in = 0;
  if (way == in_long_send) MPI_Recv(long_buffer, long_message, MPI_CHAR, sitting, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (way == in_ssend || way == in_sendrecv) MPI_Recv(&in, 1, MPI_INT, sitting, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (way < in_ssend || way == in_sendrecv) MPI_Send(&out, 1, MPI_INT, sitting, 1, MPI_COMM_WORLD);
}

// The others start a little later, when the rank sits there already.
static void sitting(int size) {
  long_buffer = calloc(1, long_message);
  MPI_Win_create(long_buffer, long_message, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  for (int way = 0; way < ways; ++way) {
    struct operation o[comms];
    const int sits = way % ranks, helper = (sits + 1) % ranks;
    enter("sitting", way_names[way], size);
    if (rank != sits) usleep(2000);
    for (int c = 0; c < comms; ++c) start(&o[c], (way + c) % whats, size, c, sits, comm[c]);
    if (rank == sits) sit(way, helper);
    for (int c = 0; c < comms; ++c) finish(&o[c]);
    if (rank == helper) help(way, sits);
    if (rank != sits) join_all(way);
  }
  MPI_Win_free(&window);
  free(long_buffer);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(int size);
  } cases[] = {{"crossed", crossed}, {"reversed", reversed}, {"ahead", ahead}, {"blocking", blocking},
               {"freed", freed},     {"fresh", fresh},       {"types", types}, {"sitting", sitting}};
  native = is_given(argc, argv, "native");
  signal(SIGALRM, hangs);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int c = 0; c < comms; ++c) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[c]);
    MPI_Barrier(comm[c]);
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    for (int size = 0; size < sizes; ++size) {
      if (!is_given(argc, argv, cases[i].name)) continue;
      enter(cases[i].name, "at its beginning", bytes[size]);
      cases[i].run(bytes[size]);
    }
  enter("the end", "MPI_Finalize", 0);
  for (int c = 0; c < comms; ++c) MPI_Comm_free(&comm[c]);
  MPI_Finalize();
  if (rank == 0) puts("all right");
  return 0;
}
