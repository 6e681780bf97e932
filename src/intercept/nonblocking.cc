// SPDX-License-Identifier: BSD-3-Clause
//
// Nonblocking and persistent collectives. Each asks to be served and else calls the native function.
#include "intercept/entry.hpp"
#include "prepare/observed.hpp"
#include "prepare/requests.hpp"

namespace {

using stretto::Form;
using stretto::Function;
using stretto::FunctionRef;
using stretto::mpi::call_if_there;
using stretto::mpi::combines;
using stretto::mpi::guarded;
using stretto::mpi::moves;
using stretto::mpi::native;
using stretto::mpi::NativeStart;
using stretto::mpi::nothing;
using stretto::mpi::parts;
namespace mpi = stretto::mpi;

/// The end of a call that the native library posts or makes.
int passed_on(int code, MPI_Comm comm, const mpi::Arguments& arguments, Form form, mpi::observe::Nanoseconds began,
              const MPI_Request* request) {
  if (began > 0 && code == MPI_SUCCESS) [[unlikely]]
    guarded([&] { mpi::observe_native(comm, arguments, form, began, *request); });
  return code;
}

template <typename Native, typename... Arguments>
int call_with(const mpi::KeptArrays& kept, MPI_Request* to, Native* function, Arguments... arguments) {
  return call_if_there(function, kept.of(arguments)..., to);
}

int start_or_pass(MPI_Comm comm, const mpi::Arguments& arguments, MPI_Request* request,
                  const NativeStart& native_start) {
  const auto began = mpi::observed_begin();
  mpi::Served served;
  if (request) guarded([&] { served = mpi::start_nonblocking(comm, arguments, request, native_start, began); });
  if (served) return *served;
  return passed_on(native_start(request, {}), comm, arguments, Form::nonblocking, began, request);
}

int init_or_pass(MPI_Comm comm, const mpi::Arguments& arguments, MPI_Request* request,
                 FunctionRef<int(MPI_Request*)> native_init) {
  const auto began = mpi::observed_begin();
  mpi::Served served;
  if (request) guarded([&] { served = mpi::make_persistent(comm, arguments, request, native_init, began); });
  if (served) return *served;
  return passed_on(native_init(request), comm, arguments, Form::persistent, began, request);
}

}  // namespace

#define NONBLOCKING_ENTRY(name, parameters, arguments, ...)                                                  \
  STRETTO_ENTRY(name, (STRETTO_LIST parameters, MPI_Request * request), (STRETTO_LIST arguments, request)) { \
    const NativeStart native_start([=](MPI_Request* to, const mpi::KeptArrays& kept) {                       \
      return call_with(kept, to, native().name, STRETTO_LIST arguments);                                     \
    });                                                                                                      \
    return start_or_pass(comm, __VA_ARGS__, request, native_start);                                          \
  }

#define PERSISTENT_ENTRY(name, parameters, arguments, ...)                             \
  STRETTO_ENTRY(name, (STRETTO_LIST parameters, MPI_Info info, MPI_Request * request), \
                (STRETTO_LIST arguments, info, request)) {                             \
    return init_or_pass(comm, __VA_ARGS__, request, [=](MPI_Request* to) {             \
      return call_if_there(native().name, STRETTO_LIST arguments, info, to);           \
    });                                                                                \
  }

#define COUNT int
#define DISPLACEMENT int
#define COLLECTIVE_ENTRY(name, function, parameters, arguments, ...) \
  NONBLOCKING_ENTRY(I##function, parameters, arguments, __VA_ARGS__)
#include "intercept/entry_points.inc"
COLLECTIVE_ENTRY(Barrier, barrier, (MPI_Comm comm), (comm), mpi::Arguments{{Function::barrier}})
#undef COLLECTIVE_ENTRY

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define COLLECTIVE_ENTRY(name, function, parameters, arguments, ...) \
  PERSISTENT_ENTRY(name##_init, parameters, arguments, __VA_ARGS__)
#include "intercept/entry_points.inc"
COLLECTIVE_ENTRY(Barrier, barrier, (MPI_Comm comm), (comm), mpi::Arguments{{Function::barrier}})
#undef COLLECTIVE_ENTRY
#endif
#undef COUNT
#undef DISPLACEMENT

#ifdef STRETTO_LARGE_COUNTS
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#define COLLECTIVE_ENTRY(name, function, parameters, arguments, ...) \
  NONBLOCKING_ENTRY(I##function##_c, parameters, arguments, __VA_ARGS__)
#include "intercept/entry_points.inc"
#undef COLLECTIVE_ENTRY
#define COLLECTIVE_ENTRY(name, function, parameters, arguments, ...) \
  PERSISTENT_ENTRY(name##_init_c, parameters, arguments, __VA_ARGS__)
#include "intercept/entry_points.inc"
#endif
