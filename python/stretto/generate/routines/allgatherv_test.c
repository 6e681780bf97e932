/* SPDX-License-Identifier: BSD-3-Clause */

static void test_with(int count, int rank) {
  int counts[RANKS], first[RANKS], all = 0;
  for (int r = 0; r < RANKS; ++r) {
    counts[r] = r % 3 == 1 ? 0 : (count + 3 * r) % (count + 1) * (r == 0 ? 9 : 1);
    first[r] = all;
    all += counts[r] + 1;  /* with a hole behind every part */
  }
  long* in = malloc(sizeof(long) * (size_t)(counts[rank] + 1));
  long* out = malloc(sizeof(long) * (size_t)all);
  for (int in_place = 0; in_place < 2; ++in_place) {
    for (int i = 0; i < all; ++i) out[i] = -1;
    for (int i = 0; i < counts[rank]; ++i) (in_place ? out + first[rank] : in)[i] = value_of(rank, i);
    require(tree_allgatherv(in_place ? MPI_IN_PLACE : in, counts[rank], MPI_LONG, out, counts, first, MPI_LONG,
                            MPI_COMM_WORLD) == MPI_SUCCESS,
            "an error code", count);
    for (int r = 0; r < RANKS; ++r) {
      for (int i = 0; i < counts[r]; ++i) require(out[first[r] + i] == value_of(r, i), "a wrong part", count);
      require(out[first[r] + counts[r]] == -1, "a write behind a part", count);
    }
  }
  free(in);
  free(out);
}
