// SPDX-License-Identifier: BSD-3-Clause
//
// The functions of one library, and a planned call of them.
#pragma once

#include <functional>

#include "mpi/native.hpp"
#include "plan.hpp"

namespace stretto::differential {

/// Which of a function's kinds is called, and where its request goes.
struct How {
  Kind kind = Kind::blocking;
  MPI_Request* request = nullptr;
};

/// A function in its three kinds, of which a library may lack some. Their types follow from that of the blocking one:
/// an MPI's header may lack them as well.
template <typename Blocking>
struct Kinds;
template <typename... Arguments>
struct Kinds<int(Arguments...)> {
  int (*blocking)(Arguments...) = nullptr;
  int (*nonblocking)(Arguments..., MPI_Request*) = nullptr;
  int (*persistent)(Arguments..., MPI_Info, MPI_Request*) = nullptr;

  bool has(Kind kind) const {
    if (kind == Kind::nonblocking) return nonblocking;
    return kind == Kind::persistent ? persistent != nullptr : blocking != nullptr;
  }
  int operator()(const How& how, Arguments... arguments) const {
    if (how.kind == Kind::nonblocking) return nonblocking(arguments..., how.request);
    if (how.kind == Kind::persistent) return persistent(arguments..., MPI_INFO_NULL, how.request);
    return blocking(arguments...);
  }
};

/// The forms with int counts.
struct Functions {
  using Count = int;
  using Displacement = int;
#define STRETTO_MEMBER(with, function, name, ...) Kinds<decltype(PMPI_##name)> name;
  STRETTO_FUNCTIONS(STRETTO_MEMBER, )
#undef STRETTO_MEMBER
};

#ifdef STRETTO_LARGE_COUNTS
/// The forms with MPI_Count.
struct LargeFunctions {
  using Count = MPI_Count;
  using Displacement = MPI_Aint;
  Kinds<decltype(PMPI_Barrier)> Barrier;
#define STRETTO_MEMBER(name) Kinds<decltype(PMPI_##name##_c)> name;
  STRETTO_COUNTED_COLLECTIVES(STRETTO_MEMBER)
#undef STRETTO_MEMBER
};
#else
using LargeFunctions = Functions;  // there are none
#endif

template <typename Set>
bool has(const Set& functions, Function function, Kind kind) {
  switch (function) {
#define STRETTO_HAS(with, function, name, ...) \
  case Function::function: return functions.name.has(kind);
    STRETTO_FUNCTIONS(STRETTO_HAS, )
#undef STRETTO_HAS
  }
  return false;
}

/// A planned call, to be made more than once if wanted. It keeps the arrays that it passes and must live as long as its
/// request.
using Call = std::function<int(const How&)>;

/// `send` and `receive` are the buffers' addresses; they do not matter where the call ignores them.
Call bind(const Functions& functions, const Plan& plan, const void* send, void* receive);
#ifdef STRETTO_LARGE_COUNTS
Call bind(const LargeFunctions& functions, const Plan& plan, const void* send, void* receive);
#endif

}  // namespace stretto::differential
