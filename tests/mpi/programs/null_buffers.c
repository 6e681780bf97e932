// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives with null where elements should be, which MPICH reports: prints the class of the error of all ranks by
// collective and buffer, buffer or another, and of the last rank where it alone receives into null: natively the others
// may hang. Rank 0 says last whether null is right where nothing is read or written.
// Arguments: how many right calls come before.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 4, most = 8, root = 1 };

static double in[n * most], out[n * most];
static int counts[most], places[most];

#define COLLECTIVE(name, call) \
  static int name(void* in, void* out, int n, MPI_Comm comm) { return (call); }
COLLECTIVE(bcast, out ? MPI_Bcast(in, n, MPI_DOUBLE, root, comm) : MPI_Bcast(out, n, MPI_DOUBLE, root, comm))
COLLECTIVE(allreduce, MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, comm))
COLLECTIVE(reduce_scatter_block, MPI_Reduce_scatter_block(in, out, n, MPI_DOUBLE, MPI_SUM, comm))
COLLECTIVE(exscan, MPI_Exscan(in, out, n, MPI_DOUBLE, MPI_SUM, comm))
COLLECTIVE(allgather, MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm))
COLLECTIVE(alltoall, MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm))
COLLECTIVE(allgatherv, MPI_Allgatherv(in, n, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, comm))
COLLECTIVE(alltoallv, MPI_Alltoallv(in, counts, places, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, comm))
COLLECTIVE(neighbor_allgather, MPI_Neighbor_allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm))
#undef COLLECTIVE

static const struct {
  const char* name;
  int (*call)(void* in, void* out, int n, MPI_Comm);
} all[] = {{"bcast", bcast},           {"allreduce", allreduce}, {"reduce_scatter_block", reduce_scatter_block},
           {"exscan", exscan},         {"allgather", allgather}, {"alltoall", alltoall},
           {"allgatherv", allgatherv}, {"alltoallv", alltoallv}, {"neighbor_allgather", neighbor_allgather}};

// With an output that is null the first rank of an exscan does right.
static int is_wrong(size_t c, int no_input) { return no_input || all[c].call != exscan; }

static void say(const char* name, const char* kind, int is_right, int rank) {
  int all_right = 0;
  MPI_Allreduce(&is_right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) printf("%s %s: %s\n", name, kind, all_right ? "buffer" : "another");
}

static void receive_into_null_alone(size_t c, MPI_Comm ring, int errs, int rank) {
  int class;
  MPI_Error_class(all[c].call(in, errs ? NULL : out, n, ring), &class);
  const int again = all[c].call(in, out, n, ring);
  say(all[c].name, "alone", class == (errs ? MPI_ERR_BUFFER : MPI_SUCCESS) && again == MPI_SUCCESS, rank);
}

int main(int argc, char** argv) {
  int rank, ranks, before = argc > 1 ? atoi(argv[1]) : 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, (int[]){1}, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  for (int r = 0; r < ranks; ++r) counts[r] = n, places[r] = r * n;
  for (size_t c = 0; c < sizeof all / sizeof *all; ++c) {
    for (int no_input = 0; no_input < 2; ++no_input) {
      if (!is_wrong(c, no_input)) continue;
      for (int i = 0; i < before; ++i) all[c].call(in, out, n, ring);
      int error = 0;
      MPI_Error_class(all[c].call(no_input ? NULL : in, no_input ? out : NULL, n, ring), &error);
      say(all[c].name, no_input ? "in" : "out", error == MPI_ERR_BUFFER, rank);
    }
    if (all[c].call != bcast) receive_into_null_alone(c, ring, rank == ranks - 1, rank);
  }
  // Of a reduce the root alone has an output, of an exscan all but the first; a part or vector of no elements is
  // nowhere; absolute addresses begin at null.
  int error = MPI_Reduce(in, rank == root ? out : NULL, n, MPI_DOUBLE, MPI_SUM, root, ring);
  error |= MPI_Exscan(in, rank > 0 ? out : NULL, n, MPI_DOUBLE, MPI_SUM, ring);
  error |= MPI_Allreduce(NULL, NULL, 0, MPI_DOUBLE, MPI_SUM, ring);
  counts[0] = 0;
  error |= MPI_Reduce_scatter(in, rank > 0 ? out : NULL, counts, MPI_DOUBLE, MPI_SUM, ring);
  MPI_Aint at;
  MPI_Datatype absolute;
  in[0] = rank == root ? 7 : 0;
  MPI_Get_address(in, &at);
  MPI_Type_create_hindexed(1, (int[]){n}, &at, MPI_DOUBLE, &absolute);
  MPI_Type_commit(&absolute);
  error |= MPI_Bcast(MPI_BOTTOM, 1, absolute, root, ring);
  MPI_Type_free(&absolute);
  int right = error == MPI_SUCCESS && in[0] == 7, all_right = 0;
  MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) printf("null: %s\n", all_right ? "right" : "wrong");
  MPI_Comm_free(&ring);
  MPI_Finalize();
  return 0;
}
