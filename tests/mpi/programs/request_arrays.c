// SPDX-License-Identifier: BSD-3-Clause
//
// Arrays in which the requests of collectives stand beside those of messages, generalized ones, inactive ones and none,
// completed in every way: indices, flags, counts, handles, statuses and results must be those that MPI demands.
// Argument: perhaps native, for a run without Stretto.
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define HAS_PERSISTENT
#endif
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define HAS_STATUS_OF_ARRAYS
#endif

enum slot {
  received,
  none,
  reduced,
  unused,
  sent,
  copied,
  general,
  unused_collective,
  persistent,
  self_received,
  exchanged,
  self_sent,
  repeated_received,
  synchronised,
  repeated_sent,
  slots
};
static const char* const names[] = {"MPI_Irecv",          "MPI_REQUEST_NULL",
                                    "MPI_Iallreduce",     "inactive MPI_Recv_init",
                                    "MPI_Isend",          "MPI_Ibcast",
                                    "MPI_Grequest",       "inactive MPI_Allreduce_init",
                                    "MPI_Allreduce_init", "MPI_Irecv from oneself",
                                    "MPI_Ialltoall",      "MPI_Isend to oneself",
                                    "MPI_Recv_init",      "MPI_Ibarrier",
                                    "MPI_Send_init"};
enum { most = 40000, most_ranks = 16, few = 3, untouched = 4711 };
enum { general_source = 4, general_tag = 44, general_count = 7 };

struct set {
  MPI_Request requests[slots], made[slots];
  int n, looked, completed[slots];
  int in[most], sum[most], other_sum[most], copy[most], to_all[most], from_all[most], to_self[most], from_self[most];
  int small[few], from_left[10], repeated[10];
};

static int rank, ranks, left, right, persistents;
static MPI_Comm comm;
static const char* under_way = "";

static void check(int correct, const char* what, const char* which) {
  if (correct) return;
  fprintf(stderr, "rank %d: wrong: %s of %s, %s\n", rank, what, which, under_way);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static int stays(enum slot s) {
  return s == unused || s == repeated_received || s == repeated_sent ||
         (persistents && (s == unused_collective || s == persistent));
}

static int is_active(enum slot s) {
  return s != none && s != unused && s != unused_collective && (persistents || s != persistent);
}

static void mark(MPI_Status* statuses, int n) {
  for (int i = 0; i < n; ++i) {
    memset(&statuses[i], 0x55, sizeof *statuses);
    statuses[i].MPI_ERROR = untouched;
  }
}

static void check_fields(const MPI_Status* status, int source, int tag, int count, const char* which) {
  int found = -1;
  MPI_Get_count(status, MPI_INT, &found);
  check(status->MPI_SOURCE == source, "source", which);
  check(status->MPI_TAG == tag, "tag", which);
  check(found == count, "count", which);
}

static void check_status(const struct set* set, enum slot s, const MPI_Status* status) {
  int cancelled = 1;
  MPI_Test_cancelled(status, &cancelled);
  check(!cancelled, "MPI_Test_cancelled", names[s]);
  check(status->MPI_ERROR == untouched || status->MPI_ERROR == MPI_SUCCESS, "MPI_ERROR", names[s]);
  if (!is_active(s)) check_fields(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, names[s]);
  if (s == received) check_fields(status, left, 5, few, names[s]);
#ifndef OPEN_MPI
  // MPICH 5.0.2 and Intel MPI 2021.18 take a persistent receive for inactive that was looked at.
  if (set->looked && s == repeated_received) return;
#endif
  if (s == repeated_received) check_fields(status, left, 6, few, names[s]);
  if (s == self_received) check_fields(status, rank, 7, set->n, names[s]);
  if (s == general) check_fields(status, general_source, general_tag, general_count, names[s]);
}

static int query(void* state, MPI_Status* status) {
  (void)state;
  status->MPI_SOURCE = general_source;
  status->MPI_TAG = general_tag;
  MPI_Status_set_cancelled(status, 0);
  return MPI_Status_set_elements(status, MPI_INT, general_count);
}

static int forget(void* state) {
  (void)state;
  return MPI_SUCCESS;
}

static int cancel(void* state, int complete) {
  (void)complete;
  return forget(state);
}

static void make(struct set* set, int n) {
  MPI_Request* r = set->requests;
  for (int i = 0; i < slots; ++i) r[i] = MPI_REQUEST_NULL;
  set->n = n;
  MPI_Recv_init(set->from_left, 10, MPI_INT, rank, 9, MPI_COMM_WORLD, &r[unused]);
  MPI_Recv_init(set->repeated, 10, MPI_INT, left, 6, MPI_COMM_WORLD, &r[repeated_received]);
  MPI_Send_init(set->small, few, MPI_INT, right, 6, MPI_COMM_WORLD, &r[repeated_sent]);
#ifdef HAS_PERSISTENT
  if (!persistents) return;
  MPI_Allreduce_init(set->in, set->sum, n, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r[unused_collective]);
  MPI_Allreduce_init(set->in, set->other_sum, n, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL, &r[persistent]);
#endif
}

static void start(struct set* set) {
  MPI_Request* r = set->requests;
  const int n = set->n, each = n / ranks;
  memset(set->completed, 0, sizeof set->completed);
  for (int i = 0; i < n; ++i) {
    set->in[i] = set->to_self[i] = rank + i;
    set->to_all[i] = 100 * rank + i / (each ? each : 1);
    set->copy[i] = rank == 0 ? 3 * i : -1;
    set->sum[i] = set->other_sum[i] = set->from_all[i] = set->from_self[i] = -1;
  }
  for (int i = 0; i < few; ++i) set->small[i] = 10 * rank + i, set->from_left[i] = set->repeated[i] = -1;
  MPI_Irecv(set->from_self, most, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &r[self_received]);
  MPI_Iallreduce(set->in, set->sum, n, MPI_INT, MPI_SUM, comm, &r[reduced]);
  MPI_Irecv(set->from_left, 10, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &r[received]);
  MPI_Ibcast(set->copy, n, MPI_INT, 0, comm, &r[copied]);
  MPI_Grequest_start(query, forget, cancel, set, &r[general]);
  MPI_Ialltoall(set->to_all, each, MPI_INT, set->from_all, each, MPI_INT, comm, &r[exchanged]);
  MPI_Isend(set->small, few, MPI_INT, right, 5, MPI_COMM_WORLD, &r[sent]);
  MPI_Start(&r[repeated_received]);
  MPI_Start(&r[repeated_sent]);
  if (persistents) MPI_Start(&r[persistent]);
  MPI_Ibarrier(comm, &r[synchronised]);
  MPI_Isend(set->to_self, n, MPI_INT, rank, 7, MPI_COMM_WORLD, &r[self_sent]);
  MPI_Grequest_complete(r[general]);
  memcpy(set->made, set->requests, sizeof set->made);
}

static void check_results(const struct set* set) {
  const int n = set->n, each = n / ranks;
  for (int i = 0; i < n; ++i) {
    check(set->sum[i] == ranks * (ranks - 1) / 2 + ranks * i, "result", names[reduced]);
    check(!persistents || set->other_sum[i] == ranks - 1 + i, "result", names[persistent]);
    check(set->copy[i] == 3 * i, "result", names[copied]);
    check(set->from_self[i] == rank + i, "contents", names[self_received]);
    check(i >= each * ranks || set->from_all[i] == 100 * (i / each) + rank, "result", names[exchanged]);
  }
  for (int i = 0; i < few; ++i) {
    check(set->from_left[i] == 10 * left + i, "contents", names[received]);
    check(set->repeated[i] == 10 * left + i, "contents", names[repeated_received]);
  }
}

// A request is complete: without a status where that is ignored.
static void take(struct set* set, int s, const MPI_Status* status) {
  check(s >= 0 && s < slots, "index", "an array");
  check(is_active(s), "completion", names[s]);
  check(set->completed[s]++ == 0, "second completion", names[s]);
  check(set->requests[s] == (stays(s) ? set->made[s] : MPI_REQUEST_NULL), "handle", names[s]);
  if (status) check_status(set, s, status);
}

static void take_all(struct set* set, const MPI_Status* statuses) {
  for (int s = 0; s < slots; ++s) {
    if (is_active(s)) take(set, s, statuses ? &statuses[s] : NULL);
    if (!is_active(s) && statuses) check_status(set, s, &statuses[s]);
  }
}

static void expect_unchanged(const struct set* set) {
  for (int s = 0; s < slots; ++s)
    if (!set->completed[s]) check(set->requests[s] == set->made[s], "handle before completion", names[s]);
}

enum way { wait, test, waitany, testany, waitall, testall, waitsome, testsome, get_status, ways };
static const char* const way_names[] = {"MPI_Wait",     "MPI_Test",     "MPI_Waitany",
                                        "MPI_Testany",  "MPI_Waitall",  "MPI_Testall",
                                        "MPI_Waitsome", "MPI_Testsome", "MPI_Request_get_status"};

static void complete_each(struct set* set, enum way way, int ignoring) {
  MPI_Status status;
  MPI_Status* given = ignoring ? MPI_STATUS_IGNORE : &status;
  for (int i = 0; i < slots; ++i) {
    const int s = rank % 2 ? i : slots - 1 - i;
    int flag = way == wait;
    // Looking completes nothing: it can be done again.
    for (int looks = 0; way == get_status && looks < 3; looks += flag) {
      mark(&status, 1);
      MPI_Request_get_status(set->requests[s], &flag, given);
      if (flag && !ignoring) check_status(set, s, &status);
      check(set->requests[s] == set->made[s], "handle", names[s]);
      if (!flag) sched_yield();
    }
    mark(&status, 1);
    while (way == test && !flag) {
      MPI_Test(&set->requests[s], &flag, given);
      check(flag || set->requests[s] == set->made[s], "handle", names[s]);
      if (!flag) sched_yield();
    }
    if (way != test) MPI_Wait(&set->requests[s], given);
    if (is_active(s)) take(set, s, ignoring ? NULL : &status);
    if (!is_active(s) && !ignoring) check_status(set, s, &status);
  }
}

static void complete_one_by_one(struct set* set, enum way way, int ignoring) {
  for (;;) {
    MPI_Status status;
    MPI_Status* given = ignoring ? MPI_STATUS_IGNORE : &status;
    int s = -1, flag = 1;
    mark(&status, 1);
    if (way == waitany) MPI_Waitany(slots, set->requests, &s, given);
    if (way == testany) MPI_Testany(slots, set->requests, &s, &flag, given);
    if (flag && s == MPI_UNDEFINED) return;
    if (flag) take(set, s, ignoring ? NULL : &status);
    if (flag) continue;
    check(s == MPI_UNDEFINED, "index without a flag", "an array");
    expect_unchanged(set);
    sched_yield();
  }
}

static void complete_some(struct set* set, enum way way, int ignoring) {
  for (int n = 0; n != MPI_UNDEFINED;) {
    MPI_Status statuses[slots];
    MPI_Status* given = ignoring ? MPI_STATUSES_IGNORE : statuses;
    int at[slots];
    mark(statuses, slots);
    if (way == waitsome) MPI_Waitsome(slots, set->requests, &n, at, given);
    if (way == testsome) MPI_Testsome(slots, set->requests, &n, at, given);
    check(way == testsome || n != 0, "number of the completed", "an array");
    for (int i = 0; n != MPI_UNDEFINED && i < n; ++i) take(set, at[i], ignoring ? NULL : &statuses[i]);
    expect_unchanged(set);
    if (n == 0) sched_yield();
  }
}

static void complete_all(struct set* set, enum way way, int ignoring) {
  MPI_Status statuses[slots];
  MPI_Status* given = ignoring ? MPI_STATUSES_IGNORE : statuses;
  int flag = 0;
  mark(statuses, slots);
  if (way == waitall) MPI_Waitall(slots, set->requests, given);
  while (way == testall && !flag) {
    MPI_Testall(slots, set->requests, &flag, given);
    if (!flag) expect_unchanged(set);
    if (!flag) sched_yield();
  }
  take_all(set, ignoring ? NULL : statuses);
}

#ifdef HAS_STATUS_OF_ARRAYS
// They look only, and leave completing to MPI_Waitall.
static void look(struct set* set) {
  MPI_Status statuses[slots], status;
  int flag = 0, n = 0, s, at[slots];
  for (; !flag; expect_unchanged(set)) {
    mark(&status, 1);
    MPI_Request_get_status_any(slots, set->requests, &s, &flag, &status);
  }
  check(s >= 0 && s < slots && is_active(s), "index of MPI_Request_get_status_any", "an array");
  check_status(set, s, &status);
  for (; n == 0; expect_unchanged(set)) {
    mark(statuses, slots);
    MPI_Request_get_status_some(slots, set->requests, &n, at, statuses);
  }
  for (int i = 0; i < n; ++i) check_status(set, at[i], &statuses[i]);
  for (flag = 0; !flag; expect_unchanged(set)) {
    mark(statuses, slots);
    MPI_Request_get_status_all(slots, set->requests, &flag, statuses);
  }
  for (s = 0; s < slots; ++s) check_status(set, s, &statuses[s]);
}
#endif

// Nothing of it is active: every way ends at once and says so.
static void expect_nothing(int n, MPI_Request* requests) {
  int at = 0, flag = 0, some = 0, places[slots];
  MPI_Status status, statuses[slots];
  mark(&status, 1);
  MPI_Waitany(n, requests, &at, &status);
  check(at == MPI_UNDEFINED, "index of MPI_Waitany", "nothing active");
  check_fields(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, "nothing active");
  at = 0;
  MPI_Testany(n, requests, &at, &flag, &status);
  check(flag && at == MPI_UNDEFINED, "flag or index of MPI_Testany", "nothing active");
  check_fields(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, "nothing active");
  MPI_Waitsome(n, requests, &some, places, statuses);
  check(some == MPI_UNDEFINED, "count of MPI_Waitsome", "nothing active");
  some = 0;
  MPI_Testsome(n, requests, &some, places, statuses);
  check(some == MPI_UNDEFINED, "count of MPI_Testsome", "nothing active");
  MPI_Waitall(n, requests, statuses);
  for (int i = 0; i < n; ++i) check_fields(&statuses[i], MPI_ANY_SOURCE, MPI_ANY_TAG, 0, "nothing active");
  flag = 0;
  MPI_Testall(n, requests, &flag, statuses);
  check(flag, "flag of MPI_Testall", "nothing active");
}

static void mixed(void) {
  static struct set set;
  for (int n = most_ranks; n <= most; n *= 50) {
    make(&set, n);
    expect_nothing(slots, set.requests);
    for (int turn = 0; turn < 2 * ways; ++turn) {
      const enum way way = turn / 2;
      under_way = way_names[way];
      start(&set);
      set.looked = way == get_status || (way == waitall && turn % 2);
#ifdef HAS_STATUS_OF_ARRAYS
      if (way == waitall && turn % 2) look(&set);
#endif
      if (way <= test || way == get_status) complete_each(&set, way, turn % 2);
      if (way == waitany || way == testany) complete_one_by_one(&set, way, turn % 2);
      if (way == waitsome || way == testsome) complete_some(&set, way, turn % 2);
      if (way == waitall || way == testall) complete_all(&set, way, turn % 2);
      for (int s = 0; s < slots; ++s) check(set.completed[s] == is_active(s), "completion", names[s]);
      check_results(&set);
      expect_nothing(slots, set.requests);
    }
    for (int s = 0; s < slots; ++s)
      if (stays(s)) MPI_Request_free(&set.requests[s]);
    expect_nothing(0, set.requests);
  }
}

int main(int argc, char** argv) {
#ifdef HAS_PERSISTENT
  persistents = 1;
#ifndef OPEN_MPI
  // MPICH 5.0.2's own MPI_Waitall, like Intel MPI 2021.18's, waits for an inactive one for ever, and their MPI_Testall
  // fails where an active one completes.
  if (argc > 1 && !strcmp(argv[1], "native")) persistents = 0;
#endif
#endif
  alarm(90);  // rather than to hang
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  left = (rank + ranks - 1) % ranks;
  right = (rank + 1) % ranks;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);  // from now on nonblocking calls are served as well
  mixed();
  MPI_Comm_free(&comm);
  MPI_Finalize();
  if (rank == 0) puts("all right");
  return 0;
}
