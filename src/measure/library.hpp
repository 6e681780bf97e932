// SPDX-License-Identifier: BSD-3-Clause
//
// The two libraries that are compared, function by function and in every form of a call, and what is called: each
// function's buffers, and its call by arguments that all of them share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
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

const CallFacts& call_facts(Callee callee);
std::string_view name_of(Callee callee);

// The forms of a call, as functions with the parameters of the blocking ones: who calls them need not know the form.

/// MPI_X; MPI_IX and MPI_Wait; MPI_Start and MPI_Wait of a request that MPI_X_init has made.
enum class Form : std::uint8_t { blocking, nonblocking, persistent };

inline constexpr Form all_forms[] = {Form::blocking, Form::nonblocking, Form::persistent};

constexpr std::string_view name_of(Form form) {
  return form == Form::blocking ? "blocking" : form == Form::nonblocking ? "nonblocking" : "persistent";
}

/// Of one library. Without persistent collectives their functions are null.
struct FunctionsWithRequests {
  Functions nonblocking;
  Functions persistent;
};

/// Where a library has a function: "MPI_Ibcast". Null: nowhere.
using Find = std::function<void*(const char* name)>;

FunctionsWithRequests native_with_requests(const Find& find);
FunctionsWithRequests stretto_with_requests(const Find& find);

/// Those that persistent functions have made and keep for calls with the same arguments. Before buffers are freed, and
/// before MPI_Finalize; collective.
void free_requests();

/// Computation that touches no memory and calls no MPI: each step waits for the one before.
void compute(std::int64_t steps);
/// From now on a step takes a nanosecond of somebody else's core: the rank sleeps.
void compute_elsewhere(bool elsewhere);
/// From now on nonblocking functions compute that much before they wait.
void overlap_with(std::int64_t steps);

struct Library {
  Functions functions;  ///< blocking
  FunctionsWithRequests others;
  bool sound_requests = true;                 ///< else its persistent collectives give wrong results or crash
  const char* (*last_algorithm)() = nullptr;  ///< of Stretto

  bool has(Form form) const { return form != Form::persistent || others.persistent.Barrier; }
  /// Whether it is timed in this form; else its blocking functions say what results must be.
  bool times(Form form) const { return form != Form::persistent || sound_requests; }
  const Functions& in(Form form) const {
    if (form == Form::nonblocking) return others.nonblocking;
    return form == Form::persistent && sound_requests ? others.persistent : functions;
  }
};

/// The library that programs preload, loaded beside the MPI instead. Throws stretto::Error.
struct StrettoLibrary : Library {
  explicit StrettoLibrary(const std::string& path);

  decltype(&PMPI_Init_thread) init;
  decltype(&PMPI_Finalize) finalize;
  bool (*prefer)(MPI_Comm comm, const char* function, const char* words);
  decltype(&PMPI_Comm_free) free;
};

Library native_library();

}  // namespace stretto::measure
