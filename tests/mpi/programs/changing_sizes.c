/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Streams of scatterv, gatherv and alltoallv whose parts grow and shrink: 20 or 70 calls of each size, the same
 * arguments each time. Rank r's part has r + 1 units, of which rank 0 of a scatterv alone knows all. Then sizes that
 * change with every call, and an alltoallv with one large block between small ones.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ranks_most = 8, largest = 1 << 16 };

static int counts[ranks_most], places[ranks_most], even[ranks_most], even_places[ranks_most];

static void check(int right, const char* what, int unit) {
  if (right) return;
  fprintf(stderr, "wrong %s of %d ints\n", what, unit);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void stream(int unit, int calls, int rank, int ranks, int* whole, int* part) {
  int all = 0;
  for (int r = 0; r < ranks; ++r) {
    counts[r] = unit * (r + 1);
    places[r] = all;
    all += counts[r];
    even[r] = unit;
    even_places[r] = r * unit;
  }
  const int own = counts[rank];
  for (int call = 0; call < calls; ++call) {
    for (int i = 0; i < all; ++i) whole[i] = rank == 0 ? unit + i + call : -1;
    memset(part, 0, sizeof *part * (size_t)own);
    MPI_Scatterv(whole, counts, places, MPI_INT, part, own, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < own; ++i) check(part[i] == unit + places[rank] + i + call, "scatterv", unit);
    memset(whole, 0, sizeof *whole * (size_t)all);
    MPI_Gatherv(part, own, MPI_INT, whole, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < all; ++i) check(whole[i] == unit + i + call, "gatherv", unit);
    for (int i = 0; i < ranks * unit; ++i) whole[i] = rank * 1000 + i / unit + call;
    MPI_Alltoallv(whole, even, even_places, MPI_INT, part, even, even_places, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks * unit; ++i) check(part[i] == i / unit * 1000 + rank + call, "alltoallv", unit);
  }
}

/* Every other call is large, on all ranks: what is kept of them must go when the choice does. */
static void alternate(int rank, int ranks, int* whole, int* part) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int call = 0; call < 40; ++call) {
    const int own = call % 2 ? 400 : 1;
    const int root = call / 2 % ranks;
    for (int r = 0; r < ranks; ++r) {
      counts[r] = own;
      places[r] = r * own;
    }
    for (int i = 0; i < ranks * own; ++i) whole[i] = rank == root ? i + call : -1;
    MPI_Scatterv(whole, counts, places, MPI_INT, part, own, MPI_INT, root, comm);
    for (int i = 0; i < own; ++i) check(part[i] == places[rank] + i + call, "scatterv", own);
  }
  MPI_Comm_free(&comm);
}

/* One block of an alltoallv is much larger than what all of those before were. */
static void burst(int rank, int ranks, int* whole, int* part) {
  for (int call = 0; call < 4; ++call) {
    const int large = call == 2;
    for (int r = 0; r < ranks; ++r) {
      counts[r] = large && rank == 0 && r == 1 ? largest : 1;
      even[r] = large && rank == 1 && r == 0 ? largest : 1;
      places[r] = r ? places[r - 1] + counts[r - 1] : 0;
      even_places[r] = r ? even_places[r - 1] + even[r - 1] : 0;
      for (int i = 0; i < counts[r]; ++i) whole[places[r] + i] = 100 * rank + r + i;
    }
    MPI_Alltoallv(whole, counts, places, MPI_INT, part, even, even_places, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; ++r)
      for (int i = 0; i < even[r]; ++i) check(part[even_places[r] + i] == 100 * r + rank + i, "alltoallv", even[r]);
  }
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int* whole = malloc(sizeof *whole * largest * ranks_most * ranks_most);
  int* part = malloc(sizeof *part * largest * ranks_most);
  stream(1, 20, rank, ranks, whole, part);
  stream(largest, 70, rank, ranks, whole, part);
  stream(1, 20, rank, ranks, whole, part);
  alternate(rank, ranks, whole, part);
  burst(rank, ranks, whole, part);
  free(whole);
  free(part);
  if (rank == 0) puts("all right");
  MPI_Finalize();
  return 0;
}
