// SPDX-License-Identifier: BSD-3-Clause
//
// Blocking, nonblocking and persistent collectives, Stretto's and the native ones in turn in one process. Start it with
// `stretto run`, as benchmarks/nonblocking/run does: the functions called MPI_X are then Stretto's, and those that the
// loaded MPI library calls PMPI_X are its own. Prints the slowest rank's time of each block of calls, in µs a call:
//
//   nonblocking points|overlap [own]    prints lines of FUNCTION BYTES LIBRARY FORM TIME…
//
// A time is negative where a rank lost its core meanwhile. With `own` no native persistent requests are made, and no
// native overlap is measured.
#define _GNU_SOURCE  // RTLD_NOLOAD, RTLD_DEFAULT, dl_iterate_phdr
#include <dlfcn.h>
#include <link.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { rounds = 40, most_ranks = 16, most_iterations = 300 };
static const double block_us = 250;     // short enough that a block is seldom interrupted
static const double interrupted = 1e9;  // added to the time of one that was

/// Name, name with I, and the arguments that all three forms have.
#define COLLECTIVES(X)                                                                                                 \
  X(Barrier, Ibarrier, d->comm)                                                                                        \
  X(Bcast, Ibcast, d->vector, d->n, MPI_DOUBLE, 0, d->comm)                                                            \
  X(Gather, Igather, d->in, d->n, MPI_DOUBLE, d->out, d->n, MPI_DOUBLE, 0, d->comm)                                    \
  X(Gatherv, Igatherv, d->in, d->n, MPI_DOUBLE, d->out, d->counts, d->starts, MPI_DOUBLE, 0, d->comm)                  \
  X(Scatter, Iscatter, d->in, d->n, MPI_DOUBLE, d->out, d->n, MPI_DOUBLE, 0, d->comm)                                  \
  X(Scatterv, Iscatterv, d->in, d->counts, d->starts, MPI_DOUBLE, d->out, d->n, MPI_DOUBLE, 0, d->comm)                \
  X(Allgather, Iallgather, d->in, d->n, MPI_DOUBLE, d->out, d->n, MPI_DOUBLE, d->comm)                                 \
  X(Allgatherv, Iallgatherv, d->in, d->n, MPI_DOUBLE, d->out, d->counts, d->starts, MPI_DOUBLE, d->comm)               \
  X(Alltoall, Ialltoall, d->in, d->n, MPI_DOUBLE, d->out, d->n, MPI_DOUBLE, d->comm)                                   \
  X(Alltoallv, Ialltoallv, d->in, d->counts, d->starts, MPI_DOUBLE, d->out, d->counts, d->starts, MPI_DOUBLE, d->comm) \
  X(Alltoallw, Ialltoallw, d->in, d->counts, d->offsets, d->types, d->out, d->counts, d->offsets, d->types, d->comm)   \
  X(Reduce, Ireduce, d->in, d->out, d->n, MPI_DOUBLE, MPI_SUM, 0, d->comm)                                             \
  X(Allreduce, Iallreduce, d->in, d->out, d->n, MPI_DOUBLE, MPI_SUM, d->comm)                                          \
  X(Reduce_scatter_block, Ireduce_scatter_block, d->in, d->out, d->shares[0], MPI_DOUBLE, MPI_SUM, d->comm)            \
  X(Reduce_scatter, Ireduce_scatter, d->in, d->out, d->shares, MPI_DOUBLE, MPI_SUM, d->comm)                           \
  X(Scan, Iscan, d->in, d->out, d->n, MPI_DOUBLE, MPI_SUM, d->comm)                                                    \
  X(Exscan, Iexscan, d->in, d->out, d->n, MPI_DOUBLE, MPI_SUM, d->comm)

/// The functions of one side.
typedef struct {
  const char* name;
#define FIELDS(Name, Iname, ...)  \
  __typeof__(&MPI_##Name) Name;   \
  __typeof__(&MPI_##Iname) Iname; \
  __typeof__(&MPI_##Name##_init) Name##_init;
  COLLECTIVES(FIELDS)
#undef FIELDS
  __typeof__(&MPI_Wait) Wait;
  __typeof__(&MPI_Start) Start;
  __typeof__(&MPI_Request_free) Request_free;
} Library;

/// What the calls of a point work on. Each rank's part has n elements, and of a vector that is scattered shares[r].
typedef struct {
  MPI_Comm comm;
  int rank, ranks, n;
  double *in, *out, *vector, *expected;
  int counts[most_ranks], starts[most_ranks], offsets[most_ranks], shares[most_ranks];
  MPI_Datatype types[most_ranks];
  long work;  ///< that overlaps a call
} Data;

enum form { blocking, immediate, persistent, forms, overlapped, prepared, alone };
enum { most_variants = 2 * forms };  // of which the last is the native persistent one
static const char* const form_names[] = {"blocking", "immediate", "persistent"};

static Library own = {.name = "stretto"}, native = {.name = "native"};
static const Library* const libraries[] = {&own, &native};
static volatile double sink;

/// Computation that touches no memory: each step waits for the one before.
static void compute(long steps) {
  double x = sink;
  for (long i = 0; i < steps; ++i) x = x * 0.999 + 1e-3;
  sink = x;
}

/// So many calls in a row, or for `prepared` the request that `persistent` starts.
typedef void Perform(const Library* l, const Data* d, enum form form, int calls, MPI_Request* request);
#define PERFORM(Name, Iname, ...)                                                                                \
  static void perform_##Name(const Library* l, const Data* d, enum form form, int calls, MPI_Request* request) { \
    MPI_Request once;                                                                                            \
    if (form == prepared) l->Name##_init(__VA_ARGS__, MPI_INFO_NULL, request);                                   \
    if (form == blocking)                                                                                        \
      for (int i = 0; i < calls; ++i) l->Name(__VA_ARGS__);                                                      \
    if (form == immediate)                                                                                       \
      for (int i = 0; i < calls; ++i) l->Iname(__VA_ARGS__, &once), l->Wait(&once, MPI_STATUS_IGNORE);           \
    if (form == persistent)                                                                                      \
      for (int i = 0; i < calls; ++i) l->Start(request), l->Wait(request, MPI_STATUS_IGNORE);                    \
    if (form == overlapped)                                                                                      \
      for (int i = 0; i < calls; ++i)                                                                            \
        l->Iname(__VA_ARGS__, &once), compute(d->work), l->Wait(&once, MPI_STATUS_IGNORE);                       \
  }
COLLECTIVES(PERFORM)
#undef PERFORM

typedef struct {
  const char* name;
  Perform* perform;
} Function;

static const Function functions[] = {
#define FUNCTION(Name, Iname, ...) {#Name, perform_##Name},
    COLLECTIVES(FUNCTION)
#undef FUNCTION
};
enum { function_count = sizeof functions / sizeof *functions };

static int is_mpi(struct dl_phdr_info* info, size_t size, void* path) {
  (void)size;
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* file = slash ? slash + 1 : info->dlpi_name;
  if (strncmp(file, "libmpi.so", 9) != 0 && strncmp(file, "libmpich.so", 11) != 0) return 0;
  *(const char**)path = info->dlpi_name;
  return 1;
}

static void quit(const char* what) {
  fprintf(stderr, "nonblocking: %s\n", what);
  exit(2);
}

static void look_up(void* function, void* handle, const char* prefix, const char* name) {
  char whole[64];
  snprintf(whole, sizeof whole, "%s%s", prefix, name);
  void* found = dlsym(handle, whole);
  if (!found) quit(whole);
  memcpy(function, &found, sizeof found);
}

static void fill_library(Library* l, void* handle, const char* prefix) {
#define LOOK_UP(Name, Iname, ...)             \
  look_up(&l->Name, handle, prefix, #Name);   \
  look_up(&l->Iname, handle, prefix, #Iname); \
  look_up(&l->Name##_init, handle, prefix, #Name "_init");
  COLLECTIVES(LOOK_UP)
#undef LOOK_UP
  look_up(&l->Wait, handle, prefix, "Wait");
  look_up(&l->Start, handle, prefix, "Start");
  look_up(&l->Request_free, handle, prefix, "Request_free");
}

static void find_libraries(void) {
  const char* path = NULL;
  dl_iterate_phdr(is_mpi, &path);
  void* handle = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (!handle) quit("no MPI library is loaded");
  fill_library(&own, RTLD_DEFAULT, "MPI_");
  fill_library(&native, handle, "PMPI_");
  void* plain = dlsym(handle, "MPI_Iallreduce");
  if (memcmp(&plain, &own.Iallreduce, sizeof plain) == 0) quit("Stretto is not preloaded: start it with `stretto run`");
}

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/// How often this thread has lost its core or given it away.
static long switches(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw + usage.ru_nvcsw;
}

/// Of all ranks.
static void slowest(const Data* d, double* times, int count) {
  native.Allreduce(MPI_IN_PLACE, times, count, MPI_DOUBLE, MPI_MAX, d->comm);
}

static void set_size(Data* d, int bytes) {
  d->n = bytes / (int)sizeof(double);
  if (d->n < 1) d->n = 1;
  for (int r = 0; r < d->ranks; ++r) {
    d->counts[r] = d->n;
    d->starts[r] = r * d->n;
    d->offsets[r] = d->starts[r] * (int)sizeof(double);
    d->shares[r] = d->n / d->ranks > 1 ? d->n / d->ranks : 1;
    d->types[r] = MPI_DOUBLE;
  }
}

/// Small whole numbers, whose sums are exact.
static void fill(Data* d, int salt) {
  for (int i = 0; i < d->n * d->ranks; ++i) {
    d->in[i] = 1 + salt + d->rank * 100 + i % 1000;
    d->out[i] = -1;
    d->vector[i] = d->rank == 0 ? d->in[i] : -1;
  }
}

/// Each variant must leave what the native blocking call leaves; of a persistent request the second start as well.
static int wrong_variants(Data* d, const Function* f, MPI_Request* requests, int variants) {
  const size_t values = (size_t)d->n * (size_t)d->ranks, bytes = values * sizeof(double);
  int wrong = 0;
  for (int salt = 0; salt < 2; ++salt) {
    fill(d, salt);
    f->perform(&native, d, blocking, 1, NULL);
    memcpy(d->expected, d->out, bytes);
    memcpy(d->expected + values, d->vector, bytes);
    for (int v = 0; v < variants; ++v) {
      const int l = v / forms, form = v % forms;
      fill(d, salt);
      f->perform(libraries[l], d, (enum form)form, 1, &requests[l]);
      if (memcmp(d->expected, d->out, bytes) == 0 && memcmp(d->expected + values, d->vector, bytes) == 0) continue;
      ++wrong;
      printf("wrong %s %d %s %s\n", f->name, d->n * (int)sizeof(double), libraries[l]->name, form_names[form]);
    }
  }
  return wrong;
}

/// µs of a call of this rank; all begin together.
static double block(const Data* d, const Function* f, const Library* l, enum form form, int calls, MPI_Request* r) {
  f->perform(l, d, form, 2, r);
  l->Barrier(d->comm);
  const long before = switches();
  const double start = now_us();
  f->perform(l, d, form, calls, r);
  const double us = (now_us() - start) / calls;
  return switches() == before ? us : us + interrupted;
}

static int calls_of_block(const Data* d, const Function* f, const Library* l, enum form form, MPI_Request* r) {
  int calls = 20;
  for (int trial = 0; trial < 2; ++trial) {
    double us = block(d, f, l, form, calls, r);
    slowest(d, &us, 1);
    const double wanted = block_us / (fmod(us, interrupted));
    calls = wanted < 5 ? 5 : wanted > 4000 ? 4000 : (int)wanted;
  }
  return calls;
}

/// The same on all ranks: a small generator of its own, as that of a C library may differ.
static void shuffle(int* order, int count) {
  static unsigned state = 1;
  for (int i = count - 1; i > 0; --i) {
    state = state * 1664525u + 1013904223u;
    const int j = (int)(state >> 16) % (i + 1), one = order[i];
    order[i] = order[j];
    order[j] = one;
  }
}

static void print(const Data* d, const char* name, int bytes, int l, const char* how, const double* times, int count) {
  if (d->rank != 0) return;
  printf("%s %d %s %s", name, bytes, libraries[l]->name, how);
  for (int i = 0; i < count; ++i) printf(" %.4f", times[i] < interrupted ? times[i] : interrupted - times[i]);
  printf("\n");
}

static int point(Data* d, const Function* f, int bytes, int variants) {
  static double times[most_variants][rounds];
  MPI_Request requests[2];
  int calls[most_variants], order[most_variants];
  set_size(d, bytes);
  const int made = variants / forms;
  for (int l = 0; l < made; ++l) f->perform(libraries[l], d, prepared, 1, &requests[l]);
  const int wrong = wrong_variants(d, f, requests, variants);
  for (int v = 0; v < variants; ++v) {
    calls[v] = calls_of_block(d, f, libraries[v / forms], (enum form)(v % forms), &requests[v / forms]);
    order[v] = v;
  }
  for (int round = 0; round < rounds; ++round) {
    shuffle(order, variants);
    for (int i = 0; i < variants; ++i) {
      const int v = order[i], l = v / forms;
      double* us = &times[v][round];
      for (int trial = 0; trial == 0 || (trial < 4 && *us >= interrupted); ++trial) {
        *us = block(d, f, libraries[l], (enum form)(v % forms), calls[v], &requests[l]);
        slowest(d, us, 1);
      }
    }
  }
  for (int v = 0; v < variants; ++v) {
    print(d, f->name, bytes, v / forms, form_names[v % forms], times[v], rounds);
  }
  for (int l = 0; l < made; ++l) libraries[l]->Request_free(&requests[l]);
  return wrong;
}

static int all_points(Data* d, int variants) {
  static const int sizes[] = {8, 64, 1024};
  int wrong = point(d, &functions[0], 0, variants);  // a barrier has no size
  for (int i = 1; i < function_count; ++i)
    for (int s = 0; s < 3; ++s) wrong += point(d, &functions[i], sizes[s], variants);
  return wrong;
}

/// µs of one call, or of the computation alone; all ranks begin a call together.
static double once(const Data* d, const Function* f, const Library* l, enum form form) {
  if (form != alone) l->Barrier(d->comm);
  const long before = switches();
  const double start = now_us();
  if (form == alone) compute(d->work);
  if (form != alone) f->perform(l, d, form, 1, NULL);
  const double us = now_us() - start;
  return switches() == before ? us : us + interrupted;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/// Of the slowest rank, by the median of some calls.
static double pure_us(const Data* d, const Function* f, const Library* l) {
  enum { samples = 31 };
  double times[samples];
  for (int i = 0; i < samples; ++i) once(d, f, l, immediate);
  for (int i = 0; i < samples; ++i) times[i] = once(d, f, l, immediate);
  slowest(d, times, samples);
  qsort(times, samples, sizeof *times, compare);
  return fmod(times[samples / 2], interrupted);
}

/// The fastest of some trials: what interrupts one is not the computation's.
static double steps_per_us(const Data* d) {
  enum { steps = 100000 };
  double least = 1e9;
  for (int trial = 0; trial < 20; ++trial) {
    const double start = now_us();
    compute(steps);
    if (now_us() - start < least) least = now_us() - start;
  }
  slowest(d, &least, 1);
  return steps / least;
}

/// The call alone, the computation alone and both, library by library, until some time has passed.
static void overlap(Data* d, const Function* f, int bytes, double speed, int count) {
  enum { parts = 3 };
  static double times[2][parts][most_iterations];
  long work[2];
  double all = 0;
  set_size(d, bytes);
  fill(d, 0);
  for (int l = 0; l < count; ++l) {
    const double us = pure_us(d, f, libraries[l]);
    all += 4 * us;
    work[l] = (long)(us * speed);
  }
  const double wanted = 6e5 / all;
  const int iterations = wanted < 15 ? 15 : wanted > most_iterations ? most_iterations : (int)wanted;
  for (int i = 0; i < iterations; ++i) {
    for (int turn = 0; turn < count; ++turn) {
      const int l = (i + turn) % count;
      d->work = work[l];
      times[l][0][i] = once(d, f, libraries[l], immediate);
      times[l][1][i] = once(d, f, libraries[l], alone);
      times[l][2][i] = once(d, f, libraries[l], overlapped);
    }
  }
  static const char* const part_names[] = {"call", "computation", "both"};
  for (int l = 0; l < count; ++l) {
    for (int part = 0; part < parts; ++part) {
      slowest(d, times[l][part], iterations);
      print(d, f->name, bytes, l, part_names[part], times[l][part], iterations);
    }
  }
}

static int all_overlaps(Data* d, int count) {
  static const int sizes[] = {64 << 10, 1 << 20, 4 << 20};
  const double speed = steps_per_us(d);
  for (int i = 0; i < function_count; ++i) {
    const char* name = functions[i].name;
    if (strcmp(name, "Allreduce") != 0 && strcmp(name, "Bcast") != 0 && strcmp(name, "Alltoall") != 0) continue;
    for (int s = 0; s < 3; ++s) overlap(d, &functions[i], sizes[s], speed, count);
  }
  return 0;
}

int main(int argc, char** argv) {
  const int points = argc > 1 && strcmp(argv[1], "points") == 0, only_own = argc > 2;
  if (!points && (argc < 2 || strcmp(argv[1], "overlap") != 0)) quit("usage: nonblocking points|overlap [own]");
  MPI_Init(&argc, &argv);
  find_libraries();
  Data d = {.comm = MPI_COMM_WORLD};
  MPI_Comm_rank(d.comm, &d.rank);
  MPI_Comm_size(d.comm, &d.ranks);
  const size_t values = (points ? 1024 : 4 << 20) / sizeof(double) * (size_t)d.ranks;
  double* memory = calloc(5 * values, sizeof(double));
  if (!memory || d.ranks > most_ranks) quit("too many ranks, or too little memory");
  d.in = memory, d.out = d.in + values, d.vector = d.out + values, d.expected = d.vector + values;
  MPI_Barrier(d.comm);  // sets the communicator up: only then are its nonblocking calls served
  const int wrong = points ? all_points(&d, most_variants - only_own) : all_overlaps(&d, 2 - only_own);
  MPI_Finalize();
  free(memory);
  return wrong > 0;
}
