/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums that depend on the order of additions: prints function, bytes of the vector and the first sum, by which the
 * algorithms of a library can be told apart.
 */
#include <mpi.h>
#include <stdio.h>

enum { most = 4096 };

int main(int argc, char** argv) {
  static const double values[] = {1e16, 1.0, -1e16, 1.0};
  static double in[most], out[most];
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < most; ++i) in[i] = values[rank % 4];
  for (int n = ranks; n <= most; n *= 2) {
    MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("allreduce %d %g\n", n * 8, out[0]);
    MPI_Reduce_scatter_block(in, out, n / ranks, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("reduce_scatter_block %d %g\n", n * 8, out[0]);
  }
  MPI_Finalize();
  return 0;
}
