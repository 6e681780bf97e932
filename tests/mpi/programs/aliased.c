// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives with the same buffer to send and to receive, which MPI forbids. Prints the class of the worst error of
// all ranks by collective: buffer, none or another. Where there is a root it alone errs, and repeats the call rightly.
// Arguments: how many right calls come before; then fatal, if the default error handler shall be called.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 4, most = 8, root = 1 };

static int rank, ranks;
static double in[n * most], out[n * most];
static int counts[most], places[most], other_counts[most], other_places[most];

static double* at_own(double* all) { return all + rank * n; }

// `same`: with the buffer that is forbidden.
#define COLLECTIVE(name, call) \
  static int name(MPI_Comm comm, int same) { return (call); }
COLLECTIVE(allreduce, MPI_Allreduce(same ? out : in, out, n, MPI_DOUBLE, MPI_SUM, comm))
COLLECTIVE(reduce, MPI_Reduce(same ? out : in, out, n, MPI_DOUBLE, MPI_SUM, root, comm))
COLLECTIVE(scan, MPI_Scan(same ? out : in, out, n, MPI_DOUBLE, MPI_SUM, comm))
COLLECTIVE(exscan, MPI_Exscan(same ? out : in, out, n, MPI_DOUBLE, MPI_SUM, comm))
COLLECTIVE(reduce_scatter, MPI_Reduce_scatter(same ? out : in, out, counts, MPI_DOUBLE, MPI_SUM, comm))
COLLECTIVE(reduce_scatter_block, MPI_Reduce_scatter_block(same ? out : in, out, n, MPI_DOUBLE, MPI_SUM, comm))
COLLECTIVE(gather, MPI_Gather(same ? at_own(out) : in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, root, comm))
COLLECTIVE(scatter, MPI_Scatter(in, n, MPI_DOUBLE, same ? at_own(in) : out, n, MPI_DOUBLE, root, comm))
COLLECTIVE(allgather, MPI_Allgather(same ? at_own(out) : in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm))
COLLECTIVE(alltoall, MPI_Alltoall(same ? out : in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm))
// Equal arrays in other places are no error: only the same ones say that the same is sent as is received.
COLLECTIVE(alltoallv, MPI_Alltoallv(same ? out : in, counts, places, MPI_DOUBLE, out, same ? counts : other_counts,
                                    same ? places : other_places, MPI_DOUBLE, comm))
COLLECTIVE(gatherv, MPI_Gatherv(same ? at_own(out) : in, n, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, root, comm))
COLLECTIVE(scatterv, MPI_Scatterv(in, counts, places, MPI_DOUBLE, same ? at_own(in) : out, n, MPI_DOUBLE, root, comm))
COLLECTIVE(allgatherv, MPI_Allgatherv(same ? at_own(out) : in, n, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, comm))

static const struct {
  const char* name;
  int (*call)(MPI_Comm, int same);
  int rooted;
} all[] = {{"allreduce", allreduce, 0},
           {"reduce", reduce, 1},
           {"scan", scan, 0},
           {"exscan", exscan, 0},
           {"reduce_scatter", reduce_scatter, 0},
           {"reduce_scatter_block", reduce_scatter_block, 0},
           {"gather", gather, 1},
           {"scatter", scatter, 1},
           {"allgather", allgather, 0},
           {"alltoall", alltoall, 0},
           {"alltoallv", alltoallv, 0},
           {"gatherv", gatherv, 1},
           {"scatterv", scatterv, 1},
           {"allgatherv", allgatherv, 0}};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int r = 0; r < ranks; ++r) {
    counts[r] = other_counts[r] = n;
    places[r] = other_places[r] = r * n;
  }
  const int fatal = argc > 2;
  if (!fatal) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // Open MPI calls that of the world
  for (size_t c = 0; c < sizeof all / sizeof *all; ++c) {
    int wrong = MPI_SUCCESS;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (!fatal) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < atoi(argv[1]); ++i) all[c].call(comm, 0);
    if (!all[c].rooted || rank == root) MPI_Error_class(all[c].call(comm, 1), &wrong);
    int again = all[c].rooted && (rank != root || wrong != MPI_SUCCESS) ? all[c].call(comm, 0) : MPI_SUCCESS;
    int worst[2] = {0, 0}, mine[2] = {wrong == MPI_SUCCESS ? 0 : wrong == MPI_ERR_BUFFER ? 1 : 2, again};
    MPI_Allreduce(mine, worst, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
      printf("%s: %s\n", all[c].name, worst[1] ? "fails" : (const char*[]){"none", "buffer", "another"}[worst[0]]);
    MPI_Comm_free(&comm);
  }
  MPI_Finalize();
  return 0;
}
