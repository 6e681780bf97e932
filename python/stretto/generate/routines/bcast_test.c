/* SPDX-License-Identifier: BSD-3-Clause */

static void test_with(int count, int rank) {
  long* buffer = malloc(sizeof(long) * (size_t)(count + 1));
  for (int root = 0; root < RANKS; ++root) {
    for (int i = 0; i <= count; ++i) buffer[i] = rank == root && i < count ? value_of(root, i) : -1;
    require(tree_bcast(buffer, count, MPI_LONG, root, MPI_COMM_WORLD) == MPI_SUCCESS, "an error code", count);
    for (int i = 0; i < count; ++i) require(buffer[i] == value_of(root, i), "a wrong value", count);
    require(buffer[count] == -1, "a write behind the end", count);
  }
  free(buffer);
}
