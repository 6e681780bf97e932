/* SPDX-License-Identifier: BSD-3-Clause */

static void test_with(int count, int rank) {
  int counts[RANKS], first = 0, all = 0;
  for (int r = 0; r < RANKS; ++r) {
    counts[r] = (count + 3 * r) % (count + 1);
    if (r < rank) first += counts[r];
    all += counts[r];
  }
  long* in = malloc(sizeof(long) * (size_t)(all + 1));
  long* out = malloc(sizeof(long) * (size_t)(all + 1));
  for (int in_place = 0; in_place < 2; ++in_place) {
    for (int i = 0; i < all; ++i) (in_place ? out : in)[i] = value_of(rank, i);
    out[all] = -1;
    require(tree_reduce_scatter(in_place ? MPI_IN_PLACE : in, out, counts, MPI_LONG, MPI_SUM, MPI_COMM_WORLD) ==
                MPI_SUCCESS,
            "an error code", count);
    for (int i = 0; i < counts[rank]; ++i) require(out[i] == sum_of(first + i), "a wrong sum", count);
    require(out[all] == -1, "a write behind the end", count);
  }
  free(in);
  free(out);
}
