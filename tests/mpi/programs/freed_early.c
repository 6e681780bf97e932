/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicators that go before their persistent collectives: some ranks start them before MPI_Comm_free and some behind
 * it; after MPI_Comm_disconnect ranks free them one after the other. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int rank, ranks, one = 1, sum;

static MPI_Comm copy_with(MPI_Request* request) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, copy, MPI_INFO_NULL, request);
  return copy;
}

static void wait_for_turn(void) {
  if (rank > 0) MPI_Recv(NULL, 0, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void give_turn(void) {
  if (rank + 1 < ranks) MPI_Send(NULL, 0, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Request request;
  alarm(60);  // rather than to hang
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm copy = copy_with(&request);
  if (rank == 0) MPI_Start(&request);
  MPI_Comm_free(&copy);
  wait_for_turn();
  if (rank > 0) MPI_Start(&request);
  give_turn();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const int right = sum == ranks;
  MPI_Request_free(&request);
  copy = copy_with(&request);
  MPI_Comm_disconnect(&copy);
  wait_for_turn();
  MPI_Request_free(&request);
  give_turn();
  int all_right = 0;
  MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) puts(all_right ? "all right" : "wrong");
  MPI_Finalize();
  return 0;
}
