/* SPDX-License-Identifier: BSD-3-Clause */

static void test_with(int count, int rank) {
  long* in = malloc(sizeof(long) * (size_t)(count + 1));
  long* out = malloc(sizeof(long) * (size_t)(count + 1));
  for (int in_place = 0; in_place < 2; ++in_place) {
    for (int i = 0; i < count; ++i) (in_place ? out : in)[i] = value_of(rank, i);
    out[count] = -1;
    require(tree_allreduce(in_place ? MPI_IN_PLACE : in, out, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS,
            "an error code", count);
    for (int i = 0; i < count; ++i) require(out[i] == sum_of(i), "a wrong sum", count);
    require(out[count] == -1, "a write behind the end", count);
  }
  free(in);
  free(out);
}
