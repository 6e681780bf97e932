// SPDX-License-Identifier: BSD-3-Clause
//
// The collectives of a library as a table of functions; each one's buffers, and its call by arguments that all share.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "mpi/native.hpp"
#include "stretto/function.hpp"

namespace stretto::measure {

/// The same functions, once the native library's and once Stretto's.
struct Functions {
#define STRETTO_MEMBER(name) decltype(&PMPI_##name) name = nullptr;
  STRETTO_NATIVE_COLLECTIVES(STRETTO_MEMBER)
#undef STRETTO_MEMBER
};

struct CallArguments {
  const double* in;
  double* out;
  int n;  ///< elements: as the operation counts them
  int rank;
  const int* counts;  ///< of the ranks' parts, and where these lie
  const int* at;
  const int* in_counts;  ///< of alltoallv, alltoallw and their neighbourhood forms: what I send to each
  const int* in_at;
  const int* in_bytes;  ///< of alltoallw: displacements, and its types
  const int* out_bytes;
  const MPI_Aint* in_far;  ///< the same for neighbours
  const MPI_Aint* out_far;
  const MPI_Datatype* types;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm;
};

/// Of a buffer or a count: my part; the vector, all parts together.
enum class Amount : std::uint8_t { nothing, part, vector };

struct CallFacts {
  Amount in;
  Amount out;
  Amount n;
  bool result_on_root_only;
  void (*call)(const Functions&, const CallArguments&);
};

/// What ranks do by themselves, on doubles, to make one function out of others.
enum class Local : std::uint8_t { take_part, reduce_local };

using Callee = std::variant<Function, Local>;

CallFacts call_facts(Callee callee);
std::string_view name_of(Callee callee);

}  // namespace stretto::measure
