// SPDX-License-Identifier: BSD-3-Clause
//
// The MPI functions that Stretto takes the place of. Each asks to be served and else calls the native function.
#include <new>

#include "communicator/communicator.hpp"
#include "communicator/hints.hpp"
#include "communicator/provenance.hpp"
#include "communicator/spawn.hpp"
#include "intercept/watchdog.hpp"
#include "mpi/native.hpp"
#include "mpi/tools.hpp"
#include "prepare/serve.hpp"
#include "stretto/error.hpp"
#include "support/say.hpp"

namespace {

using stretto::Function;
using stretto::intercept::combines;
using stretto::intercept::Entry;
using stretto::intercept::moves;
using stretto::intercept::native;
using stretto::intercept::Provenance;
namespace intercept = stretto::intercept;

/// Stretto itself throws nothing through MPI's C interface: without memory, it says so and ends. What the program's own
/// error handler throws goes on to the program, as it would natively.
template <typename Body>
[[gnu::always_inline]] inline void guarded(Body body) {
  try {
    body();
  } catch (const std::bad_alloc&) {
    stretto::say("out of memory in a collective call", "smaller segments need less: STRETTO_RULES, segment=256K");
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

/// Apart from serve_or_pass(), which would else be too large to be part of each entry.
template <typename Pass>
[[gnu::noinline, gnu::cold]] int watched(MPI_Comm comm, Pass pass) {
  const auto [function, reason] = intercept::passed_call();
  const intercept::WatchedCall call(function, reason, comm);
  return pass();
}

template <typename Pass>
[[gnu::always_inline]] inline int serve_or_pass(MPI_Comm comm, const intercept::Arguments& arguments, Pass pass) {
  const EndOfCall end;
  intercept::Served served;
  guarded([&] { served = intercept::serve(comm, arguments); });
  return served ? *served : watched(comm, pass);
}

constexpr intercept::Described nothing{};
/// The address of a value that lives until the end of the full expression.
const intercept::PartsArguments* parts(const intercept::PartsArguments& of) { return &of; }

/// The end of a function that has given `info` to `comm`, if it succeeded.
int with_hints(int error, const MPI_Comm* comm, MPI_Info info, const char* cause) {
  if (error == MPI_SUCCESS) guarded([&] { intercept::take_hints(*comm, info, cause); });
  return error;
}

/// The end of a function that has made a communicator from another one, if it succeeded.
int made_from(MPI_Comm parent, const MPI_Comm* child, int error) {
  if (error == MPI_SUCCESS) guarded([&] { intercept::inherit_provenance(parent, *child); });
  return error;
}

/// The same from something else.
int made_by(Provenance provenance, const MPI_Comm* made, int error) {
  if (error == MPI_SUCCESS && *made != intercept::constants().comm_null)
    guarded([&] { intercept::set_provenance(*made, provenance); });
  return error;
}

/// A function of MPI 4.0, which an older MPI does not have.
template <typename Result, typename... Arguments>
auto or_unsupported(Result (*function)(Arguments...)) {
  return
      [function](Arguments... arguments) { return function ? function(arguments...) : MPI_ERR_UNSUPPORTED_OPERATION; };
}

}  // namespace

// ENTRY(name, (parameters), (arguments)) { … } makes MPI_name and PMPI_name, which both do what stands in the braces;
// only MPI_name goes by way of a tool that is behind Stretto (tools.hpp). To take the place of one more function: its
// name in STRETTO_OTHER_ENTRIES of native.hpp, and its ENTRY here.
//
// PMPI_ names are taken because tools, Open MPI's Fortran interfaces and MPICH's mpi_f08 call them. Neither name calls
// the other: that could end in a tool that is before Stretto, which would call back for ever. The body stands in both,
// so that without a tool a call costs one look at the table more.
#define STRETTO_EXPORTED extern "C" __attribute__((visibility("default"))) int
#define STRETTO_ENTRY(name, parameters, arguments)                                           \
  [[gnu::always_inline]] static inline int own_##name parameters;                            \
  [[gnu::noinline]] static int apart_##name parameters { return own_##name arguments; }      \
  STRETTO_EXPORTED PMPI_##name parameters {                                                  \
    if (intercept::may_be_wrapped(Entry::name)) [[unlikely]]                                 \
      intercept::came_back(Entry::name);                                                     \
    return apart_##name arguments;                                                           \
  }                                                                                          \
  [[gnu::noinline, gnu::cold]] static int by_tool_##name parameters {                        \
    const intercept::ByTool call(Entry::name);                                               \
    if (call.tool()) return reinterpret_cast<decltype(&PMPI_##name)>(call.tool()) arguments; \
    return apart_##name arguments;                                                           \
  }                                                                                          \
  STRETTO_EXPORTED MPI_##name parameters {                                                   \
    if (intercept::may_be_wrapped(Entry::name)) [[unlikely]]                                 \
      return by_tool_##name arguments;                                                       \
    return own_##name arguments;                                                             \
  }                                                                                          \
  static inline int own_##name parameters

#define ENTRY(name, parameters, arguments) STRETTO_ENTRY(name, parameters, arguments)
#define COLLECTIVE_ENTRY(name, parameters, arguments, ...)                            \
  ENTRY(name, parameters, arguments) {                                                \
    return serve_or_pass(comm, __VA_ARGS__, [=] { return native().name arguments; }); \
  }
#define COUNT int
#define DISPLACEMENT int
#include "intercept/entry_points.inc"
COLLECTIVE_ENTRY(Barrier, (MPI_Comm comm), (comm), intercept::Arguments{{Function::barrier}})

ENTRY(Comm_free, (MPI_Comm * comm), (comm)) { return intercept::free_communicator(comm, native().Comm_free); }

ENTRY(Comm_disconnect, (MPI_Comm * comm), (comm)) {
  return intercept::free_communicator(comm, native().Comm_disconnect);
}

ENTRY(Comm_set_info, (MPI_Comm comm, MPI_Info info), (comm, info)) {
  const int error = native().Comm_set_info(comm, info);
  // A rank whose own info is wrong takes part in the comparison all the same: the others wait there.
  guarded([&] { intercept::take_hints(comm, error == MPI_SUCCESS ? info : MPI_INFO_NULL, "MPI_Comm_set_info"); });
  return error;
}

ENTRY(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm), (comm, info, newcomm)) {
  return with_hints(native().Comm_dup_with_info(comm, info, newcomm), newcomm, info, "MPI_Comm_dup_with_info");
}

ENTRY(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* newcomm),
      (comm, type, key, info, newcomm)) {
  const int error = made_from(comm, newcomm, native().Comm_split_type(comm, type, key, info, newcomm));
  return with_hints(error, newcomm, info, "MPI_Comm_split_type");
}

#include "intercept/makers.inc"

ENTRY(Finalize, (), ()) {
  guarded([] { intercept::before_finalize(); });
  return native().Finalize();
}

#undef ENTRY
#undef COLLECTIVE_ENTRY
#undef COUNT
#undef DISPLACEMENT

// Large counts. An MPI without these functions must not seem to have them: mpi4py would call them.
#ifdef STRETTO_MPICH
#define COLLECTIVE_ENTRY(name, parameters, arguments, ...)                                                \
  STRETTO_ENTRY(name##_c, parameters, arguments) {                                                        \
    return serve_or_pass(comm, __VA_ARGS__, [=] { return or_unsupported(native().name##_c) arguments; }); \
  }
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#include "intercept/entry_points.inc"
#endif

// For benchmarks and tests: id of the algorithm that served this thread's last call, "native" if it was passed on.
extern "C" __attribute__((visibility("default"))) const char* stretto_last_algorithm() {
  return intercept::last_algorithm();
}

// For paired benchmarks: what MPI_Comm_set_info does with key stretto_FUNCTION, but with no message between the ranks.
extern "C" __attribute__((visibility("default"))) bool stretto_prefer(MPI_Comm comm, const char* function,
                                                                      const char* words) {
  const auto named = stretto::function_named(function);
  if (!named) return false;
  try {
    guarded([&] { intercept::prefer(comm, *named, words); });
  } catch (const stretto::Error& e) {
    stretto::say(e.what(), e.hint());
    return false;
  }
  return true;
}
