// SPDX-License-Identifier: BSD-3-Clause
//
// What no program may do to the requests of collectives, with MPI_ERRORS_RETURN: prints the class of the error. Where
// there was one, nothing has happened: a collective that is under way is completed, its result right, and so are those
// that follow. Arguments: cases (those in main()).
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arguments.c"

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define HAS_PERSISTENT
#endif

static int rank, ranks, one = 1, sum = -1;

static int start_again(MPI_Request* request) { return MPI_Start(request); }
static int start_all_again(MPI_Request* request) { return MPI_Startall(1, request); }
static int free_it(MPI_Request* request) { return MPI_Request_free(request); }
static int cancel(MPI_Request* request) { return MPI_Cancel(request); }

static void check(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void start(int persistent, MPI_Request* request) {
  if (!persistent) MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, request);
#ifdef HAS_PERSISTENT
  if (persistent) MPI_Start(request);
#endif
}

static void make(int persistent, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
#ifdef HAS_PERSISTENT
  if (persistent) MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request);
#endif
}

static int report(const char* name, int code) {
  int class, length;
  char words[MPI_MAX_ERROR_STRING];
  MPI_Error_class(code, &class);
  MPI_Error_string(class, words, &length);
  printf("%s: %s: %s\n", name,
         class == MPI_ERR_REQUEST    ? "MPI_ERR_REQUEST"
         : class == MPI_ERR_TRUNCATE ? "MPI_ERR_TRUNCATE"
                                     : "another class",
         words);
  fflush(stdout);
  return class;
}

// The others have not started yet, so that it cannot be complete.
static void misuse(const char* name, int persistent, int (*wrongly)(MPI_Request*)) {
  MPI_Request request;
  int class = MPI_SUCCESS;
  sum = -1;
  make(persistent, &request);
  if (rank == 0) {
    start(persistent, &request);
    class = report(name, wrongly(&request));
    for (int r = 1; r < ranks; ++r) MPI_Send(NULL, 0, MPI_INT, r, 1, MPI_COMM_WORLD);
  } else {
    MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    start(persistent, &request);
  }
  if (class != MPI_SUCCESS) check(request != MPI_REQUEST_NULL, "request after an error");
  check(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS || class == MPI_SUCCESS, "wait after an error");
  check(sum == ranks || class == MPI_SUCCESS, "result after an error");
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

// A request that was freed, or completed, is none any more, whoever still has its handle.
static void misuse_gone(const char* name, int persistent, int (*wrongly)(MPI_Request*)) {
  MPI_Request request, copy, others[2];
  int sums[2] = {-1, -1};
  make(persistent, &request);
  copy = request;
  if (persistent) {
    MPI_Request_free(&request);
  } else {
    start(0, &request);
    copy = request;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  report(name, wrongly(&copy));
  for (int i = 0; i < 2; ++i) MPI_Iallreduce(&one, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &others[i]);
  report(name, wrongly(&copy));
  for (int i = 0; i < 2; ++i) check(MPI_Wait(&others[i], MPI_STATUS_IGNORE) == MPI_SUCCESS, "wait after an error");
  check(sums[0] == ranks && sums[1] == ranks, "results after an error");
}

// Rank 0 makes two persistent collectives in another order than the others.
static void misuse_order(const char* name, int broadcasts, int (*unused)(MPI_Request*)) {
  (void)unused;
#ifdef HAS_PERSISTENT
  MPI_Request requests[2];
  int data[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    const int which = rank == 0 ? i : 1 - i;
    if (broadcasts)
      MPI_Bcast_init(&data[which], 1, MPI_INT, which, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    else if (which == 0)
      MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    else
      make(1, &requests[i]);
  }
  MPI_Startall(2, requests);
  for (int i = 0; i < 2; ++i) report(name, MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
#endif
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*misuse)(const char* name, int which, int (*wrongly)(MPI_Request*));
    int which;  // with requests: persistent ones?
    int (*wrongly)(MPI_Request*);
  } cases[] = {
      {"start-active", misuse, 1, start_again},
      {"startall-active", misuse, 1, start_all_again},
      {"start-nonblocking", misuse, 0, start_again},
      {"startall-nonblocking", misuse, 0, start_all_again},
      {"free-active", misuse, 0, free_it},
      {"free-active-persistent", misuse, 1, free_it},
      {"cancel", misuse, 0, cancel},
      {"cancel-persistent", misuse, 1, cancel},
      {"free-complete", misuse_gone, 0, free_it},
      {"free-twice", misuse_gone, 1, free_it},
      {"start-freed", misuse_gone, 1, start_again},
      {"startall-freed", misuse_gone, 1, start_all_again},
      {"order-of-kinds", misuse_order, 0, NULL},
      {"order-of-roots", misuse_order, 1, NULL},
  };
  alarm(60);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);  // from now on nonblocking calls are served as well
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    if (is_given(argc, argv, cases[i].name)) cases[i].misuse(cases[i].name, cases[i].which, cases[i].wrongly);
  MPI_Finalize();
  if (rank == 0) puts("all right");
  return 0;
}
