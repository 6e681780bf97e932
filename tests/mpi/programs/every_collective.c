// SPDX-License-Identifier: BSD-3-Clause
//
// Not a program: nonblocking_all.c includes it, and with PERSISTENT persistent_collectives.c. A job is a call of any of
// the 17 functions, nonblocking or persistent, with buffers of its own and what must stand in them in the end, which
// every rank computes alone. Its types and operators are freed as soon as MPI has seen them.
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum function {
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  reduce,
  allreduce,
  reduce_scatter_block,
  reduce_scatter,
  scan,
  exscan,
  functions
};
static const char* const names[] = {
    "barrier",        "bcast",    "gather",    "gatherv",   "scatter", "scatterv",  "allgather",
    "allgatherv",     "alltoall", "alltoallv", "alltoallw", "reduce",  "allreduce", "reduce_scatter_block",
    "reduce_scatter", "scan",     "exscan"};

// What an element is, and how two are combined: added, the greater one, added by an operator of ours, whose type has a
// hole, and composed, which does not commute.
enum kind { ints, doubles, spaced, pairs, kinds };
enum { most_ranks = 16, in_flight = 16, comms = 3, prime = 10007, hole = 0x5a5a5a5a };
enum { untouched = -1, anything = -2, spoilt = -3 };  // no value is negative

struct job {
  enum function function;
  enum kind kind;
  MPI_Comm comm;
  int rank, ranks, root;
  int n;                // elements of a part, or of the vector
  int in_place, large;  // large: the function whose counts are MPI_Count
  unsigned shape;       // of it the sizes of the parts depend
  unsigned seed;        // of it the values depend
  int elements;         // of the input, of the output, and of what is expected there
  void *in, *out;
  // As the function wants them, large or not: MPI may read them until the call is complete.
  long long memory[4][most_ranks];
  void *counts, *places, *pair_counts, *pair_places;
  MPI_Datatype type, types[most_ranks];
  MPI_Op op;
};

static int world_rank;
static int native;  // asked to leave out what a native library is known to do wrong
// Asked to overwrite what a call said of each part as soon as it returns: bindings of Fortran hand over converted
// arrays that live no longer.
static int converts;
// To be compared with those that were served: what was called at once, what was made, and how often that was started.
static int calls[functions], made[functions], starts[functions];

static void wrong(const char* what, const struct job* j) {
  if (j)
    fprintf(stderr, "rank %d: wrong: %s of %s, kind %d, n %d, root %d, %d ranks%s%s\n", world_rank, what,
            names[j->function], j->kind, j->n, j->root, j->ranks, j->in_place ? ", in place" : "",
            j->large ? ", large counts" : "");
  else
    fprintf(stderr, "rank %d: wrong: %s\n", world_rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static unsigned draw(unsigned* state, unsigned below) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % below;
}

static size_t size_of(enum kind kind) { return kind == ints ? 4 : 8; }

static void put(enum kind kind, void* buffer, int i, int value) {
  int* two = (int*)buffer + 2 * (size_t)i;
  if (kind == ints) ((int*)buffer)[i] = value;
  if (kind == doubles) ((double*)buffer)[i] = value;
  if (kind == spaced) two[0] = value, two[1] = hole;
  if (kind == pairs) two[0] = value < 0 ? value : value / prime, two[1] = value < 0 ? value : value % prime;
}

static int get(enum kind kind, const void* buffer, int i) {
  const int* two = (const int*)buffer + 2 * (size_t)i;
  if (kind == ints) return ((const int*)buffer)[i];
  if (kind == doubles) return (int)((const double*)buffer)[i];
  if (kind == spaced) return two[1] == hole ? two[0] : spoilt;
  return two[0] < 0 ? two[0] : two[0] * prime + two[1];
}

static int value(const struct job* j, int rank, int i) {
  const unsigned mixed = (j->seed * 2654435761u) ^ (rank * 40503u + i * 2246822519u);
  return (int)((mixed >> 4) % (j->kind == pairs ? prime * prime : 1000));
}

static int combined(enum kind kind, int left, int right) {
  if (kind == doubles) return left > right ? left : right;
  if (kind != pairs) return left + right;
  const int a = left / prime, b = left % prime, c = right / prime, d = right % prime;
  return a * c % prime * prime + (a * d + b) % prime;
}

static void add_spaced(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) ((int*)inout)[2 * i] += ((int*)in)[2 * i];
}

static void compose(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) put(pairs, inout, i, combined(pairs, get(pairs, in, i), get(pairs, inout, i)));
}

static int is_parted(enum function f) {
  return f != bcast && f != reduce && f != allreduce && f != scan && f != exscan;
}

static int is_rooted(enum function f) { return f == bcast || (f >= gather && f <= scatterv) || f == reduce; }

static int is_uneven(enum function f) {
  return f == gatherv || f == scatterv || f == allgatherv || f == alltoallv || f == alltoallw || f == reduce_scatter;
}

// Of rank k's part; of what two ranks exchange, where k is the sum of both, so that in place fits as well.
static int counted(const struct job* j, int k) {
  return is_uneven(j->function) ? j->n * (int)((j->shape + k) % 3) / 2 : j->n;
}

// Uneven parts stand in reverse order with gaps between them, except where MPI says that they are adjacent.
static int placed(const struct job* j, int r) {
  int place = 0;
  if (is_uneven(j->function) && j->function != reduce_scatter) return (j->ranks - 1 - r) * (j->n + 1);
  for (int i = 0; i < r; ++i) place += counted(j, i);
  return place;
}

static int has_input_in_output(const struct job* j) {
  if (!j->in_place || j->function <= bcast || j->function == scatter || j->function == scatterv) return 0;
  return !is_rooted(j->function) || j->rank == j->root;
}

static void set_number(const struct job* j, void* array, int i, int number, int is_place) {
  if (!j->large)
    ((int*)array)[i] = number;
  else if (is_place)
    ((MPI_Aint*)array)[i] = number;
  else
    ((MPI_Count*)array)[i] = number;
}

static void make_arrays(struct job* j) {
  j->counts = j->memory[0], j->places = j->memory[1], j->pair_counts = j->memory[2], j->pair_places = j->memory[3];
  for (int r = 0; r < j->ranks; ++r) {
    const int bytes = j->function == alltoallw ? (int)size_of(j->kind) : 1;
    set_number(j, j->counts, r, counted(j, r), 0);
    set_number(j, j->places, r, placed(j, r), 1);
    set_number(j, j->pair_counts, r, counted(j, r + j->rank), 0);
    set_number(j, j->pair_places, r, placed(j, r) * bytes, 1);
  }
}

static void make_types(struct job* j) {
  j->type = j->kind == ints ? MPI_INT : MPI_DOUBLE;
  j->op = j->kind == ints ? MPI_SUM : MPI_MAX;
  if (j->kind == spaced) MPI_Type_create_resized(MPI_INT, 0, 8, &j->type), MPI_Op_create(add_spaced, 1, &j->op);
  if (j->kind == pairs) MPI_Type_contiguous(2, MPI_INT, &j->type), MPI_Op_create(compose, 0, &j->op);
  if (j->kind >= spaced) MPI_Type_commit(&j->type);
  for (int r = 0; r < j->ranks; ++r) {
    j->types[r] = j->type;
    if (r % 2) MPI_Type_dup(j->type, &j->types[r]);
  }
}

static void free_types(struct job* j) {
  for (int r = 1; r < j->ranks; r += 2) {
    MPI_Datatype type = j->types[r];  // the array belongs to the call until that is complete
    MPI_Type_free(&type);
  }
  if (j->kind < spaced) return;
  MPI_Type_free(&j->type);
  MPI_Op_free(&j->op);
}

// The input, and an output in which nothing stands yet; again before each start of a persistent call.
static void fill(struct job* j) {
  for (int i = 0; i < j->elements; ++i) {
    put(j->kind, j->in, i, value(j, j->rank, i));
    put(j->kind, j->out, i, untouched);
  }
  if (j->function == bcast && j->rank == j->root)
    for (int i = 0; i < j->n; ++i) put(j->kind, j->out, i, value(j, j->rank, i));
  if (!has_input_in_output(j)) return;
  const int gathers = j->function >= gather && j->function <= allgatherv, first = gathers ? placed(j, j->rank) : 0;
  const int n = gathers ? counted(j, j->rank) : j->elements;
  for (int i = 0; i < n; ++i) put(j->kind, j->out, first + i, value(j, j->rank, i));
}

static void make(struct job* j) {
#ifdef OPEN_MPI
  // In place and with uneven parts Open MPI 5.0.11's own MPI_Ialltoallw hangs, and its MPI_Ialltoallv gives wrong
  // results.
  if (native && (j->function == alltoallv || j->function == alltoallw)) j->in_place = 0;
#endif
#if defined(PERSISTENT) && defined(I_MPI_VERSION)
  // With operators of the program's own they may be native, and do wrong what persistent_collectives.c says.
  if (j->function >= reduce && j->kind >= spaced) j->kind = doubles;
#endif
  MPI_Comm_rank(j->comm, &j->rank);
  MPI_Comm_size(j->comm, &j->ranks);
  j->elements = (is_parted(j->function) ? j->ranks * (j->n + 1) : j->n) + 1;
  j->in = malloc(j->elements * size_of(j->kind));
  j->out = malloc(j->elements * size_of(j->kind));
  make_arrays(j);
  make_types(j);
  fill(j);
}

static void moved(const struct job* j, int* expected, int at, int from, int first, int n) {
  for (int i = 0; i < n; ++i) expected[at + i] = value(j, from, first + i);
}

static void folded(const struct job* j, int* expected, int first, int n, int last) {
  for (int i = 0; i < n; ++i) {
    int sum = value(j, 0, first + i);
    for (int r = 1; r <= last; ++r) sum = combined(j->kind, sum, value(j, r, first + i));
    expected[i] = sum;
  }
}

static void expect(const struct job* j, int* expected) {
  const int at_root = j->rank == j->root, own = counted(j, j->rank), last = j->ranks - 1;
  switch (j->function) {
    case bcast: moved(j, expected, 0, j->root, 0, j->n); break;
    case gather:
    case gatherv:
    case allgather:
    case allgatherv:
      for (int r = 0; r < j->ranks && (at_root || !is_rooted(j->function)); ++r)
        moved(j, expected, placed(j, r), r, 0, counted(j, r));
      break;
    case scatter:
    case scatterv:
      if (!j->in_place || !at_root) moved(j, expected, 0, j->root, placed(j, j->rank), own);
      break;
    case alltoall:
    case alltoallv:
    case alltoallw:
      for (int r = 0; r < j->ranks; ++r)
        moved(j, expected, placed(j, r), r, placed(j, j->rank), counted(j, r + j->rank));
      break;
    case reduce:
      if (at_root) folded(j, expected, 0, j->n, last);
      break;
    case allreduce: folded(j, expected, 0, j->n, last); break;
    case reduce_scatter_block:
    case reduce_scatter: folded(j, expected, placed(j, j->rank), own, last); break;
    case scan: folded(j, expected, 0, j->n, j->rank); break;
    case exscan:
      if (j->rank > 0) folded(j, expected, 0, j->n, j->rank - 1);
      break;
    default: break;
  }
}

// In place a reduce-scatter may leave anything behind the result, an exscan anything on rank 0, and an alltoall keeps
// what nothing was received for.
static int before(const struct job* j, int i) {
  if (!has_input_in_output(j)) return j->function == exscan && j->rank == 0 && i < j->n ? anything : untouched;
  if (j->function == reduce_scatter_block || j->function == reduce_scatter) return anything;
  if (j->function == exscan && j->rank == 0) return anything;
  return j->function >= gather && j->function <= allgatherv ? untouched : value(j, j->rank, i);
}

static void check(const struct job* j) {
  int* expected = malloc(j->elements * sizeof *expected);
  for (int i = 0; i < j->elements; ++i) expected[i] = before(j, i);
  expect(j, expected);
  for (int i = 0; i < j->elements; ++i) {
    const int found = get(j->kind, j->out, i);
    if (expected[i] == anything || found == expected[i]) continue;
    fprintf(stderr, "element %d is %d, not %d\n", i, found, expected[i]);
    wrong("result", j);
  }
  for (int i = 0; i < j->elements; ++i)
    if (get(j->kind, j->in, i) != value(j, j->rank, i)) wrong("input", j);
  free(expected);
}

#ifdef PERSISTENT
#define SMALL(name, Name, ...) MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, request)
#define LARGE(name, Name, ...) MPI_##Name##_init_c(__VA_ARGS__, MPI_INFO_NULL, request)
#else
#define SMALL(name, Name, ...) MPI_I##name(__VA_ARGS__, request)
#define LARGE(name, Name, ...) MPI_I##name##_c(__VA_ARGS__, request)
#endif
#if MPI_VERSION >= 4
enum { has_large = 1 };
#define CALL(name, Name, ...) (j->large ? LARGE(name, Name, __VA_ARGS__) : SMALL(name, Name, __VA_ARGS__))
#else
enum { has_large = 0 };
#define CALL(name, Name, ...) SMALL(name, Name, __VA_ARGS__)
#endif

static int begin_moving(struct job* j, void* in, void* out, MPI_Request* request) {
  const int root = j->root, n = j->n, own = counted(j, j->rank);
  const MPI_Datatype t = j->type;
  switch (j->function) {
    case barrier: return SMALL(barrier, Barrier, j->comm);
    case bcast: return CALL(bcast, Bcast, out, n, t, root, j->comm);
    case gather: return CALL(gather, Gather, in, n, t, out, n, t, root, j->comm);
    case gatherv: return CALL(gatherv, Gatherv, in, own, t, out, j->counts, j->places, t, root, j->comm);
    case scatter: return CALL(scatter, Scatter, in, n, t, out, n, t, root, j->comm);
    case scatterv: return CALL(scatterv, Scatterv, in, j->counts, j->places, t, out, own, t, root, j->comm);
    case allgather: return CALL(allgather, Allgather, in, n, t, out, n, t, j->comm);
    case allgatherv: return CALL(allgatherv, Allgatherv, in, own, t, out, j->counts, j->places, t, j->comm);
    case alltoall: return CALL(alltoall, Alltoall, in, n, t, out, n, t, j->comm);
    case alltoallv:
      return CALL(alltoallv, Alltoallv, in, j->pair_counts, j->pair_places, t, out, j->pair_counts, j->pair_places, t,
                  j->comm);
    default:
      return CALL(alltoallw, Alltoallw, in, j->pair_counts, j->pair_places, j->types, out, j->pair_counts,
                  j->pair_places, j->types, j->comm);
  }
}

static int begin_combining(struct job* j, void* in, void* out, MPI_Request* request) {
  const int n = j->n;
  switch (j->function) {
    case reduce: return CALL(reduce, Reduce, in, out, n, j->type, j->op, j->root, j->comm);
    case allreduce: return CALL(allreduce, Allreduce, in, out, n, j->type, j->op, j->comm);
    case reduce_scatter_block:
      return CALL(reduce_scatter_block, Reduce_scatter_block, in, out, n, j->type, j->op, j->comm);
    case reduce_scatter: return CALL(reduce_scatter, Reduce_scatter, in, out, j->counts, j->type, j->op, j->comm);
    case scan: return CALL(scan, Scan, in, out, n, j->type, j->op, j->comm);
    default: return CALL(exscan, Exscan, in, out, n, j->type, j->op, j->comm);
  }
}

static int needs_types(void) {
#if defined(PERSISTENT) && defined(OPEN_MPI)
  if (native) return 1;  // Open MPI 5.0.11's own lets go of them after the first time, and crashes at the second
#endif
  return 0;
}

// A nonblocking call is started by it, a persistent one made. The job must stay where it is until the end.
static void begin(struct job* j, MPI_Request* request) {
  const int scatters = j->function == scatter || j->function == scatterv;
  void* in = has_input_in_output(j) ? MPI_IN_PLACE : j->in;
  void* out = scatters && j->in_place && j->rank == j->root ? MPI_IN_PLACE : j->out;
  *request = MPI_REQUEST_NULL;
  if (j->function < reduce ? begin_moving(j, in, out, request) : begin_combining(j, in, out, request))
    wrong("return code", j);
  if (*request == MPI_REQUEST_NULL) wrong("request", j);
#ifdef PERSISTENT
  ++made[j->function];
#else
  ++calls[j->function];
#endif
  if (!needs_types()) free_types(j);
  if (!converts) return;
  memset(j->memory, 0x55, sizeof j->memory);
  memset(j->types, 0x55, sizeof j->types);
}

static void print_counts(void) {
  for (int f = 0; f < functions && world_rank == 0; ++f)
    printf("%s: called %d, made %d, started %d\n", names[f], calls[f], made[f], starts[f]);
}

static void drop(struct job* j) {
  if (needs_types()) free_types(j);
  free(j->in);
  free(j->out);
}
