// SPDX-License-Identifier: BSD-3-Clause
//
// What is complete when: arrays of a message and a collective, of which one or the other is held back by the other
// ranks until all ways to ask have found it incomplete; arrays in which a message is truncated; long arrays; calls that
// are complete when they are started. Arguments: cases (held, truncated, many, at-once), and perhaps native, for a run
// without Stretto.
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.c"

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define HAS_PERSISTENT
#endif
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define HAS_STATUS_OF_ARRAYS
#endif

enum { message, none, collective, unused, slots };
enum { go_tag = 1, begin_tag, data_tag, few = 3, ways = 8, in_flight = 600, truncated_ways = 6 };

static int rank, ranks, native, one = 1, sum, got[10], nowhere;
static MPI_Comm comm;
static char under_way[100];

static void check(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "rank %d: wrong: %s, %s\n", rank, what, under_way);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void signal_to(int other, int tag) { MPI_Send(NULL, 0, MPI_INT, other, tag, MPI_COMM_WORLD); }

static void wait_for_signal(int other, int tag) {
  MPI_Recv(NULL, 0, MPI_INT, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Whoever asks gets told that nothing more is complete, and nothing changes.
static void expect_no_more(MPI_Request* requests, int done) {
  MPI_Request before[slots];
  MPI_Status status, statuses[slots];
  memcpy(before, requests, sizeof before);
  for (int i = 0; i < 20; ++i) {
    int flag = 1, at = 0, some = 1, places[slots];
    MPI_Testany(slots, requests, &at, &flag, &status);
    check(!flag && at == MPI_UNDEFINED, "MPI_Testany of the incomplete");
    MPI_Testsome(slots, requests, &some, places, statuses);
    check(some == 0, "MPI_Testsome of the incomplete");
    flag = 1;
    MPI_Testall(slots, requests, &flag, statuses);
    check(!flag, "MPI_Testall of the incomplete");
#ifdef HAS_STATUS_OF_ARRAYS
    flag = some = 1;
    MPI_Request_get_status_any(slots, requests, &at, &flag, &status);
    check(!flag, "MPI_Request_get_status_any of the incomplete");
    MPI_Request_get_status_some(slots, requests, &some, places, statuses);
    check(some == 0, "MPI_Request_get_status_some of the incomplete");
    flag = 1;
    MPI_Request_get_status_all(slots, requests, &flag, statuses);
    check(!flag, "MPI_Request_get_status_all of the incomplete");
#endif
    for (int s = message; s <= collective; s += collective - message) {
      if (s == done) continue;
      MPI_Test(&requests[s], &flag, &status);
      check(!flag, "MPI_Test of the incomplete");
      MPI_Request_get_status(requests[s], &flag, &status);
      check(!flag, "MPI_Request_get_status of the incomplete");
    }
    check(memcmp(before, requests, sizeof before) == 0, "request that is not complete");
  }
}

static void expect_all_done(MPI_Request* requests) {
  int at = 0, flag = 0, some = 0, places[slots];
  MPI_Waitany(slots, requests, &at, MPI_STATUS_IGNORE);
  check(at == MPI_UNDEFINED, "MPI_Waitany of the completed");
  at = 0;
  MPI_Testany(slots, requests, &at, &flag, MPI_STATUS_IGNORE);
  check(flag && at == MPI_UNDEFINED, "MPI_Testany of the completed");
  MPI_Waitsome(slots, requests, &some, places, MPI_STATUSES_IGNORE);
  check(some == MPI_UNDEFINED, "MPI_Waitsome of the completed");
  some = 0;
  MPI_Testsome(slots, requests, &some, places, MPI_STATUSES_IGNORE);
  check(some == MPI_UNDEFINED, "MPI_Testsome of the completed");
  MPI_Waitall(slots, requests, MPI_STATUSES_IGNORE);
  flag = 0;
  MPI_Testall(slots, requests, &flag, MPI_STATUSES_IGNORE);
  check(flag, "MPI_Testall of the completed");
}

// Of all only this one can complete.
static void complete(MPI_Request* requests, int expected, int way) {
  MPI_Status status, statuses[slots];
  int flag = 0, at = expected, some = 1, places[slots] = {expected}, count = -1;
  if (way == 0) MPI_Waitany(slots, requests, &at, &status);
  while (way == 1 && !flag) MPI_Testany(slots, requests, &at, &flag, &status), sched_yield();
  if (way == 2) MPI_Waitsome(slots, requests, &some, places, statuses);
  while (way == 3 && (some == 0 || !flag++)) MPI_Testsome(slots, requests, &some, places, statuses), sched_yield();
  if (way == 4) MPI_Wait(&requests[expected], &status);
  while (way == 5 && !flag) MPI_Test(&requests[expected], &flag, &status), sched_yield();
  if (way == 6) MPI_Waitall(1, &requests[expected], &status);
  while (way == 7 && !flag) MPI_Testall(1, &requests[expected], &flag, &status), sched_yield();
  check(some == 1 && at == expected && places[0] == expected, "count or index");
  if (way == 2 || way == 3) status = statuses[0];
  if (expected != message) return;
  MPI_Get_count(&status, MPI_INT, &count);
  check(status.MPI_SOURCE != rank && status.MPI_TAG == data_tag && count == few, "status");
}

static void start_collective(MPI_Request made, MPI_Request* request) {
  sum = -1;
  *request = made;
  if (made == MPI_REQUEST_NULL)
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, request);
  else
    MPI_Start(request);
}

static void ask(int helper, int way, int message_first, MPI_Request made, MPI_Request idle) {
  MPI_Request requests[slots] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, idle};
  const int first = message_first ? message : collective, second = message_first ? collective : message;
  MPI_Irecv(got, 10, MPI_INT, helper, data_tag, MPI_COMM_WORLD, &requests[message]);
  start_collective(made, &requests[collective]);
  expect_no_more(requests, none);
  for (int turn = 0; turn < 2; ++turn) {
    const int now = turn ? second : first;
    if (now == message) signal_to(helper, go_tag);
    for (int r = 0; r < ranks && now == collective; ++r)
      if (r != rank) signal_to(r, begin_tag);
    complete(requests, now, (way + turn) % ways);
    check(requests[now] == (now == message ? MPI_REQUEST_NULL : made), "handle of the completed");
    if (!turn) expect_no_more(requests, first);
  }
  check(sum == ranks && got[0] == helper && got[2] == helper, "result");
  expect_all_done(requests);
}

static void answer(int asking, int helper, int message_first, MPI_Request made) {
  const int data[few] = {rank, rank, rank};
  MPI_Request request;
  for (int turn = 0; turn < 2; ++turn)
    if (turn == message_first) {
      wait_for_signal(asking, begin_tag);
      start_collective(made, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      check(sum == ranks, "sum");
    } else if (rank == helper) {
      wait_for_signal(asking, go_tag);
      MPI_Send(data, few, MPI_INT, asking, data_tag, MPI_COMM_WORLD);
    }
}

static void hold(MPI_Request made) {
  MPI_Request idle;
  MPI_Recv_init(&nowhere, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &idle);
  for (int way = 0; way < ways; ++way)
    for (int asking = 0; asking < 2; ++asking)
      for (int message_first = 0; message_first < 2; ++message_first) {
        const int helper = (asking + 1) % ranks;
        snprintf(under_way, sizeof under_way, "way %d, %s first, %s", way, message_first ? "message" : "collective",
                 made == MPI_REQUEST_NULL ? "nonblocking" : "persistent");
        if (rank == asking)
          ask(helper, way, message_first, made, idle);
        else
          answer(asking, helper, message_first, made);
      }
  MPI_Request_free(&idle);
}

static void held(void) {
  hold(MPI_REQUEST_NULL);
#ifdef HAS_PERSISTENT
  MPI_Request made;
#ifndef OPEN_MPI
  // MPICH 5.0.2's own MPI_Waitall, like Intel MPI 2021.18's, waits for an inactive one for ever, and their MPI_Testall
  // fails where an active one completes.
  if (native) return;
#endif
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &made);
  hold(made);
  MPI_Request_free(&made);
#endif
}

static int class_of(int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}

// Errors of the one, at its place, and success of the others.
static void expect_statuses(int n, const MPI_Status* statuses, const int* at) {
  for (int i = 0; i < n; ++i) {
    const int class = class_of(statuses[i].MPI_ERROR), place = at ? at[i] : i;
    check(place == 1 ? class == MPI_ERR_TRUNCATE : class == MPI_SUCCESS || class == MPI_ERR_PENDING, "error in status");
  }
}

static void wait_with_error(int way) {
  enum { n = 4 };
  // Open MPI reports no truncated message from oneself.
  const int numbers[4] = {1, 2, 3, 4}, right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  int single = 0, twice = -1, whole[4] = {0}, flag = 0, at = 0, some = 0, places[n], class = -1;
  MPI_Request requests[n];
  MPI_Status statuses[n];
  MPI_Status* given = way == 1 ? MPI_STATUSES_IGNORE : statuses;
  for (int i = 0; i < n; ++i)
    statuses[i].MPI_ERROR = native ? MPI_SUCCESS : MPI_ERR_OTHER;  // shows what is not written
  sum = -1;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
  MPI_Irecv(&single, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Irecv(whole, 4, MPI_INT, left, 2, MPI_COMM_WORLD, &requests[2]);
  MPI_Iallreduce(&one, &twice, 1, MPI_INT, MPI_SUM, comm, &requests[3]);
  MPI_Send(numbers, 4, MPI_INT, right, 1, MPI_COMM_WORLD);
  MPI_Send(numbers, 4, MPI_INT, right, 2, MPI_COMM_WORLD);
  if (way < 2) class = class_of(MPI_Waitall(n, requests, given));
  while (way == 2 && !flag) class = class_of(MPI_Testall(n, requests, &flag, given));
  if (way < 3) check(class == MPI_ERR_IN_STATUS, "error class of all");
  if (way == 0 || way == 2) expect_statuses(n, statuses, NULL);
  for (int seen = 0; way == 3 && !seen;) {
    class = class_of(MPI_Waitsome(n, requests, &some, places, given));
    for (int i = 0; i < some; ++i) seen += places[i] == 1;
    check(class == (seen ? MPI_ERR_IN_STATUS : MPI_SUCCESS), "error class of some");
    if (seen) expect_statuses(some, statuses, places);
  }
  while (way == 4 && at != 1) class = class_of(MPI_Waitany(n, requests, &at, given));
  if (way == 5) class = class_of(MPI_Wait(&requests[1], given));
  if (way > 3) check(class == MPI_ERR_TRUNCATE, "error class of one");
  check(requests[1] == MPI_REQUEST_NULL, "request with an error");
  check(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS, "the rest");
  check(sum == ranks && twice == ranks && whole[3] == 4, "result beside an error");
}

static void truncated(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int way = 0; way < truncated_ways; ++way) {
    snprintf(under_way, sizeof under_way, "way %d, truncated", way);
    wait_with_error(way);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

// More than any array of a fixed size has room for.
static void many(void) {
  static MPI_Request requests[in_flight];
  static MPI_Status statuses[in_flight];
  static int sums[in_flight], messages[in_flight], places[in_flight];
  for (int way = 0; way < 5; ++way) {
    int done = 0, some = 0, at = 0, flag = 0;
    snprintf(under_way, sizeof under_way, "way %d, many", way);
    for (int i = 0; i < in_flight; ++i) sums[i] = messages[i] = -1;
    for (int i = 0; i < in_flight; i += 3) {
      MPI_Irecv(&messages[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &requests[i]);
      MPI_Iallreduce(&one, &sums[i], 1, MPI_INT, MPI_SUM, comm, &requests[i + 1]);
      MPI_Isend(&one, 1, MPI_INT, rank, i, MPI_COMM_WORLD, &requests[i + 2]);
    }
    if (way == 0) MPI_Waitall(in_flight, requests, statuses);
    while (way == 1 && !flag) MPI_Testall(in_flight, requests, &flag, MPI_STATUSES_IGNORE), sched_yield();
    for (; way == 2 && some != MPI_UNDEFINED; done += some == MPI_UNDEFINED ? 0 : some)
      MPI_Waitsome(in_flight, requests, &some, places, statuses);
    for (; way == 3 && at != MPI_UNDEFINED; done += at != MPI_UNDEFINED)
      MPI_Waitany(in_flight, requests, &at, statuses);
    for (; way == 4 && some != MPI_UNDEFINED; done += some == MPI_UNDEFINED ? 0 : some)
      MPI_Testsome(in_flight, requests, &some, places, statuses), sched_yield();
    check(way < 2 || done == in_flight, "number of completions");
    for (int i = 0; i < in_flight; ++i) {
      check(requests[i] == MPI_REQUEST_NULL, "request");
      check(way > 0 || i % 3 || (statuses[i].MPI_SOURCE == rank && statuses[i].MPI_TAG == i), "status");
      check(i % 3 || (messages[i] == 1 && sums[i] == ranks), "result");
    }
  }
}

// Calls of one rank, which are complete when they are started, a persistent one and a message among them.
static void at_once(void) {
  enum { calls = 6, last = calls - 1 };
  MPI_Request requests[calls], kept = MPI_REQUEST_NULL;
  int sums[calls], places[calls], sent = 7, received;
#ifdef HAS_PERSISTENT
  MPI_Allreduce_init(&sent, &sums[last], 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, MPI_INFO_NULL, &kept);
#endif
  for (int way = 0; way < 6; ++way) {
    int flag = 0, at = 0, some = 0, done = 0;
    snprintf(under_way, sizeof under_way, "way %d, at once", way);
    received = -1;
    for (int i = 0; i < calls; ++i) sums[i] = -1;
    MPI_Irecv(&received, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &requests[0]);
    for (int i = 1; i < last; ++i) {
      MPI_Iallreduce(&sent, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, &requests[i]);
      check(requests[i] != MPI_REQUEST_NULL, "request");
    }
    if (kept == MPI_REQUEST_NULL)
      MPI_Iallreduce(&sent, &sums[last], 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, &requests[last]);
#ifdef HAS_PERSISTENT
    requests[last] = kept;
    MPI_Start(&requests[last]);
#endif
    MPI_Send(&sent, 1, MPI_INT, rank, 9, MPI_COMM_WORLD);
    for (int i = 0; i < calls; ++i) {
      while (!flag) MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
      if (way == 0) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      if (way == 1) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE), check(flag, "MPI_Test of the complete");
      flag = 0;
    }
    if (way == 2) MPI_Waitall(calls, requests, MPI_STATUSES_IGNORE);
    if (way == 3) MPI_Testall(calls, requests, &flag, MPI_STATUSES_IGNORE), check(flag, "MPI_Testall of the complete");
    for (; way == 4 && at != MPI_UNDEFINED; done += at != MPI_UNDEFINED)
      MPI_Waitany(calls, requests, &at, MPI_STATUS_IGNORE);
    for (; way == 5 && some != MPI_UNDEFINED; done += some == MPI_UNDEFINED ? 0 : some)
      MPI_Waitsome(calls, requests, &some, places, MPI_STATUSES_IGNORE);
    check(way < 4 || done == calls, "number of completions");
    for (int i = 1; i < calls; ++i) check(sums[i] == sent, "result");
    for (int i = 0; i < last; ++i) check(requests[i] == MPI_REQUEST_NULL, "request at the end");
    check(received == sent && requests[last] == kept, "message and persistent request");
  }
  if (kept != MPI_REQUEST_NULL) MPI_Request_free(&kept);
}

int main(int argc, char** argv) {
  native = is_given(argc, argv, "native");
  alarm(90);  // rather than to hang
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);  // from now on nonblocking calls are served as well
  if (is_given(argc, argv, "held")) held();
  if (is_given(argc, argv, "truncated")) truncated();
  if (is_given(argc, argv, "many")) many();
  if (is_given(argc, argv, "at-once")) at_once();
  MPI_Comm_free(&comm);
  MPI_Finalize();
  if (rank == 0) puts("all right");
  return 0;
}
