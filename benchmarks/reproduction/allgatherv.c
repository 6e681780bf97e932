/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Times allgathervs in SimGrid's time, by MPI_Allgatherv and by the routine that `stretto generate allgatherv` wrote.
 * Arguments: "spike:65536" or "regular:1024", a distribution of Träff et al. and its base size in bytes. For each a
 * line: the argument and both times in µs.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tree_allgatherv(const void* in, int count, MPI_Datatype type, void* out, const int* counts, const int* displs,
                    MPI_Datatype out_type, MPI_Comm comm);

typedef int Function(const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype, MPI_Comm);

static double timed(Function* function, int rank, char* all, const int* counts, const int* displs) {
  double begin, own, last;
  MPI_Barrier(MPI_COMM_WORLD);
  begin = MPI_Wtime();
  if (function(all + displs[rank], counts[rank], MPI_BYTE, all, counts, displs, MPI_BYTE, MPI_COMM_WORLD)) exit(1);
  own = MPI_Wtime() - begin;
  MPI_Reduce(&own, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return last * 1e6;
}

int main(int argc, char** argv) {
  int rank, ranks, i, r;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (i = 1; i < argc; ++i) {
    const int spike = strncmp(argv[i], "spike:", 6) == 0;
    const int base = atoi(strchr(argv[i], ':') + 1);
    int* counts = malloc(sizeof(int) * (size_t)ranks);
    int* displs = malloc(sizeof(int) * (size_t)ranks);
    char* all;
    double plain, ring;
    for (r = 0; r < ranks; ++r) {
      counts[r] = !spike ? base : r == 0 ? base / 2 : base / (2 * (ranks - 1));
      displs[r] = r == 0 ? 0 : displs[r - 1] + counts[r - 1];
    }
    all = malloc((size_t)(displs[ranks - 1] + counts[ranks - 1]));
    plain = timed(MPI_Allgatherv, rank, all, counts, displs);
    ring = timed(tree_allgatherv, rank, all, counts, displs);
    if (rank == 0) printf("%s %.3f %.3f\n", argv[i], plain, ring);
    free(all);
    free(displs);
    free(counts);
  }
  MPI_Finalize();
  return 0;
}
