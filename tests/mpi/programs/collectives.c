// SPDX-License-Identifier: BSD-3-Clause
//
// An ordinary program with all the collectives that Stretto serves, in all the ways that are usual. The counts of
// calls stand in tests/python/test_programs.py.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks;

static void check(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

// x -> a x + b, the left one applied last; modulo a prime. Does not commute.
static void compose(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) {
    const int* left = (int*)in + 2 * i;
    int* right = (int*)inout + 2 * i;
    right[1] = (left[0] * right[1] + left[1]) % 10007;
    right[0] = left[0] * right[0] % 10007;
  }
}

static void broadcasts(void) {
  enum { n = 1000 };
  int row[n], wide[2 * n];
  const int root = ranks - 1;
  for (int i = 0; i < n; ++i) row[i] = rank == root ? 7 * i : -1;
  MPI_Bcast(row, n, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) check(row[i] == 7 * i, "bcast");
  // One type at the root, another one with the same signature elsewhere.
  MPI_Datatype every_other;
  MPI_Type_vector(n, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  for (int i = 0; i < 2 * n; ++i) wide[i] = rank == 0 ? i : -1;
  for (int i = 0; i < n; ++i) row[i] = -1;
  if (rank == 0)
    MPI_Bcast(wide, 1, every_other, 0, MPI_COMM_WORLD);
  else
    MPI_Bcast(row, n, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) check(rank == 0 ? wide[2 * i + 1] == 2 * i + 1 : row[i] == 2 * i, "bcast of a vector");
  MPI_Type_free(&every_other);
}

static void reductions(void) {
  enum { n = 4321 };
  static double values[n], sums[n];
  for (int i = 0; i < n; ++i) values[i] = rank + i;
  MPI_Reduce(values, sums, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int i = 0; i < n && rank == 0; ++i) check(sums[i] == ranks * (ranks - 1) / 2 + ranks * (double)i, "reduce");
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : values, values, n, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  for (int i = 0; i < n && rank == 0; ++i) check(values[i] == ranks - 1 + i, "reduce in place");
  for (int i = 0; i < n; ++i) values[i] = rank + i;
  MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) check(values[i] == i, "allreduce in place");
  MPI_Allreduce(values, sums, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

  int own[2] = {rank + 2, rank + 3}, all[2], expected[2] = {ranks + 1, ranks + 2};
  MPI_Datatype pair;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(compose, 0, &op);
  MPI_Allreduce(own, all, 1, pair, op, MPI_COMM_WORLD);
  for (int r = ranks - 2, one = 1; r >= 0; --r) {
    int left[2] = {r + 2, r + 3};
    compose(left, expected, &one, &pair);
  }
  check(all[0] == expected[0] && all[1] == expected[1], "allreduce with an operator that does not commute");
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
}

static void block_wise(void) {
  enum { n = 100 };
  int* all = malloc(sizeof(int) * n * ranks);
  int own[n];
  for (int i = 0; i < n; ++i) own[i] = 1000 * rank + i;
  MPI_Allgather(own, n, MPI_INT, all, n, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < n * ranks; ++i) check(all[i] == 1000 * (i / n) + i % n, "allgather");
  for (int i = 0; i < n * ranks; ++i) all[i] = i / n == rank ? own[i % n] : -1;
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < n * ranks; ++i) check(all[i] == 1000 * (i / n) + i % n, "allgather in place");
  for (int i = 0; i < n * ranks; ++i) all[i] = rank + i;
  MPI_Reduce_scatter_block(all, own, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) check(own[i] == ranks * (ranks - 1) / 2 + ranks * (rank * n + i), "reduce_scatter_block");
  free(all);
}

// Rank r's part has r elements, and begins behind those of the ranks before it.
static int counts[64], places[64], all_counts;

static void parts(void) {
  for (int r = 0; r < ranks; ++r) {
    counts[r] = r;
    places[r] = all_counts;
    all_counts += r;
  }
}

static void gathers(void) {
  const int last = ranks - 1;
  int own[64], all[64 * 64];
  for (int i = 0; i < 64; ++i) own[i] = 100 * rank + i;
  MPI_Gather(own, 3, MPI_INT, all, 3, MPI_INT, last, MPI_COMM_WORLD);
  for (int i = 0; i < 3 * ranks && rank == last; ++i) check(all[i] == 100 * (i / 3) + i % 3, "gather");
  MPI_Gatherv(own, rank, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
  for (int r = 0; r < ranks && rank == 0; ++r)
    for (int i = 0; i < r; ++i) check(all[places[r] + i] == 100 * r + i, "gatherv");
  for (int i = 0; i < rank; ++i) all[places[rank] + i] = own[i];
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < r; ++i) check(all[places[r] + i] == 100 * r + i, "allgatherv in place");
  MPI_Scatterv(all, counts, places, MPI_INT, own, rank, MPI_INT, last, MPI_COMM_WORLD);
  for (int i = 0; i < rank; ++i) check(own[i] == 100 * rank + i, "scatterv");
  for (int i = 0; i < 3 * ranks; ++i) all[i] = rank == 0 ? i : -1;
  MPI_Scatter(all, 3, MPI_INT, rank == 0 ? MPI_IN_PLACE : own, 3, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 3 && rank > 0; ++i) check(own[i] == 3 * rank + i, "scatter");
}

// Between ranks r and s go (r + s) % 3 numbers.
static void exchanges(void) {
  int out[3 * 64], in[3 * 64], each[64], at[64], bytes[64];
  MPI_Datatype types[64];
  for (int r = 0; r < ranks; ++r) {
    each[r] = (rank + r) % 3;
    at[r] = 3 * r;
    bytes[r] = 3 * r * (int)sizeof(int);
    types[r] = MPI_INT;
    for (int i = 0; i < 3; ++i) out[3 * r + i] = 1000 * rank + 10 * r + i;
  }
  const char* names[] = {"alltoall", "alltoallv", "alltoallw", "alltoall in place"};
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 3 * ranks; ++i) in[i] = k == 3 ? out[i] : -1;
    if (k == 0) MPI_Alltoall(out, 3, MPI_INT, in, 3, MPI_INT, MPI_COMM_WORLD);
    if (k == 1) MPI_Alltoallv(out, each, at, MPI_INT, in, each, at, MPI_INT, MPI_COMM_WORLD);
    if (k == 2) MPI_Alltoallw(out, each, bytes, types, in, each, bytes, types, MPI_COMM_WORLD);
    if (k == 3) MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 3, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < 3 * ranks; ++i) {
      const int given = k == 0 || k == 3 || i % 3 < each[i / 3];
      check(in[i] == (given ? 1000 * (i / 3) + 10 * rank + i % 3 : -1), names[k]);
    }
  }
}

static void prefixes(void) {
  int own = rank + 1, sum = -1, all[64 * 64], part[64];
  MPI_Scan(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check(sum == (rank + 1) * (rank + 2) / 2, "scan");
  sum = rank + 1;
  MPI_Scan(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  check(sum == rank + 1, "scan in place");
  sum = -1;
  MPI_Exscan(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check(sum == (rank == 0 ? -1 : rank * (rank + 1) / 2), "exscan");
  for (int i = 0; i < all_counts; ++i) all[i] = rank + i;
  MPI_Reduce_scatter(all, part, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < rank; ++i)
    check(part[i] == ranks * (ranks - 1) / 2 + ranks * (places[rank] + i), "reduce_scatter");
}

static void communicators(void) {
  MPI_Comm half, copy;
  int sum = 0, one = 1;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
  check(sum == (ranks + 1 - rank % 2) / 2, "allreduce on a part of the world");
  MPI_Comm_free(&half);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
  check(sum == ranks, "allreduce on a duplicate");
  MPI_Comm_free(&copy);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  check(sum == 1, "allreduce alone");
  MPI_Info nothing;
  MPI_Info_create(&nothing);
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, nothing, &copy);
  MPI_Comm_set_info(copy, nothing);
  MPI_Comm_split_type(copy, MPI_COMM_TYPE_SHARED, 0, nothing, &half);
  MPI_Info_free(&nothing);
  MPI_Comm_disconnect(&half);
  MPI_Comm_free(&copy);
}

static void errors(void) {
  int value = 0, class = MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = MPI_Bcast(&value, 1, MPI_INT, ranks, MPI_COMM_WORLD);
  MPI_Error_class(code, &class);
  check(class == MPI_ERR_ROOT, "error class of a root that does not exist");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  broadcasts();
  reductions();
  block_wise();
  parts();
  gathers();
  exchanges();
  prefixes();
  communicators();
  errors();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("all right\n");
  MPI_Finalize();
  return 0;
}
