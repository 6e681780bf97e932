// SPDX-License-Identifier: BSD-3-Clause
//
// The MPI functions that Stretto takes the place of. Each asks to be served and else calls the native function.
#include <new>

#include "intercept/communicator.hpp"
#include "intercept/hints.hpp"
#include "intercept/native.hpp"
#include "intercept/say.hpp"
#include "intercept/serve/serve.hpp"
#include "stretto/error.hpp"

#define STRETTO_ENTRY extern "C" __attribute__((visibility("default"))) int

namespace {

using stretto::Function;
using stretto::intercept::native;
namespace intercept = stretto::intercept;

/// Stretto itself throws nothing through MPI's C interface: without memory, it says so and ends. What the program's own
/// error handler throws goes on to the program, as it would natively.
template <typename Body>
void guarded(Body body) {
  try {
    body();
  } catch (const std::bad_alloc&) {
    intercept::say("out of memory in a collective call", "smaller segments need less: STRETTO_RULES, segment=256K");
    intercept::native().Abort(intercept::constants().world, 1);
  }
}

/// However the call ends.
struct EndOfCall {
  EndOfCall() = default;
  EndOfCall(const EndOfCall&) = delete;
  EndOfCall& operator=(const EndOfCall&) = delete;
  ~EndOfCall() {
    if (intercept::observe::call_is_open()) [[unlikely]]
      intercept::observe::end_call();
  }
};

template <typename Serve, typename Pass>
int serve_or_pass(Serve serve, Pass pass) {
  const EndOfCall end;
  intercept::Served served;
  guarded([&] { served = serve(); });
  return served ? *served : pass();
}

/// The end of a function that has given `info` to `comm`, if it succeeded.
int with_hints(int error, const MPI_Comm* comm, MPI_Info info, const char* cause) {
  if (error == MPI_SUCCESS) guarded([&] { intercept::take_hints(*comm, info, cause); });
  return error;
}

#ifdef STRETTO_MPICH
/// A function of MPI 4.0, which an older MPI does not have.
template <typename Result, typename... Arguments>
auto or_unsupported(Result (*function)(Arguments...)) {
  return
      [function](Arguments... arguments) { return function ? function(arguments...) : MPI_ERR_UNSUPPORTED_OPERATION; };
}
#endif

}  // namespace

// Open MPI's Fortran interfaces call the PMPI_ functions, so these are taken as well there; MPICH's mpi_f08 does so
// where there are no buffers. They are other names of the same functions: a call from one to the other could end in a
// profiling tool, which would call back for ever.
#define STRETTO_ALWAYS_PMPI(name) \
  extern "C" __attribute__((visibility("default"), alias("MPI_" #name))) decltype(MPI_##name) PMPI_##name;

STRETTO_ENTRY MPI_Barrier(MPI_Comm comm) {
  return serve_or_pass([&] { return intercept::barrier(comm); }, [&] { return native().Barrier(comm); });
}
STRETTO_ALWAYS_PMPI(Barrier)

#define ENTRY(name) STRETTO_ENTRY MPI_##name
#define NATIVE(name) native().name
#define COUNT int
#define DISPLACEMENT int
#ifdef STRETTO_OPENMPI
#define ALSO_PMPI(name) STRETTO_ALWAYS_PMPI(name)
#else
#define ALSO_PMPI(name)
#endif
#include "intercept/entry_points.inc"
#undef ENTRY
#undef NATIVE
#undef COUNT
#undef DISPLACEMENT
#undef ALSO_PMPI

// Large counts. An MPI without these functions must not seem to have them: mpi4py would call them.
#ifdef STRETTO_MPICH
#define ENTRY(name) STRETTO_ENTRY MPI_##name##_c
#define NATIVE(name) or_unsupported(native().name##_c)
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#define ALSO_PMPI(name)
#include "intercept/entry_points.inc"
#endif

// For benchmarks and tests: id of the algorithm that served this thread's last call, "native" if it was passed on.
extern "C" __attribute__((visibility("default"))) const char* stretto_last_algorithm() {
  return intercept::last_algorithm();
}

// For contests: what MPI_Comm_set_info does with key stretto_FUNCTION, but with no message between the ranks.
extern "C" __attribute__((visibility("default"))) bool stretto_prefer(MPI_Comm comm, const char* function,
                                                                      const char* words) {
  const auto named = stretto::function_named(function);
  if (!named) return false;
  try {
    guarded([&] { intercept::prefer(comm, *named, words); });
  } catch (const stretto::Error& e) {
    intercept::say(e.what(), e.hint());
    return false;
  }
  return true;
}

STRETTO_ENTRY MPI_Comm_free(MPI_Comm* comm) { return intercept::free_communicator(comm, native().Comm_free); }
STRETTO_ALWAYS_PMPI(Comm_free)

STRETTO_ENTRY MPI_Comm_disconnect(MPI_Comm* comm) {
  return intercept::free_communicator(comm, native().Comm_disconnect);
}
STRETTO_ALWAYS_PMPI(Comm_disconnect)

STRETTO_ENTRY MPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
  const int error = native().Comm_set_info(comm, info);
  // A rank whose own info is wrong takes part in the comparison all the same: the others wait there.
  guarded([&] { intercept::take_hints(comm, error == MPI_SUCCESS ? info : MPI_INFO_NULL, "MPI_Comm_set_info"); });
  return error;
}
STRETTO_ALWAYS_PMPI(Comm_set_info)

STRETTO_ENTRY MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  return with_hints(native().Comm_dup_with_info(comm, info, newcomm), newcomm, info, "MPI_Comm_dup_with_info");
}
STRETTO_ALWAYS_PMPI(Comm_dup_with_info)

STRETTO_ENTRY MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* newcomm) {
  return with_hints(native().Comm_split_type(comm, type, key, info, newcomm), newcomm, info, "MPI_Comm_split_type");
}
STRETTO_ALWAYS_PMPI(Comm_split_type)

STRETTO_ENTRY MPI_Finalize() {
  guarded([] { intercept::before_finalize(); });
  return native().Finalize();
}
STRETTO_ALWAYS_PMPI(Finalize)
