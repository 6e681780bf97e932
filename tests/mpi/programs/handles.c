// SPDX-License-Identifier: BSD-3-Clause
//
// Communicators and types that are hard to keep track of.
#include <mpi.h>
#include <stdio.h>

static int rank, ranks, right = 1;

static void expect(int condition, const char* what) {
  if (!condition) fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  right = right && condition;
}

static int sum_of_ones(MPI_Comm comm) {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

static int reduce_again(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)keyval, (void)value, (void)extra;
  expect(sum_of_ones(comm) == ranks, "in a communicator that is being freed");
  return MPI_SUCCESS;
}

// The next communicator, a smaller one, may get the handle of the one that was used while it was freed.
static void use_while_freeing(void) {
  int keyval;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, reduce_again, &keyval, NULL);
  for (int i = 0; i < 6; ++i) {
    MPI_Comm whole, half;
    int size;
    MPI_Comm_dup(MPI_COMM_WORLD, &whole);
    if (i % 2) MPI_Barrier(whole);
    MPI_Comm_set_attr(whole, keyval, NULL);
    MPI_Barrier(whole);
    if (i < 3)
      MPI_Comm_free(&whole);
    else
      MPI_Comm_disconnect(&whole);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_size(half, &size);
    expect(sum_of_ones(half) == size, "in the communicator after it");
    MPI_Comm_free(&half);
  }
  MPI_Comm_free_keyval(&keyval);
}

// Predefined, but not named.
static void use_parameterised_type(void) {
  MPI_Datatype real, pair;
  double values[2] = {rank + 1.0, rank + 2.0};
  MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real);
  MPI_Type_contiguous(2, real, &pair);
  MPI_Type_commit(&pair);
  MPI_Bcast(values, 1, pair, 0, MPI_COMM_WORLD);
  expect(values[0] == 1.0 && values[1] == 2.0, "a parameterised type");
  MPI_Type_free(&pair);
}

static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
  int size;
  MPI_Type_size(*type, &size);
  for (int i = 0; i < *n * size / (int)sizeof(int); ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void take_left(void* in, void* inout, int* n, MPI_Datatype* type) {
  int size;
  MPI_Type_size(*type, &size);
  for (int i = 0; i < *n * size / (int)sizeof(int); ++i) ((int*)inout)[i] = ((int*)in)[i];
}

enum { calls = 12, untouched = -1 };

// Types and operators of the same calls, freed and made again: handles may come back and mean something else.
static void use_handles_again(void) {
  for (int turn = 0; turn < 12; ++turn) {
    const int n = 1 + turn % 3;  // numbers of an element
    MPI_Datatype row;
    MPI_Op op;
    MPI_Request request;
    MPI_Type_contiguous(n, MPI_INT, &row);
    MPI_Type_commit(&row);
    MPI_Op_create(turn % 2 ? take_left : add, turn % 2 == 0, &op);
    for (int call = 0; call < calls; ++call) {
      int all[4] = {untouched, untouched, untouched, untouched}, sum[4] = {untouched, untouched, untouched, untouched};
      for (int i = 0; rank == 0 && i < 4; ++i) all[i] = 100 * turn + 10 * call + i;
      MPI_Bcast(all, 1, row, 0, MPI_COMM_WORLD);
      for (int i = 0; i < n; ++i) expect(all[i] == 100 * turn + 10 * call + i, "a type made again");
      expect(rank == 0 || all[n] == untouched, "behind a type made again");
      int mine[4] = {rank + call, rank + call, rank + call, rank + call};
      const int expected = turn % 2 ? call : ranks * call + ranks * (ranks - 1) / 2;
      if (call % 3 == 2) {
        MPI_Iallreduce(mine, sum, 1, row, op, MPI_COMM_WORLD, &request);
        if (call == calls - 1) MPI_Op_free(&op);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else {
        MPI_Allreduce(mine, sum, 1, row, op, MPI_COMM_WORLD);
      }
      for (int i = 0; i < 4; ++i) expect(sum[i] == (i < n ? expected : untouched), "an operator made again");
    }
    MPI_Type_free(&row);
  }
}

#ifdef MPICH_VERSION
// MPICH lets an empty part have no type.
static void exchange_with_neighbour(void) {
  int counts[64] = {0}, others[64] = {0}, places[64] = {0}, mine = 7 * rank, got = -1;
  MPI_Datatype sent[64], received[64];
  for (int r = 0; r < ranks; ++r) sent[r] = received[r] = rank == 0 ? MPI_INT : MPI_DATATYPE_NULL;
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  counts[next] = others[before] = 1;
  sent[next] = received[before] = MPI_INT;
  MPI_Alltoallw(&mine, counts, places, sent, &got, others, places, received, MPI_COMM_WORLD);
  expect(got == 7 * before, "a part of no type");
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  use_while_freeing();
  use_parameterised_type();
  use_handles_again();
#ifdef MPICH_VERSION
  exchange_with_neighbour();
#endif
#ifdef MPIX_EQUAL
  int value[2] = {0, 3}, equal[2] = {0, 0};
  MPI_Allreduce(value, equal, 1, MPI_2INT, MPIX_EQUAL, MPI_COMM_WORLD);
#endif
  int everybody = 0;
  MPI_Allreduce(&right, &everybody, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (rank == 0) printf(everybody ? "all right\n" : "wrong\n");
  MPI_Finalize();
  return everybody ? 0 : 3;
}
