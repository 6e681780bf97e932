// SPDX-License-Identifier: BSD-3-Clause
//
// The MPI functions that Stretto takes the place of. Each asks to be served and else calls the native function.
#include <algorithm>
#include <climits>
#include <new>

#include "intercept/dispatch.hpp"
#include "intercept/native.hpp"
#include "intercept/say.hpp"

#define STRETTO_ENTRY extern "C" __attribute__((visibility("default"))) int

namespace {

using stretto::intercept::native;
namespace intercept = stretto::intercept;

/// Stretto itself throws nothing through MPI's C interface: without memory, it says so and ends. What the program's own
/// error handler throws goes on to the program, as it would natively.
template <typename Serve, typename Pass>
int serve_or_pass(Serve serve, Pass pass) {
  intercept::Served served;
  try {
    served = serve();
  } catch (const std::bad_alloc&) {
    intercept::say("out of memory in a collective call", "smaller segments need less: STRETTO_RULES, segment=256K");
    intercept::native().Abort(intercept::constants().world, 1);
  }
  return served ? *served : pass();
}

}  // namespace

#define STRETTO_SERVE(call, otherwise) serve_or_pass([&] { return intercept::call; }, [&] { return otherwise; })

// Open MPI's Fortran interfaces call the PMPI_ functions, so these are taken as well there; MPICH's mpi_f08 does so
// where there are no buffers. They are other names of the same functions: a call from one to the other could end in a
// profiling tool, which would call back for ever.
#define STRETTO_ALWAYS_PMPI(name) \
  extern "C" __attribute__((visibility("default"), alias("MPI_" #name))) decltype(MPI_##name) PMPI_##name;
#ifdef STRETTO_OPENMPI
#define STRETTO_ALSO_PMPI(name) STRETTO_ALWAYS_PMPI(name)
#else
#define STRETTO_ALSO_PMPI(name)
#endif

STRETTO_ENTRY MPI_Barrier(MPI_Comm comm) { return STRETTO_SERVE(barrier(comm), native().Barrier(comm)); }
STRETTO_ALWAYS_PMPI(Barrier)

STRETTO_ENTRY MPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return STRETTO_SERVE(bcast(buffer, count, datatype, root, comm), native().Bcast(buffer, count, datatype, root, comm));
}
STRETTO_ALSO_PMPI(Bcast)

STRETTO_ENTRY MPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                         MPI_Comm comm) {
  return STRETTO_SERVE(reduce(sendbuf, recvbuf, count, datatype, op, root, comm),
                       native().Reduce(sendbuf, recvbuf, count, datatype, op, root, comm));
}
STRETTO_ALSO_PMPI(Reduce)

STRETTO_ENTRY MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm) {
  return STRETTO_SERVE(allreduce(sendbuf, recvbuf, count, datatype, op, comm),
                       native().Allreduce(sendbuf, recvbuf, count, datatype, op, comm));
}
STRETTO_ALSO_PMPI(Allreduce)

STRETTO_ENTRY MPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm) {
  return STRETTO_SERVE(allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
                       native().Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
STRETTO_ALSO_PMPI(Allgather)

STRETTO_ENTRY MPI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype,
                                       MPI_Op op, MPI_Comm comm) {
  return STRETTO_SERVE(reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm),
                       native().Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm));
}
STRETTO_ALSO_PMPI(Reduce_scatter_block)

// For benchmarks and tests: id of the algorithm that served this thread's last call, "native" if it was passed on.
extern "C" __attribute__((visibility("default"))) const char* stretto_last_algorithm() {
  return intercept::last_algorithm();
}

STRETTO_ENTRY MPI_Finalize() {
  intercept::before_finalize();
  return native().Finalize();
}
STRETTO_ALWAYS_PMPI(Finalize)

// Large counts. An MPI without these functions must not seem to have them: mpi4py would call them.
#ifdef STRETTO_MPICH

// On an MPI without them the int form does what it can.
#define STRETTO_NATIVE_LARGE(name, count, ...) \
  (native().name##_c ? native().name##_c(__VA_ARGS__) : (count) <= INT_MAX ? native().name(__VA_ARGS__) : MPI_ERR_COUNT)

STRETTO_ENTRY MPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return STRETTO_SERVE(bcast(buffer, count, datatype, root, comm),
                       STRETTO_NATIVE_LARGE(Bcast, count, buffer, count, datatype, root, comm));
}

STRETTO_ENTRY MPI_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                           int root, MPI_Comm comm) {
  return STRETTO_SERVE(reduce(sendbuf, recvbuf, count, datatype, op, root, comm),
                       STRETTO_NATIVE_LARGE(Reduce, count, sendbuf, recvbuf, count, datatype, op, root, comm));
}

STRETTO_ENTRY MPI_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm) {
  return STRETTO_SERVE(allreduce(sendbuf, recvbuf, count, datatype, op, comm),
                       STRETTO_NATIVE_LARGE(Allreduce, count, sendbuf, recvbuf, count, datatype, op, comm));
}

STRETTO_ENTRY MPI_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return STRETTO_SERVE(allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
                       STRETTO_NATIVE_LARGE(Allgather, std::max(sendcount, recvcount), sendbuf, sendcount, sendtype,
                                            recvbuf, recvcount, recvtype, comm));
}

STRETTO_ENTRY MPI_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                         MPI_Op op, MPI_Comm comm) {
  return STRETTO_SERVE(
      reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm),
      STRETTO_NATIVE_LARGE(Reduce_scatter_block, recvcount, sendbuf, recvbuf, recvcount, datatype, op, comm));
}

#endif
