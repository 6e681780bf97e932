// SPDX-License-Identifier: BSD-3-Clause
//
// Calls on several communicators in turn, as on rows and columns of a grid. Prints how much longer they take than on
// one: the smallest of some means, the slowest rank.
#include <mpi.h>
#include <stdio.h>

enum { communicators = 4, turns = 20, calls = 5000 };

static double fastest(const MPI_Comm* comms, int n) {
  double in = 1, out, best = 1e9;
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < calls; ++i) MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, comms[i % n]);
    const double mean = (MPI_Wtime() - begin) / calls;
    if (mean < best) best = mean;
  }
  return best;
}

int main(int argc, char** argv) {
  MPI_Comm comms[communicators];
  int rank;
  double ratio, most;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < communicators; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  const double one = fastest(comms, 1);
  ratio = fastest(comms, communicators) / one;
  MPI_Reduce(&ratio, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.2f\n", most);
  for (int i = 0; i < communicators; ++i) MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  return 0;
}
