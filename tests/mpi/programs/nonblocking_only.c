// SPDX-License-Identifier: BSD-3-Clause
//
// A program whose collectives are all nonblocking, on the world and on communicators that it makes.
#include <mpi.h>
#include <stdio.h>

static int rank, wrong;

static void sum(MPI_Comm comm) {
  MPI_Request request;
  int ranks = 0, ones = 1, all = 0;
  MPI_Comm_size(comm, &ranks);
  MPI_Iallreduce(&ones, &all, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (all != ranks) wrong = 1;
}

static void sum_and_free(MPI_Comm* comm) {
  if (*comm == MPI_COMM_NULL) return;
  sum(*comm);
  MPI_Comm_free(comm);
}

int main(int argc, char** argv) {
  MPI_Comm half, copy, inner, shared, few;
  MPI_Group all, some;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sum(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? 1 : MPI_UNDEFINED, 0, &half);  // half the ranks are in none
  sum_and_free(&half);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_dup(half, &copy);
  sum(copy);
  MPI_Comm_split_type(copy, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
  sum_and_free(&shared);
  sum_and_free(&copy);
  sum_and_free(&half);

  int two[][3] = {{0, 1, 1}};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_range_incl(all, 1, two, &some);
  MPI_Comm_create(MPI_COMM_WORLD, some, &inner);
  sum_and_free(&inner);
  if (rank < 2) {
    MPI_Comm_create_group(MPI_COMM_WORLD, some, 7, &few);
    sum_and_free(&few);
  }
  MPI_Group_free(&some);
  MPI_Group_free(&all);

  int wrongs = 0;
  MPI_Request request;
  MPI_Ireduce(&wrong, &wrongs, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0) puts(wrongs ? "wrong" : "all right");
  MPI_Finalize();
  return 0;
}
