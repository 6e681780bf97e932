/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Streams of scatterv, gatherv and alltoallv whose parts grow and shrink: 20 calls of each size, the same arguments
 * each time. Rank r's part has r + 1 units, of which rank 0 of a scatterv alone knows all.
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

static void stream(int unit, int rank, int ranks, int* whole, int* part) {
  int all = 0;
  for (int r = 0; r < ranks; ++r) {
    counts[r] = unit * (r + 1);
    places[r] = all;
    all += counts[r];
    even[r] = unit;
    even_places[r] = r * unit;
  }
  const int own = counts[rank];
  for (int call = 0; call < 20; ++call) {
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

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int* whole = malloc(sizeof *whole * largest * ranks_most * ranks_most);
  int* part = malloc(sizeof *part * largest * ranks_most);
  const int units[] = {1, largest, 1};
  for (int i = 0; i < 3; ++i) stream(units[i], rank, ranks, whole, part);
  free(whole);
  free(part);
  if (rank == 0) puts("all right");
  MPI_Finalize();
  return 0;
}
