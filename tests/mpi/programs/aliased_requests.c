// SPDX-License-Identifier: BSD-3-Clause
//
// Nonblocking and persistent collectives with the same buffer to send and to receive on rank 1 alone, which MPI
// forbids. Prints the class of its error by function: buffer, none or another; "fails" if another rank reports one, or
// a right call after that goes wrong.
#include <mpi.h>
#include <stdio.h>

enum { n = 4, most = 8 };

static double in[n * most], out[n * most];
static MPI_Comm comm = MPI_COMM_WORLD;

static int wait(int code, MPI_Request* request) {
  return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

static int start(int code, MPI_Request* request) {
  if (code == MPI_SUCCESS) code = MPI_Start(request);
  code = wait(code, request);
  if (*request != MPI_REQUEST_NULL) MPI_Request_free(request);
  return code;
}

#define CALL(name, call)          \
  static int name(double* from) { \
    MPI_Request request;          \
    return (call);                \
  }
CALL(iallreduce, wait(MPI_Iallreduce(from, out, n, MPI_DOUBLE, MPI_SUM, comm, &request), &request))
CALL(ialltoall, wait(MPI_Ialltoall(from, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm, &request), &request))
CALL(allreduce_init,
     start(MPI_Allreduce_init(from, out, n, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &request), &request))
CALL(alltoall_init,
     start(MPI_Alltoall_init(from, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm, MPI_INFO_NULL, &request), &request))

static const struct {
  const char* name;
  int (*call)(double* from);
  int sums;
} all[] = {{"iallreduce", iallreduce, 1},
           {"ialltoall", ialltoall, 0},
           {"allreduce_init", allreduce_init, 1},
           {"alltoall_init", alltoall_init, 0}};

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Barrier(comm);
  for (size_t c = 0; c < sizeof all / sizeof *all; ++c) {
    int class, mine[2] = {0}, worst[2];
    for (int i = 0; i < n * most; ++i) in[i] = 1, out[i] = 2;
    MPI_Error_class(all[c].call(rank == 1 ? out : in), &class);
    mine[0] = class == MPI_SUCCESS ? 0 : class == MPI_ERR_BUFFER ? 1 : 2;
    mine[1] = class != MPI_SUCCESS && rank != 1;
    mine[1] |= all[c].call(in) != MPI_SUCCESS || out[0] != (all[c].sums ? ranks : 1);
    MPI_Allreduce(mine, worst, 2, MPI_INT, MPI_MAX, comm);
    if (rank == 0)
      printf("%s: %s\n", all[c].name, worst[1] ? "fails" : (const char*[]){"none", "buffer", "another"}[worst[0]]);
  }
  MPI_Finalize();
  return 0;
}
