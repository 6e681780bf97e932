// SPDX-License-Identifier: BSD-3-Clause
//
// Not a program: neighbourhood.c includes it. A job is a call of any neighbourhood
// collective in any form, with buffers of its own and what must stand in them in the end, byte by byte, also where
// nothing may be written.
#include <sched.h>

#include "neighbourhood_graphs.c"

enum function { allgather, allgatherv, alltoall, alltoallv, alltoallw, functions };
static const char* const names[] = {"neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall",
                                    "neighbor_alltoallv", "neighbor_alltoallw"};
enum form { blocking, nonblocking, persistent, forms };
static const char* const form_names[] = {"blocking", "nonblocking", "persistent"};

// How elements lie in memory. An item is two of them: side by side, each with a hole behind it, with holes between and
// behind them, the second before the first, and with a hole in front.
enum kind { plain, pair, spaced, vector, backward, late, kinds };
enum base { ints, doubles, bytes, shorts, base_types };
enum side { sent, received };
enum { guard = 64, in_flight = 16 };

// A block in memory: of a neighbour, or what is sent to all of them.
struct slot {
  enum kind kind;
  enum base base;
  int items;
  size_t at;
};

struct job {
  enum function function;
  enum form form;
  const struct topology* topology;
  int items;             // on them the sizes of blocks depend
  int large;             // the function whose counts are MPI_Count
  unsigned shape, seed;  // on them sizes and places of blocks depend, and values
  enum kind kinds[2];
  enum base base;
  int slots[2];
  struct slot slot[2][most_edges];
  size_t size[2];
  unsigned char* memory[2];
  // As the function wants them, large or not: MPI may read them until the call is complete.
  long long counts[2][most_edges], places[2][most_edges];
  MPI_Datatype types[2][most_edges];
};

static int native;  // asked to leave out what a native library is known to do wrong

static void wrong(const char* what, const struct job* j) {
  if (j)
    fprintf(stderr, "rank %d: wrong: %s of %s %s, communicator %s, rank %d of %d, %d items%s\n", world_rank, what,
            form_names[j->form], names[j->function], j->topology->name, j->topology->rank, j->topology->ranks, j->items,
            j->large ? ", large counts" : "");
  else
    fprintf(stderr, "rank %d: wrong: %s\n", world_rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void wrong_slot(const char* what, int slot, int neighbour, const struct job* j) {
  char words[100];
  snprintf(words, sizeof words, "%s in slot %d, neighbour %d,", what, slot, neighbour);
  wrong(words, j);
}

static int is_allgather(enum function f) { return f <= allgatherv; }

static int is_uneven(enum function f) { return f != allgather && f != alltoall; }

static size_t width(enum base base) { return (const size_t[]){4, 8, 1, 2}[base]; }

static int elements_between(enum kind kind) { return (const int[]){2, 2, 4, 5, 3, 4}[kind]; }

static int count_of(const struct slot* s) { return s->kind == plain || s->kind == spaced ? 2 * s->items : s->items; }

static size_t extent_of(const struct slot* s) {
  const int per_item = s->kind == plain || s->kind == spaced ? 2 : 1;
  return elements_between(s->kind) / per_item * width(s->base);
}

static size_t place_of(enum kind kind, int element) {
  const size_t first = (size_t)(element / 2) * elements_between(kind), second = element % 2;
  switch (kind) {
    case spaced:
    case vector: return first + 2 * second;
    case backward: return first + 2 * (1 - second);
    case late: return first + 1 + 2 * second;
    default: return first + second;
  }
}

static MPI_Datatype make_type(enum kind kind, enum base base) {
  const MPI_Datatype old = (const MPI_Datatype[]){MPI_INT, MPI_DOUBLE, MPI_BYTE, MPI_SHORT}[base];
  const MPI_Aint w = (MPI_Aint)width(base);
  MPI_Datatype type, resized;
  switch (kind) {
    case plain: MPI_Type_dup(old, &type); break;
    case pair: MPI_Type_contiguous(2, old, &type); break;
    case spaced: MPI_Type_dup(old, &type); break;
    case vector: MPI_Type_vector(2, 1, 2, old, &type); break;
    case backward: MPI_Type_create_hindexed_block(2, 1, (const MPI_Aint[]){2 * w, 0}, old, &type); break;
    default: MPI_Type_create_hindexed_block(2, 1, (const MPI_Aint[]){w, 3 * w}, old, &type);
  }
  if (kind > pair) {
    MPI_Type_create_resized(type, 0, (kind == spaced ? 2 : elements_between(kind)) * w, &resized);
    MPI_Type_free(&type);
    type = resized;
  }
  MPI_Type_commit(&type);
  return type;
}

// Of what a rank sends through this slot. Where all blocks of a call have one size, it is that of connected ranks only.
static int items_of(const struct job* j, int rank, int slot) {
  if (!is_uneven(j->function)) return j->items * (1 + j->topology->component[rank] % 2);
  return j->items * (int)((j->shape + 7 * rank + (is_allgather(j->function) ? 0 : 3 * slot)) % 4) / 2;
}

// Both ends of an edge know what it is, as the sender numbers it. Nobody is at the other end of slots at a border.
static void describe(struct job* j, enum side side, int i) {
  const struct topology* t = j->topology;
  struct slot* s = &j->slot[side][i];
  int rank = t->rank, number = i;
  *s = (struct slot){.kind = j->kinds[side], .base = j->base, .items = j->items};
  if (side == received && t->in[rank].rank[i] == MPI_PROC_NULL) return;
  if (side == received) number = origin(t, rank, i), rank = t->in[rank].rank[i];
  s->items = items_of(j, rank, number);
  if (j->function != alltoallw) return;
  s->base = (j->base + rank + number) % base_types;
  s->kind = (j->kinds[side] + i) % kinds;
}

// Side by side, or, where the call says where they are, out of order with holes between them.
static void place(struct job* j, enum side side) {
  const int n = j->slots[side], uneven = is_uneven(j->function) && !(side == sent && is_allgather(j->function));
  size_t at = 0;
  for (int i = 0; i < n; ++i) {
    struct slot* s = &j->slot[side][!uneven ? i : side == received ? n - 1 - i : (int)((i + j->shape) % n)];
    s->at = at;
    at += s->items * elements_between(s->kind) * width(s->base);
    if (uneven) at += elements_between(s->kind) * width(s->base);
    if (j->function == alltoallw) at = (at + 15) / 8 * 8;
  }
  j->size[side] = at;
  j->memory[side] = malloc(at + 2 * guard);
}

static void set_number(const struct job* j, long long* array, int i, long long number, int is_place) {
  if (is_place && (j->large || j->function == alltoallw))
    ((MPI_Aint*)array)[i] = number;
  else if (j->large)
    ((MPI_Count*)array)[i] = number;
  else
    ((int*)array)[i] = number;
}

static unsigned char value(const struct job* j, int rank, int slot, size_t i) {
  const unsigned at_first = (j->seed * 2654435761u) ^ (rank * 40503u + slot * 2246822519u);
  return (at_first + (unsigned)i * 0x9e3779b1u) >> 24;
}

// Puts into memory what stands there when a block has been sent by that rank through that slot of its.
static void put(const struct job* j, unsigned char* memory, const struct slot* s, int rank, int slot) {
  const size_t w = width(s->base);
  if (is_allgather(j->function)) slot = 0;
  for (int e = 0; e < 2 * s->items; ++e)
    for (size_t i = 0; i < w; ++i)
      memory[guard + s->at + place_of(s->kind, e) * w + i] = value(j, rank, slot, e * w + i);
}

static unsigned char* expected(const struct job* j, enum side side) {
  const struct topology* t = j->topology;
  const struct list* in = &t->in[t->rank];
  const size_t size = j->size[side] + 2 * guard;
  unsigned char* memory = malloc(size);
  memset(memory, (side == sent ? 0x5a : 0xa5) ^ (int)(j->seed % 16), size);
  for (int i = 0; i < j->slots[side]; ++i) {
    const struct slot* s = &j->slot[side][i];
    if (side == sent)
      put(j, memory, s, t->rank, i);
    else if (in->rank[i] != MPI_PROC_NULL)
      put(j, memory, s, in->rank[i], origin(t, t->rank, i));
  }
  return memory;
}

// The input, and an output in which nothing stands yet; again before each start of a persistent call.
static void fill(struct job* j) {
  unsigned char* memory = expected(j, sent);
  memcpy(j->memory[sent], memory, j->size[sent] + 2 * guard);
  free(memory);
  memset(j->memory[received], 0xa5 ^ (int)(j->seed % 16), j->size[received] + 2 * guard);
}

static void make(struct job* j) {
  const struct topology* t = j->topology;
  j->slots[sent] = is_allgather(j->function) ? 1 : t->out[t->rank].n;
  j->slots[received] = t->in[t->rank].n;
  for (enum side side = sent; side <= received; ++side) {
    for (int i = 0; i < j->slots[side]; ++i) describe(j, side, i);
    place(j, side);
    for (int i = 0; i < most_edges; ++i) {  // the first is needed even where there are no neighbours
      struct slot* s = &j->slot[side][i];
      if (i >= j->slots[side])
        *s = (struct slot){.kind = j->kinds[side], .base = j->base, .items = items_of(j, t->rank, 0)};
      set_number(j, j->counts[side], i, count_of(s), 0);
      set_number(j, j->places[side], i, j->function == alltoallw ? s->at : s->at / extent_of(s), 1);
      const int needed = i == 0 || (j->function == alltoallw && i < j->slots[side]);
      j->types[side][i] = needed ? make_type(s->kind, s->base) : MPI_DATATYPE_NULL;
    }
  }
  fill(j);
}

static void free_types(struct job* j) {
  for (int i = 0; i < 2 * most_edges; ++i) {
    MPI_Datatype type = j->types[i / most_edges][i % most_edges];  // the array belongs to the call until it is complete
    if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
  }
}

static int differs(const struct job* j, enum side side, const unsigned char* right, size_t first, size_t n) {
  return memcmp(j->memory[side] + first, right + first, n) != 0;
}

static void check(const struct job* j) {
  const struct topology* t = j->topology;
  for (enum side side = sent; side <= received; ++side) {
    unsigned char* right = expected(j, side);
    const struct list* others = side == sent ? &t->out[t->rank] : &t->in[t->rank];
    for (int i = 0; i < j->slots[side]; ++i) {
      const struct slot* s = &j->slot[side][i];
      const size_t n = s->items * elements_between(s->kind) * width(s->base);
      if (!differs(j, side, right, guard + s->at, n)) continue;
      wrong_slot(side == sent ? "input" : "result", i, others->n > i ? others->rank[i] : MPI_PROC_NULL, j);
    }
    if (differs(j, side, right, 0, j->size[side] + 2 * guard))
      wrong(side == sent ? "memory outside the input" : "memory outside the result", j);
    free(right);
  }
}

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define PERSISTENT
#define MADE(call, ...) call(__VA_ARGS__, MPI_INFO_NULL, request)
#else
#define MADE(call, ...) MPI_ERR_OTHER
#endif
#define CALL_IN_FORM(name, c, ...)                                          \
  (j->form == blocking      ? MPI_Neighbor_##name##c(__VA_ARGS__)           \
   : j->form == nonblocking ? MPI_Ineighbor_##name##c(__VA_ARGS__, request) \
                            : MADE(MPI_Neighbor_##name##_init##c, __VA_ARGS__))
#if MPI_VERSION >= 4
enum { has_large = 1 };
#define CALL(name, ...) (j->large ? CALL_IN_FORM(name, _c, __VA_ARGS__) : CALL_IN_FORM(name, , __VA_ARGS__))
#else
enum { has_large = 0 };
#define CALL(name, ...) CALL_IN_FORM(name, , __VA_ARGS__)
#endif

// Without neighbours there may be no memory and no arrays; all MPIs are content with that in these two functions.
static void* if_any(const struct job* j, enum side side, void* memory) {
  return j->slots[side] || j->shape % 2 || j->function < alltoallv ? memory : NULL;
}

static int call(struct job* j, MPI_Request* request) {
  const int n = count_of(&j->slot[sent][0]), m = count_of(&j->slot[received][0]);
  const MPI_Datatype type = j->types[sent][0], other = j->types[received][0];
  void *in = if_any(j, sent, j->memory[sent] + guard), *out = if_any(j, received, j->memory[received] + guard);
  void *ns = if_any(j, sent, j->counts[sent]), *from = if_any(j, sent, j->places[sent]);
  void *ms = if_any(j, received, j->counts[received]), *to = if_any(j, received, j->places[received]);
  MPI_Datatype *in_types = if_any(j, sent, j->types[sent]), *out_types = if_any(j, received, j->types[received]);
  const MPI_Comm comm = j->topology->comm;
  switch (j->function) {
    case allgather: return CALL(allgather, in, n, type, out, m, other, comm);
    case allgatherv: return CALL(allgatherv, in, n, type, out, ms, to, other, comm);
    case alltoall: return CALL(alltoall, in, n, type, out, m, other, comm);
    case alltoallv: return CALL(alltoallv, in, ns, from, type, out, ms, to, other, comm);
    default: return CALL(alltoallw, in, ns, from, in_types, out, ms, to, out_types, comm);
  }
}

// What goes up and down a periodic dimension of one or two ranks arrives in the wrong slots of Intel MPI 2021.18's own,
// and of Open MPI 5.0.11's own that do not block.
static int is_sound(const struct job* j) {
#if defined(I_MPI_VERSION) || defined(OPEN_MPI)
  const int is_short = j->topology->is_short && !is_allgather(j->function);
#ifdef OPEN_MPI
  if (native && is_short && j->form != blocking) return 0;
#else
  if (native && is_short) return 0;
#endif
#endif
  (void)j;
  return 1;
}

static int needs_types(const struct job* j) {
#ifdef OPEN_MPI
  if (native) return j->form == persistent;  // Open MPI 5.0.11's own lets go of them after the first time
#endif
  (void)j;
  return 0;
}

// A blocking call is complete then, a nonblocking one started, a persistent one made. The job must stay where it is.
static void begin(struct job* j, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  if (call(j, request)) wrong("return code", j);
  if ((*request == MPI_REQUEST_NULL) != (j->form == blocking)) wrong("request", j);
  if (!needs_types(j)) free_types(j);
  // Bindings of Fortran hand over converted arrays, which are gone when the function returns: Stretto keeps copies.
  if (native) return;
  memset(j->counts, 0x55, sizeof j->counts);
  memset(j->places, 0x55, sizeof j->places);
  memset(j->types, 0x55, sizeof j->types);
}

static void drop(struct job* j) {
  if (needs_types(j)) free_types(j);
  free(j->memory[sent]);
  free(j->memory[received]);
}
