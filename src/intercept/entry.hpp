// SPDX-License-Identifier: BSD-3-Clause
//
// How an MPI function is taken the place of.
#pragma once

#include <new>

#include "communicator/communicator.hpp"
#include "mpi/native.hpp"
#include "mpi/tools.hpp"
#include "support/function_ref.hpp"
#include "support/say.hpp"

namespace stretto::mpi {

/// Stretto itself throws nothing through MPI's C interface: without memory, it says so and ends. What the program's own
/// error handler throws goes on to the program, as it would natively.
template <typename Body>
[[gnu::always_inline]] inline void guarded(Body body) {
  try {
    body();
  } catch (const std::bad_alloc&) {
    stretto::say("out of memory in a collective call", "smaller segments need less: STRETTO_RULES, segment=256K");
    native().Abort(constants().world, 1);
  }
}

/// Calls the native function of the call on `comm` that serve() has just left to it, with STRETTO_DEADLINE only for so
/// long. In watchdog.cc.
int watched(MPI_Comm comm, FunctionRef<int()> pass);

/// A function that this MPI need not have.
template <typename... Parameters, typename... Arguments>
int call_if_there(int (*function)(Parameters...), Arguments... arguments) {
  return function ? function(arguments...) : MPI_ERR_UNSUPPORTED_OPERATION;
}

inline constexpr Described nothing{};
/// The address of a value that lives until the end of the full expression.
inline const PartsArguments* parts(const PartsArguments& of) { return &of; }

}  // namespace stretto::mpi

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
    if (stretto::mpi::may_be_wrapped(stretto::mpi::Entry::name)) [[unlikely]]                \
      stretto::mpi::came_back(stretto::mpi::Entry::name);                                    \
    return apart_##name arguments;                                                           \
  }                                                                                          \
  [[gnu::noinline, gnu::cold]] static int by_tool_##name parameters {                        \
    const stretto::mpi::ByTool call(stretto::mpi::Entry::name);                              \
    if (call.tool()) return reinterpret_cast<decltype(&PMPI_##name)>(call.tool()) arguments; \
    return apart_##name arguments;                                                           \
  }                                                                                          \
  STRETTO_EXPORTED MPI_##name parameters {                                                   \
    if (stretto::mpi::may_be_wrapped(stretto::mpi::Entry::name)) [[unlikely]]                \
      return by_tool_##name arguments;                                                       \
    return own_##name arguments;                                                             \
  }                                                                                          \
  static inline int own_##name parameters

/// The list in parentheses, without these.
#define STRETTO_LIST(...) __VA_ARGS__
