// SPDX-License-Identifier: BSD-3-Clause
//
// How many calls were served, by which algorithm, and how many were passed on, and why.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "stretto/algorithm.hpp"

namespace stretto::mpi {

/// Why a call goes to the native library.
enum class Passed : std::uint8_t {
  disabled,  ///< STRETTO_DISABLE=1
  intercommunicator,
  arguments,     ///< for the native library to complain about
  datatype,      ///< a type that operations cannot take apart
  op,            ///< an operator that MPI does not define on the type
  rules,         ///< the choice was `native`
  not_ready,     ///< before MPI_Init, after MPI_Finalize, or while the communicator is being freed
  communicator,  ///< no private duplicate, or ranks with different settings
  strangers,     ///< ranks of another MPI_COMM_WORLD, which may have no Stretto
  progress,  ///< nobody would move a nonblocking call on, or could start it natively, while the program is elsewhere
  gpu,       ///< buffers may be in the memory of a GPU
  fault,     ///< a process failed, or the communicator was revoked
};
inline constexpr std::size_t passed_count = static_cast<std::size_t>(Passed::fault) + 1;

std::string_view name_of(Passed reason);

using Counter = std::atomic<std::uint64_t>;

struct Statistics {
  static constexpr std::size_t functions = std::size(all_functions);
  std::array<std::array<Counter, most_algorithms>, functions> served{};  // by their numbers
  std::array<std::array<Counter, passed_count>, functions> passed{};

  Counter& of(Function function, const Algorithm& algorithm);
  Counter& of(Function function, Passed reason) {
    return passed[static_cast<std::size_t>(function)][static_cast<std::size_t>(reason)];
  }
};

Statistics& statistics();

/// Id of the algorithm that served this thread's last call, or "native".
const char* last_algorithm();
void set_last_algorithm(const char* id);

/// One line for each function that was called, to standard error. For rank 0, of whose calls it speaks.
void print_summary();

}  // namespace stretto::mpi
