// SPDX-License-Identifier: BSD-3-Clause
//
// Children, and communicators at the end of a program. Arguments: forks, orders, left or atexit.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, ranks, right = 1;

static void check(MPI_Comm comm) {
  static double values[20000], sums[20000];
  int size;
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < 20000; ++i) values[i] = i;
  for (int n = 1; n <= 20000; n *= 20000) {
    MPI_Allreduce(values, sums, n, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < n; ++i) right = right && sums[i] == (double)i * size;
  }
}

// One child ends, one becomes another program, one outlives the collectives that follow.
static void forks(void) {
  for (int i = 0; i < 10; ++i) {
    check(MPI_COMM_WORLD);
    int status = -1;
    pid_t child = fork();
    if (child == 0 && i % 2) _exit(0);
    if (child == 0) execl("/bin/true", "true", (char*)NULL), _exit(1);
    const pid_t late = fork();
    if (late == 0) {
      usleep(20000);
      _exit(0);
    }
    check(MPI_COMM_WORLD);
    waitpid(child, &status, 0);
    right = right && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    waitpid(late, &status, 0);
    right = right && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
}

// Children of freed parents, freed in another order than they were made in.
static void orders(void) {
  enum { n = 12 };
  MPI_Comm chain[n];
  for (int round = 0; round < 5; ++round) {
    MPI_Comm parent;
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    for (int i = 0; i < n; ++i) {
      if (i % 2)
        MPI_Comm_split(parent, 0, i % 4 == 1 ? -rank : rank, &chain[i]);
      else
        MPI_Comm_dup(parent, &chain[i]);
      if (i % 3) check(chain[i]);
      if (i % 4 == 0) check(parent);
      MPI_Comm_free(&parent);
      MPI_Comm_dup(chain[i], &parent);
    }
    MPI_Comm_free(&parent);
    for (int i = 0; i < n; ++i) {
      const int next = i * 5 % n;
      check(chain[next]);
      MPI_Comm_free(&chain[next]);
    }
  }
}

static void left(void) {
  MPI_Comm kept[20];
  for (int i = 0; i < 20; ++i) {
    if (i % 2)
      MPI_Comm_split(MPI_COMM_WORLD, rank == i % ranks, rank, &kept[i]);
    else
      MPI_Comm_dup(MPI_COMM_WORLD, &kept[i]);
    if (i != 7) check(kept[i]);
  }
  MPI_Comm_free(&kept[11]);
}

static void finish(void) {
  int everybody = 0;
  MPI_Allreduce(&right, &everybody, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (rank == 0) printf(everybody ? "all right\n" : "wrong\n");
  MPI_Finalize();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(MPI_COMM_WORLD);
  const char* what = argv[1];
  if (!strcmp(what, "forks")) forks();
  if (!strcmp(what, "orders")) orders();
  if (!strcmp(what, "left") || !strcmp(what, "atexit")) left();
  if (!strcmp(what, "atexit"))
    atexit(finish);
  else
    finish();
  return 0;
}
