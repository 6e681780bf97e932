// SPDX-License-Identifier: BSD-3-Clause
//
// Nonblocking, persistent and neighbourhood calls whose number, size and lateness a test knows: what a profile and a
// trace must say of them.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define PERSISTENT
#endif

enum { small = 100, doubles = 1 << 13, early = 5, left = 7, starts = 10, in_flight = 4 };

static int rank, ranks;
static double in[doubles], out[in_flight][doubles];

static void nap(double seconds) {
  const struct timespec time = {0, (long)(seconds * 1e9)};
  nanosleep(&time, NULL);
}

static void sum(int n, double* to, MPI_Request* request) {
  MPI_Iallreduce(in, to, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}

static void test_until_complete(MPI_Request* request) {
  for (int complete = 0; !complete;) MPI_Test(request, &complete, MPI_STATUS_IGNORE);
}

// On a communicator that is not set up yet, since its making may not wait, and then on the same one when it is.
static void before_and_after_set_up(void) {
  MPI_Request request;
  MPI_Comm fresh;
  MPI_Comm_idup(MPI_COMM_WORLD, &fresh, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_set_name(fresh, "fresh");
  for (int i = 0; i < early; ++i) {
    MPI_Ibarrier(fresh, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(fresh);
  MPI_Ibarrier(fresh, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&fresh);
}

static void nonblocking(void) {
  MPI_Request requests[in_flight];
  for (int i = 0; i < small; ++i) {
    sum(1, out[0], &requests[0]);
    i % 2 ? test_until_complete(&requests[0]) : (void)MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
  // While the program does something else: no time of its own. It cannot end at once on the first rank.
  if (rank == ranks - 1) nap(0.05);
  sum(2, out[0], &requests[0]);
  nap(0.2);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  // The last rank is late, and the others wait for it in one call for all.
  if (rank == ranks - 1) nap(0.2);
  for (int i = 0; i < in_flight; ++i) sum(doubles, out[i], &requests[i]);
  MPI_Waitall(in_flight, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < left; ++i) {
    MPI_Ireduce(in, out[0], 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
}

static void persistent(void) {
#ifdef PERSISTENT
  MPI_Request requests[2];
  MPI_Allreduce_init(in, out[0], 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Reduce_init(in, out[1], 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  for (int i = 0; i < starts; ++i) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
#endif
}

static void neighbourhood(void) {
  const int periodic = 1;
  MPI_Request request;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  MPI_Comm_set_name(ring, "ring");
  MPI_Neighbor_allgather(in, 16, MPI_DOUBLE, out[0], 16, MPI_DOUBLE, ring);
  for (int i = 0; i < 3; ++i) {
    MPI_Ineighbor_allgather(in, 16, MPI_DOUBLE, out[0], 16, MPI_DOUBLE, ring, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
#ifdef PERSISTENT
  MPI_Neighbor_alltoall_init(in, 16, MPI_DOUBLE, out[0], 16, MPI_DOUBLE, ring, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
#endif
  MPI_Comm_free(&ring);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  before_and_after_set_up();
  nonblocking();
  persistent();
  neighbourhood();
  if (rank == 0) printf("all right\n");
  MPI_Finalize();
  return 0;
}
