/* SPDX-License-Identifier: BSD-3-Clause */

static void test_with(int count, int rank) {
  const int all = count * RANKS;
  long* in = malloc(sizeof(long) * (size_t)(count + 1));
  long* out = malloc(sizeof(long) * (size_t)(all + 1));
  for (int in_place = 0; in_place < 2; ++in_place) {
    for (int i = 0; i <= all; ++i) out[i] = -1;
    for (int i = 0; i < count; ++i) (in_place ? out + rank * count : in)[i] = value_of(rank, i);
    require(tree_allgather(in_place ? MPI_IN_PLACE : in, count, MPI_LONG, out, count, MPI_LONG, MPI_COMM_WORLD) ==
                MPI_SUCCESS,
            "an error code", count);
    for (int r = 0; r < RANKS; ++r)
      for (int i = 0; i < count; ++i) require(out[r * count + i] == value_of(r, i), "a wrong part", count);
    require(out[all] == -1, "a write behind the end", count);
  }
  free(in);
  free(out);
}
