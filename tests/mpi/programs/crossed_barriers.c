// SPDX-License-Identifier: BSD-3-Clause
//
// For three ranks; the second argument is a number of seconds. `crossed`: two communicators of all, whose barriers rank
// 0 calls in another order than the others, until SIGALRM comes then. `chain`: rank 0 waits for rank 1, which waits on
// another communicator for rank 2, which sleeps so long; what they need to share has been set up in MPI_Comm_split.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank;
  const unsigned seconds = (unsigned)atoi(argv[2]);
  MPI_Comm all[2], pairs[2];  // of ranks 0 and 1, of 1 and 2
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 2; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
    MPI_Barrier(all[i]);
    MPI_Comm_split(MPI_COMM_WORLD, rank == i || rank == i + 1 ? 0 : MPI_UNDEFINED, 0, &pairs[i]);
  }
  if (!strcmp(argv[1], "crossed")) {
    alarm(seconds);
    for (int i = 0; i < 2; ++i) MPI_Barrier(all[rank == 0 ? i : 1 - i]);
  } else {
    if (rank == 2) sleep(seconds);
    for (int i = 1; i >= 0; --i)
      if (pairs[i] != MPI_COMM_NULL) MPI_Barrier(pairs[i]);
  }
  MPI_Finalize();
  if (rank == 0) puts("all right");
  return 0;
}
