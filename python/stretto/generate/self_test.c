/* SPDX-License-Identifier: BSD-3-Clause */

//: head
#ifndef WITHOUT_MAIN /* the self-test; -DWITHOUT_MAIN leaves it out */

static void require(int holds, const char* what, int count) {
  if (holds) return;
  fprintf(stderr, "%s, with %d elements\n", what, count);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

//: barrier
/* The late rank calls when the others have its message; nobody may be through before. */
static void test_all(int rank) {
  for (int late = 0; late < RANKS; ++late) {
    MPI_Request request = MPI_REQUEST_NULL;
    int arrived = 1;
    if (rank != late) MPI_Irecv(NULL, 0, MPI_BYTE, late, 1, MPI_COMM_WORLD, &request);
    for (const double begin = MPI_Wtime(); rank == late && MPI_Wtime() < begin + 0.01;) continue;
    for (int r = 0; rank == late && r < RANKS; ++r)
      if (r != rank) MPI_Ssend(NULL, 0, MPI_BYTE, r, 1, MPI_COMM_WORLD);
    require(NAME(MPI_COMM_WORLD) == MPI_SUCCESS, "an error code", 0);
    MPI_Test(&request, &arrived, MPI_STATUS_IGNORE);
    require(arrived, "too early", 0);
  }
}

//: commutative_operator
/* Elements of two numbers. */
static void operate(void* in, void* inout, int* count, MPI_Datatype* type) {
  const long* left = in;
  long* right = inout;
  (void)type;
  for (int i = 0; i < 2 * *count; ++i) right[i] += left[i];
}

//: ordered_operator
/* Elements are functions x -> a x + b; the operator is not commutative. */
static void operate(void* in, void* inout, int* count, MPI_Datatype* type) {
  const unsigned long* left = in;
  unsigned long* right = inout;
  (void)type;
  for (int i = 0; i < 2 * *count; i += 2) {
    right[i + 1] += right[i] * left[i + 1];
    right[i] *= left[i];
  }
}

//: test_with
/* The same as MPI's own; an element is `wide` numbers. */
static void test_with(int count, int root, int in_place, int wide, MPI_Datatype type, MPI_Op op, int rank) {
  SIZES;
  const size_t longs = 2 * (size_t)(all + count + 1), bytes = longs * sizeof(long);
  long *in = malloc(bytes), *results[2];
  const void* from = in_place ? MPI_IN_PLACE : in;
  for (size_t i = 0; i < longs; ++i) in[i] = (long)(rank + 1) * ((long)i % 1009 + 1);
  for (int ours = 0; ours < 2; ++ours) {
    long* out = results[ours] = malloc(bytes);
    for (size_t i = 0; i < longs; ++i) out[i] = in_place ? in[i] : -1;
    const int code = ours ? NAME(ARGUMENTS, MPI_COMM_WORLD)
                          : MPI_NAME(ARGUMENTS, MPI_COMM_WORLD);
    require(code == MPI_SUCCESS, "an error code", count);
  }
  require(memcmp(results[0], results[1], COMPARED) == 0, "not what MPI's own does", count);
  free(in);
  free(results[0]);
  free(results[1]);
  (void)root, (void)op, (void)rank, (void)wide, (void)from;
}

static void test_all(int rank) {
  static const int counts[] = {0, 1, 2, RANKS - 1, RANKS, RANKS + 1, 1000, 20011};
  MPI_Datatype type;
  MPI_Op op = MPI_SUM;
  MAKE_WIDE;
  MPI_Type_commit(&type);
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i)
    for (int root = FIRST_ROOT; root <= LAST_ROOT; ++root)
      for (int in_place = 0; in_place < WAYS; ++in_place) {
        test_with(counts[i], root, in_place, 1, MPI_LONG, MPI_SUM, rank);
        test_with(counts[i], root, in_place, 2, type, op, rank);
      }
}

//: main
int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == RANKS) test_all(rank);
  if (rank == 0 && ranks != RANKS) fprintf(stderr, "this is for %d ranks, not for %d\n", RANKS, ranks);
  MPI_Finalize(); /* waits until all are through, or have aborted */
  if (rank == 0 && ranks == RANKS) printf("right on %d ranks\n", RANKS);
  return ranks != RANKS;
}

#endif
