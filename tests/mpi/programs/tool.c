// SPDX-License-Identifier: BSD-3-Clause
//
// A profiling tool: counts the calls of what it wraps, and says at the end how many rank 0 has seen. It calls PMPI_X as
// tools do, or, as some do, what it has looked up: -DBY_NEXT what comes next in the order of libraries, -DPAST the
// MPI's own, past everybody; -DAGAIN MPI_X, whosever it is.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#if MPI_VERSION >= 4 && !defined OPEN_MPI
#define LARGE(X) X
#else
#define LARGE(X)
#endif

#if defined PAST
static void* wanted(const char* name) {
  Dl_info mpi;
  dladdr(dlsym(RTLD_NEXT, "PMPI_Comm_rank"), &mpi);
  return dlsym(dlopen(mpi.dli_fname, RTLD_LAZY | RTLD_NOLOAD), name);
}
#define CALL(name) ((__typeof__(&PMPI_##name))wanted("PMPI_" #name))
#elif defined BY_NEXT
#define CALL(name) ((__typeof__(&PMPI_##name))dlsym(RTLD_NEXT, "MPI_" #name))
#elif defined AGAIN
// But for what Stretto does not define.
static void* wanted(const char* name) {
  void* first = dlsym(RTLD_DEFAULT, name);
  Dl_info here, there;
  dladdr(&wanted, &here);
  dladdr(first, &there);
  return here.dli_fbase == there.dli_fbase ? dlsym(RTLD_NEXT, name) : first;
}
#define CALL(name) ((__typeof__(&PMPI_##name))wanted("MPI_" #name))
#else
#define CALL(name) PMPI_##name
#endif

struct seen {
  const char* name;
  int calls;
  struct seen* next;
};
static struct seen* all;

static void count(struct seen* one) {
  if (one->calls++ > 0) return;
  one->next = all;
  all = one;
}

static void print(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (struct seen* one = all; one && rank == 0; one = one->next) printf("tool: %s %d\n", one->name, one->calls);
  fflush(stdout);
}

#define WRAP_AND(before, name, parameters, arguments) \
  int MPI_##name parameters {                         \
    static struct seen here = {#name, 0, NULL};       \
    count(&here);                                     \
    before;                                           \
    return CALL(name) arguments;                      \
  }
#define WRAP(name, parameters, arguments) WRAP_AND((void)0, name, parameters, arguments)

#define FROM const void *in, N n, MPI_Datatype type
#define TO void *out, N outs, MPI_Datatype outtype
#define PARTS const N ns[], const D at[], MPI_Datatype type
#define OUTPARTS const N outs[], const D outat[], MPI_Datatype outtype
#define REDUCED const void *in, void *out, N n, MPI_Datatype type, MPI_Op op
#define COUNTED(X)                                                                                          \
  X(Bcast, (void* in, N n, MPI_Datatype type, int root, MPI_Comm comm), (in, n, type, root, comm))          \
  X(Gather, (FROM, TO, int root, MPI_Comm comm), (in, n, type, out, outs, outtype, root, comm))             \
  X(Gatherv, (FROM, void* out, OUTPARTS, int root, MPI_Comm comm),                                          \
    (in, n, type, out, outs, outat, outtype, root, comm))                                                   \
  X(Scatter, (FROM, TO, int root, MPI_Comm comm), (in, n, type, out, outs, outtype, root, comm))            \
  X(Scatterv, (const void* in, PARTS, TO, int root, MPI_Comm comm),                                         \
    (in, ns, at, type, out, outs, outtype, root, comm))                                                     \
  X(Allgather, (FROM, TO, MPI_Comm comm), (in, n, type, out, outs, outtype, comm))                          \
  X(Allgatherv, (FROM, void* out, OUTPARTS, MPI_Comm comm), (in, n, type, out, outs, outat, outtype, comm)) \
  X(Alltoall, (FROM, TO, MPI_Comm comm), (in, n, type, out, outs, outtype, comm))                           \
  X(Alltoallv, (const void* in, PARTS, void* out, OUTPARTS, MPI_Comm comm),                                 \
    (in, ns, at, type, out, outs, outat, outtype, comm))                                                    \
  X(Alltoallw,                                                                                              \
    (const void* in, const N ns[], const D at[], const MPI_Datatype types[], void* out, const N outs[],     \
     const D outat[], const MPI_Datatype outtypes[], MPI_Comm comm),                                        \
    (in, ns, at, types, out, outs, outat, outtypes, comm))                                                  \
  X(Reduce, (REDUCED, int root, MPI_Comm comm), (in, out, n, type, op, root, comm))                         \
  X(Allreduce, (REDUCED, MPI_Comm comm), (in, out, n, type, op, comm))                                      \
  X(Scan, (REDUCED, MPI_Comm comm), (in, out, n, type, op, comm))                                           \
  X(Exscan, (REDUCED, MPI_Comm comm), (in, out, n, type, op, comm))                                         \
  X(Reduce_scatter_block, (REDUCED, MPI_Comm comm), (in, out, n, type, op, comm))                           \
  X(Reduce_scatter, (const void* in, void* out, const N ns[], MPI_Datatype type, MPI_Op op, MPI_Comm comm), \
    (in, out, ns, type, op, comm))

#define N int
#define D int
COUNTED(WRAP)
#undef N
#undef D
#define N MPI_Count
#define D MPI_Aint
#define WRAP_LARGE(name, parameters, arguments) WRAP(name##_c, parameters, arguments)
LARGE(COUNTED(WRAP_LARGE))

WRAP(Init, (int* argc, char*** argv), (argc, argv))
WRAP(Init_thread, (int* argc, char*** argv, int wish, int* level), (argc, argv, wish, level))
WRAP(Barrier, (MPI_Comm comm), (comm))
WRAP(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* copy), (comm, info, copy))
WRAP(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part), (comm, type, key, info, part))
WRAP(Comm_set_info, (MPI_Comm comm, MPI_Info info), (comm, info))
WRAP(Comm_free, (MPI_Comm * comm), (comm))
WRAP(Comm_disconnect, (MPI_Comm * comm), (comm))
WRAP_AND(print(), Finalize, (void), ())
