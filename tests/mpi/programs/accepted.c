// SPDX-License-Identifier: BSD-3-Clause
//
// Two jobs that meet by MPI_Comm_accept and MPI_Comm_connect, and make collectives with each other, blocking,
// nonblocking and of neighbours: on the intercommunicator and on the merged one. Arguments: accept or connect, and a
// file through which the port's name goes.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { room = 4096 };  // of a port's name: those of MPICH with UCX are longer than MPI_MAX_PORT_NAME

static void check(int right, const char* what) {
  if (right) return;
  printf("wrong: %s\n", what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void publish(const char* port, const char* path) {
  char unfinished[512];
  snprintf(unfinished, sizeof unfinished, "%s.new", path);
  FILE* file = fopen(unfinished, "w");
  fputs(port, file);
  fclose(file);
  rename(unfinished, path);
}

static void read_port(char* port, const char* path) {
  FILE* file;
  while (!(file = fopen(path, "r"))) usleep(10000);
  check(fgets(port, room, file) != NULL, "port");
  fclose(file);
}

/// Each side is given what the other one has.
static void between(MPI_Comm inter, int accepting) {
  int rank, others, mine = accepting ? 1 : 100, theirs = accepting ? 100 : 1, sum;
  MPI_Request request;
  MPI_Comm_rank(inter, &rank);
  MPI_Comm_remote_size(inter, &others);
  for (int i = 0; i < 5; ++i) {
    MPI_Barrier(inter);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter);
    check(sum == others * theirs, "allreduce between jobs");
    sum = -1;
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(sum == others * theirs, "iallreduce between jobs");
    int word = accepting ? 7 + i : -1;
    MPI_Bcast(&word, 1, MPI_INT, !accepting ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    check(word == 7 + i, "bcast between jobs");
  }
}

static void among_all(MPI_Comm all) {
  int rank, ranks, sum, near[2], word;
  MPI_Request request;
  MPI_Comm ring;
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &ranks);
  const int total = ranks * (ranks - 1) / 2;
  for (int i = 0; i < 5; ++i) {
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(sum == total, "iallreduce of all");
    sum = -1;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    check(sum == total, "allreduce of all");
    word = rank == ranks - 1 ? i : -1;
    MPI_Bcast(&word, 1, MPI_INT, ranks - 1, all);
    check(word == i, "bcast of all");
    MPI_Barrier(all);
  }
  const int periodic = 1;
  MPI_Cart_create(all, 1, &ranks, &periodic, 0, &ring);
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, near, 1, MPI_INT, ring);
  check(near[0] == (rank + ranks - 1) % ranks && near[1] == (rank + 1) % ranks, "neighbours of all");
  MPI_Comm_free(&ring);
}

int main(int argc, char** argv) {
  static char port[room];
  int world_rank, sum, world_ranks;
  MPI_Comm inter, all;
  MPI_Info info;
  if (argc != 3) return 2;
  const int accepting = strcmp(argv[1], "accept") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  MPI_Info_create(&info);
  MPI_Info_set(info, "port_name_size", "4096");  // MPICH's
  if (accepting) {
    if (world_rank == 0) MPI_Open_port(info, port);
    if (world_rank == 0) publish(port, argv[2]);
    MPI_Comm_accept(port, info, 0, MPI_COMM_WORLD, &inter);
  } else {
    if (world_rank == 0) read_port(port, argv[2]);
    MPI_Comm_connect(port, info, 0, MPI_COMM_WORLD, &inter);
  }
  MPI_Info_free(&info);
  between(inter, accepting);
  MPI_Intercomm_merge(inter, !accepting, &all);
  among_all(all);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&inter);
  if (accepting && world_rank == 0) MPI_Close_port(port);
  for (int i = 0; i < 5; ++i) MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check(sum == world_ranks * (world_ranks - 1) / 2, "allreduce of my own job");
  if (world_rank == 0) printf("all right\n");
  MPI_Finalize();
  return 0;
}
