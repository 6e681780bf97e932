// SPDX-License-Identifier: BSD-3-Clause
//
// The functions of one library, and a planned call of them.
#pragma once

#include "mpi/native.hpp"
#include "plan.hpp"

namespace stretto::differential {

/// The forms with int counts.
struct Functions {
  using Count = int;
  using Displacement = int;
#define STRETTO_MEMBER(name) decltype(&PMPI_##name) name = nullptr;
  STRETTO_NATIVE_COLLECTIVES(STRETTO_MEMBER)
#undef STRETTO_MEMBER
};

#ifdef STRETTO_MPICH
/// The forms with MPI_Count.
struct LargeFunctions {
  using Count = MPI_Count;
  using Displacement = MPI_Aint;
  decltype(&PMPI_Barrier) Barrier = nullptr;
#define STRETTO_MEMBER(name) decltype(&PMPI_##name##_c) name = nullptr;
  STRETTO_COUNTED_COLLECTIVES(STRETTO_MEMBER)
#undef STRETTO_MEMBER
};
#else
using LargeFunctions = Functions;  // there are none
#endif

/// `send` and `receive` are the buffers' addresses; null where the call ignores them.
int call(const Functions& functions, const Plan& plan, const void* send, void* receive);
#ifdef STRETTO_MPICH
int call(const LargeFunctions& functions, const Plan& plan, const void* send, void* receive);
#endif

}  // namespace stretto::differential
