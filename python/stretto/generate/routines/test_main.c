/* SPDX-License-Identifier: BSD-3-Clause */

int main(int argc, char** argv) {
  static const int counts[] = {0, 1, 2, RANKS - 1, RANKS, RANKS + 1, 1000, 20011};
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != RANKS) {
    if (rank == 0) fprintf(stderr, "this is for %d ranks, not for %d\n", RANKS, ranks);
    MPI_Finalize();
    return 1;
  }
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) test_with(counts[i], rank);
  MPI_Finalize(); /* waits until all are through, or have aborted */
  if (rank == 0) printf("right on %d ranks\n", RANKS);
  return 0;
}

#endif
