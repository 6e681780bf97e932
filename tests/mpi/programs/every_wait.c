// SPDX-License-Identifier: BSD-3-Clause
//
// Not a program: nonblocking_all.c and persistent_collectives.c include it behind every_collective.c. Completes
// requests in every way that MPI has.

enum { ways = 10 };

static MPI_Status* status_or_none(MPI_Status* status, unsigned way) { return way % 2 ? status : MPI_STATUS_IGNORE; }

// Ranks may wait in orders of their own.
static void each_alone(int n, MPI_Request* requests, unsigned way, unsigned* state) {
  const int first = (int)draw(state, n), step = draw(state, 2) ? 1 : n - 1;
  for (int i = 0, at = first; i < n; ++i, at = (at + step) % n) {
    MPI_Status status;
    int flag = way < 2;
    if (way < 2) MPI_Wait(&requests[at], status_or_none(&status, draw(state, 2)));
    while (!flag) {
      if (way < 4) MPI_Test(&requests[at], &flag, status_or_none(&status, way));
      if (way >= 4) MPI_Request_get_status(requests[at], &flag, status_or_none(&status, way));
      if (!flag) sched_yield();
    }
    if (way >= 4) MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
  }
}

static void one_by_one(int n, MPI_Request* requests, int tests) {
  int done = 0, at = 0;
  while (at != MPI_UNDEFINED) {
    int flag = 1;
    if (tests)
      MPI_Testany(n, requests, &at, &flag, MPI_STATUS_IGNORE);
    else
      MPI_Waitany(n, requests, &at, MPI_STATUS_IGNORE);
    if (!flag) {
      if (at != MPI_UNDEFINED) wrong("index without a flag", NULL);
      at = 0;
      sched_yield();
      continue;
    }
    done += at != MPI_UNDEFINED;
  }
  if (done != n) wrong("number of requests completed one by one", NULL);
}

static void some_at_once(int n, MPI_Request* requests, int tests) {
  int done = 0, some = 0, at[2 * in_flight];
  MPI_Status statuses[2 * in_flight];
  while (some != MPI_UNDEFINED) {
    if (tests)
      MPI_Testsome(n, requests, &some, at, statuses);
    else
      MPI_Waitsome(n, requests, &some, at, MPI_STATUSES_IGNORE);
    if (some == 0 && !tests) wrong("nothing that MPI_Waitsome waited for", NULL);
    if (some == 0) sched_yield();
    if (some != MPI_UNDEFINED) done += some;
  }
  if (done != n) wrong("number of requests completed by some at once", NULL);
}

static void complete(int n, MPI_Request* requests, unsigned way, unsigned* state) {
  int flag = 0;
#if defined(PERSISTENT) && !defined(OPEN_MPI)
  // MPICH 5.0.2's own MPI_Testall, like Intel MPI 2021.18's, returns an error where a persistent collective completes.
  if (native && way % ways == 5) --way;
#endif
  switch (way % ways) {
    case 0: one_by_one(n, requests, 0); break;
    case 1: one_by_one(n, requests, 1); break;
    case 2: some_at_once(n, requests, 0); break;
    case 3: some_at_once(n, requests, 1); break;
    case 4: MPI_Waitall(n, requests, MPI_STATUSES_IGNORE); break;
    case 5:
      while (!flag) {
        MPI_Testall(n, requests, &flag, MPI_STATUSES_IGNORE);
        if (!flag) sched_yield();
      }
      break;
    default: each_alone(n, requests, way % ways - 5, state);
  }
}
