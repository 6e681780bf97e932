// SPDX-License-Identifier: BSD-3-Clause
//
// For Open MPI with --with-ft ulfm. The last rank kills itself between two allreduces; the others get an error, shrink
// the communicator and go on, there and on a communicator that it was never in, with more bytes than there would be
// memory for if what the failed rank never read were lost.
// Argument: world, or a duplicate while MPI_COMM_WORLD's handler is fatal (dup) or must not be called (counted), also
// with nonblocking or persistent calls or with a handler of the duplicate's own that is to be called (handled). With
// `first` it has failed before any collective.
#include <mpi.h>

#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks, calls_of_handler, handled;
static const char* form;

static void count_call(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++calls_of_handler;
}

static void note_class(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  MPI_Error_class(*code, &handled);
}

static void leave(int signal_number) {
  (void)signal_number;
  _exit(0);
}

static void check(int correct, const char* what) {
  if (correct) return;
  fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static int sum_of(MPI_Comm comm, int mine, int* code) {
  int sum = -1;
  *code = MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

static int reduce(int* mine, int* sums, int n, MPI_Comm comm) {
  MPI_Request request;
  if (!strcmp(form, "nonblocking")) {
    const int code = MPI_Iallreduce(mine, sums, n, MPI_INT, MPI_SUM, comm, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
  }
  if (strcmp(form, "persistent") != 0) return MPI_Allreduce(mine, sums, n, MPI_INT, MPI_SUM, comm);
  int code = MPI_Allreduce_init(mine, sums, n, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  if (code != MPI_SUCCESS) return code;
  code = MPI_Start(&request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  return code;
}

/// 64 KiB.
static int large_is_right(MPI_Comm comm, int* code) {
  static int mine[16384], sums[16384];
  int count, right = 1;
  MPI_Comm_size(comm, &count);
  for (int k = 0; k < 16384; ++k) mine[k] = k;
  *code = reduce(mine, sums, 16384, comm);
  for (int k = 0; k < 16384; ++k) right &= sums[k] == count * k;
  return right && *code == MPI_SUCCESS;
}

static int class_of(int code) {
  int found = 0;
  MPI_Error_class(code, &found);
  return found;
}

/// With a failed rank Open MPI itself does not always come back from MPI_Finalize; Stretto's part comes first.
static void finish(void) {
  if (rank == 0) printf("all right\n");
  fflush(stdout);
  signal(SIGALRM, leave);
  alarm(2);
  MPI_Finalize();
}

/// The communicator's first collective, with which Stretto begins, is the one that the failed rank misses.
static void fail_before_first(void) {
  int code;
  MPI_Comm smaller;
  if (rank == ranks - 1) raise(SIGKILL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  sum_of(MPI_COMM_WORLD, rank, &code);
  check(class_of(code) == MPIX_ERR_PROC_FAILED || class_of(code) == MPIX_ERR_REVOKED, "the error");
  MPIX_Comm_revoke(MPI_COMM_WORLD);
  check(MPIX_Comm_shrink(MPI_COMM_WORLD, &smaller) == MPI_SUCCESS, "shrink");
  for (int i = 0; i < 20; ++i) check(sum_of(smaller, 1, &code) == ranks - 1 && code == MPI_SUCCESS, "after shrinking");
  MPI_Comm_free(&smaller);
  finish();
}

int main(int argc, char** argv) {
  int code, agreed = 1;
  MPI_Comm comm = MPI_COMM_WORLD, others, smaller;
  form = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!strcmp(form, "first")) {
    fail_before_first();
    return 0;
  }
  const int survivors = ranks - 1, right = survivors * (survivors - 1) / 2;
  MPI_Comm_split(MPI_COMM_WORLD, rank == ranks - 1, rank, &others);
  if (strcmp(argv[1], "world") != 0) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (!strcmp(argv[1], "counted")) {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(count_call, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  }
  MPI_Errhandler own = MPI_ERRORS_RETURN;
  if (!strcmp(argv[1], "handled")) MPI_Comm_create_errhandler(note_class, &own);
  MPI_Comm_set_errhandler(comm, own);
  for (int i = 0; i < 20; ++i) check(sum_of(comm, rank, &code) == right + ranks - 1 && code == MPI_SUCCESS, "before");
  check(large_is_right(comm, &code), "large before");
  if (rank != ranks - 1) check(sum_of(others, rank, &code) == right && code == MPI_SUCCESS, "others before");
  if (rank == ranks - 1) raise(SIGKILL);

  large_is_right(comm, &code);
  check(class_of(code) == MPIX_ERR_PROC_FAILED || class_of(code) == MPIX_ERR_REVOKED, "the error");
  check(strcmp(argv[1], "handled") != 0 || handled == class_of(code), "what the handler was told");
  MPIX_Comm_revoke(comm);
  sum_of(comm, rank, &code);
  check(class_of(code) == MPIX_ERR_REVOKED, "the error after revoking");
  check(MPIX_Comm_shrink(comm, &smaller) == MPI_SUCCESS, "shrink");
  check(MPIX_Comm_agree(smaller, &agreed) == MPI_SUCCESS && agreed, "agree");
  for (int i = 0; i < 20; ++i) check(sum_of(smaller, rank, &code) == right && code == MPI_SUCCESS, "after shrinking");
  check(sum_of(others, rank, &code) == right && code == MPI_SUCCESS, "others afterwards");
  for (int i = 0; i < 50; ++i) check(large_is_right(smaller, &code), "large after shrinking");
  for (int i = 0; i < 50; ++i) check(large_is_right(others, &code), "large others afterwards");
  check(calls_of_handler == 0, "the other communicator's handler was called");
  MPI_Comm_free(&smaller);
  MPI_Comm_free(&others);
  if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
  finish();
  return 0;
}
