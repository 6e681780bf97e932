// SPDX-License-Identifier: BSD-3-Clause
//
// Makes calls again and again whose arrays of counts, displacements and types stay where they are while their contents
// change now and then, on two communicators. Says how often it made each.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { most = 8, slot = 64, untouched = 0xee };

static int rank, ranks, step, pattern;
static MPI_Comm comm;
static unsigned char out[most * slot], in[most * slot];
static int counts[2][most], places[2][most], bytes_at[most];
static MPI_Datatype types[2][most];

static void check(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "rank %d, step %d, pattern %d: wrong: %s\n", rank, step, pattern, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

// Of what s sends to r: how many elements.
static int number(int s, int r) {
  switch (pattern) {
    case 1: return (s + r) % 2 ? 0 : 3;
    case 2:
    case 3: return (3 * s + r + 1) % 5;
    default: return 2;
  }
}
static int place(int r) { return pattern == 3 ? ranks - 1 - r : r; }
// 0: int, 1: short, 2: a type of the program's own
static int kind(int s, int r) { return pattern == 4 ? (s + r) % 2 : pattern == 5 ? (s + r) % 3 : pattern == 6; }
static int own_shorts(void) { return 1 + step % 3; }
static int size_of(int k) { return k == 0 ? 4 : k == 1 ? 2 : 2 * own_shorts(); }

static unsigned char byte_of(int s, int r, int i) { return (unsigned char)(31 * s + 7 * r + 13 * step + i); }
static void fill(unsigned char* at, int s, int r) {
  for (int i = 0; i < slot; ++i) at[i] = byte_of(s, r, i);
}
static void begin(void) {
  for (int r = 0; r < ranks; ++r) fill(out + slot * place(r), rank, r);
  memset(in, untouched, sizeof in);
}
// The slot at `place` has `bytes` that s sent to r, and no others.
static void arrived(int at, int s, int r, int bytes, const char* what) {
  for (int i = 0; i < slot; ++i) check(in[slot * at + i] == (i < bytes ? byte_of(s, r, i) : untouched), what);
}

static void describe(MPI_Datatype own) {
  const MPI_Datatype of[] = {MPI_INT, MPI_SHORT, own};
  for (int r = 0; r < ranks; ++r) {
    counts[0][r] = number(rank, r);
    counts[1][r] = number(r, rank);
    places[0][r] = places[1][r] = slot / 4 * place(r);
    bytes_at[r] = slot * place(r);
    types[0][r] = of[kind(rank, r)];
    types[1][r] = of[kind(r, rank)];
  }
}

static void exchanges(void) {
  begin();
  MPI_Alltoallv(out, counts[0], places[0], MPI_INT, in, counts[1], places[1], MPI_INT, comm);
  for (int s = 0; s < ranks; ++s) arrived(place(s), s, rank, 4 * number(s, rank), "alltoallv");
  begin();
  MPI_Alltoallw(out, counts[0], bytes_at, types[0], in, counts[1], bytes_at, types[1], comm);
  for (int s = 0; s < ranks; ++s) arrived(place(s), s, rank, size_of(kind(s, rank)) * number(s, rank), "alltoallw");
}

// Part r has number(0, r) elements.
static void parts(void) {
  const int root = pattern % ranks;
  for (int r = 0; r < ranks; ++r) counts[0][r] = number(0, r);
  unsigned char* mine = out + slot * place(rank);
  begin();
  fill(mine, rank, 0);
  MPI_Gatherv(mine, counts[0][rank], MPI_INT, in, counts[0], places[0], MPI_INT, root, comm);
  for (int s = 0; s < ranks; ++s) arrived(place(s), s, 0, rank == root ? 4 * counts[0][s] : 0, "gatherv");
  MPI_Allgatherv(mine, counts[0][rank], MPI_INT, in, counts[0], places[0], MPI_INT, comm);
  for (int s = 0; s < ranks; ++s) arrived(place(s), s, 0, 4 * counts[0][s], "allgatherv");
  begin();
  MPI_Scatterv(out, counts[0], places[0], MPI_INT, in, counts[0][rank], MPI_INT, root, comm);
  arrived(0, root, rank, 4 * counts[0][rank], "scatterv");
}

static void sums(void) {
  int vector[most * 5], sum[5] = {-1, -1, -1, -1, -1}, first = 0, all = 0;
  const int in_place = step % 5 == 4;
  for (int r = 0; r < ranks; ++r) {
    if (r == rank) first = all;
    all += counts[0][r];
  }
  for (int i = 0; i < all; ++i) vector[i] = step + rank + i;
  MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : vector, in_place ? vector : sum, counts[0], MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < 5; ++i) {
    const int expected = ranks * (step + first + i) + ranks * (ranks - 1) / 2;
    if (i < counts[0][rank]) check((in_place ? vector : sum)[i] == expected, "reduce_scatter");
    if (i >= counts[0][rank]) check(sum[i] == -1, "reduce_scatter wrote too much");
  }
}

int main(int argc, char** argv) {
  enum { steps = 600 };
  MPI_Comm comms[2] = {MPI_COMM_WORLD};
  unsigned random = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[1]);
  for (step = 0; step < steps; ++step) {
    random = random * 1103515245u + 12345u;
    if ((random >> 16) % 6 == 0) pattern = (int)(random >> 20) % 7;  // else as before: from one call to thirty in a row
    comm = comms[step % 4 == 3];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Datatype own;  // its handle comes back for a type of another size
    MPI_Type_contiguous(own_shorts(), MPI_SHORT, &own);
    MPI_Type_commit(&own);
    describe(own);
    exchanges();
    parts();
    sums();
    MPI_Type_free(&own);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%d calls of each\n", steps);
  MPI_Comm_free(&comms[1]);
  MPI_Finalize();
  return 0;
}
