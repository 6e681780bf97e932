// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives with the same buffer to send and to receive, which MPI forbids: all ranks err, or the root, then one rank
// alone. Prints the class of the worst error by collective, buffer, none or another; "fails" if a rank that did not err
// reports an error, buffers of one that did are changed, or a right call after that goes wrong. Natively some of it
// hangs. Arguments: how many right calls come before; then fatal, if the default error handler shall be called.
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

enum result { of_one, of_all, to_me, before_me };  // what receives the value of one rank, or a sum of ranks

static const struct {
  const char* name;
  int (*call)(MPI_Comm, int same);
  enum result result;
  int to_root;  // it alone receives
} all[] = {{"allreduce", allreduce, of_all, 0},
           {"reduce", reduce, of_all, 1},
           {"scan", scan, to_me, 0},
           {"exscan", exscan, before_me, 0},
           {"reduce_scatter", reduce_scatter, of_all, 0},
           {"reduce_scatter_block", reduce_scatter_block, of_all, 0},
           {"gather", gather, of_one, 1},
           {"scatter", scatter, of_one, 0},
           {"allgather", allgather, of_one, 0},
           {"alltoall", alltoall, of_one, 0},
           {"alltoallv", alltoallv, of_one, 0},
           {"gatherv", gatherv, of_one, 1},
           {"scatterv", scatterv, of_one, 0},
           {"allgatherv", allgatherv, of_one, 0}};

static void fill(void) {
  for (int i = 0; i < n * most; ++i) in[i] = 1, out[i] = 2;
}

static int is_filled(void) {
  for (int i = 0; i < n * most; ++i)
    if (in[i] != 1 || out[i] != 2) return 0;
  return 1;
}

/// Class of the error; `fails` is set where it should not be what it is.
static int call_wrongly(size_t c, MPI_Comm comm, int errs, int* fails) {
  int class;
  fill();
  MPI_Error_class(all[c].call(comm, errs), &class);
  *fails |= class != MPI_SUCCESS && (!errs || !is_filled());
  return class == MPI_SUCCESS ? 0 : class == MPI_ERR_BUFFER ? 1 : 2;
}

static int is_right(size_t c, MPI_Comm comm) {
  const int sums[] = {1, ranks, rank + 1, rank};
  fill();
  if (all[c].call(comm, 0) != MPI_SUCCESS) return 0;
  const int receives = (!all[c].to_root || rank == root) && (all[c].result != before_me || rank > 0);
  return out[0] == (receives ? sums[all[c].result] : 2);
}

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
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (!fatal) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < atoi(argv[1]); ++i) all[c].call(comm, 0);
    int mine[3] = {0}, worst[3];
    mine[0] = call_wrongly(c, comm, rank == root || !all[c].to_root, &mine[2]);
    mine[1] = call_wrongly(c, comm, rank == root, &mine[2]);
    mine[2] |= !is_right(c, comm);
    MPI_Allreduce(mine, worst, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
      printf("%s: %s\n", all[c].name,
             worst[2] || worst[0] != worst[1] ? "fails" : (const char*[]){"none", "buffer", "another"}[worst[0]]);
    MPI_Comm_free(&comm);
  }
  MPI_Finalize();
  return 0;
}
