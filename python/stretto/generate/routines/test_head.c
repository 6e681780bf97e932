/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef TREE_WITHOUT_MAIN /* the self-test; -DTREE_WITHOUT_MAIN leaves it out */

static void require(int holds, const char* what, int count) {
  int rank;
  if (holds) return;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "rank %d: %s, with %d elements\n", rank, what, count);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static long value_of(int rank, int i) { return (long)(rank + 1) * (i % 1009 + 1); }
