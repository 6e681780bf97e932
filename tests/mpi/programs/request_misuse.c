// SPDX-License-Identifier: BSD-3-Clause
//
// What no program may do to the request of a collective that is under way, with MPI_ERRORS_RETURN: prints the class of
// the error. Where there was one, nothing has happened: the collective is completed, and its result right.
// Argument: the case (those in main()).
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

// The others have not started yet, so that it cannot be complete.
static void misuse(const char* name, int persistent, int (*wrongly)(MPI_Request*)) {
  MPI_Request request = MPI_REQUEST_NULL;
  int class = MPI_SUCCESS, length;
  char words[MPI_MAX_ERROR_STRING];
#ifdef HAS_PERSISTENT
  if (persistent) MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
#endif
  if (rank == 0) {
    start(persistent, &request);
    MPI_Error_class(wrongly(&request), &class);
    MPI_Error_string(class, words, &length);
    printf("%s: %s: %s\n", name, class == MPI_ERR_REQUEST ? "MPI_ERR_REQUEST" : "another class", words);
    fflush(stdout);
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

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    int persistent;
    int (*wrongly)(MPI_Request*);
  } cases[] = {
      {"start-active", 1, start_again},
      {"startall-active", 1, start_all_again},
      {"start-nonblocking", 0, start_again},
      {"startall-nonblocking", 0, start_all_again},
      {"free-active", 0, free_it},
      {"free-active-persistent", 1, free_it},
      {"cancel", 0, cancel},
      {"cancel-persistent", 1, cancel},
  };
  alarm(60);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);  // from now on nonblocking calls are served as well
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    if (argc > 1 && !strcmp(argv[1], cases[i].name)) misuse(cases[i].name, cases[i].persistent, cases[i].wrongly);
  MPI_Finalize();
  if (rank == 0) puts("all right");
  return 0;
}
