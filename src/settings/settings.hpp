// SPDX-License-Identifier: BSD-3-Clause
//
// What the user asked for in the environment.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "stretto/rules.hpp"

namespace stretto {

/// STRETTO_NODES=2x4: rank r of the world is on pretended node r / 4 (modulo 2).
struct PretendedNodes {
  int count;
  int ranks;
};

/// By function.
using Overrides = std::array<std::optional<Override>, std::size(all_functions)>;

inline const Override* override_for(const Overrides& overrides, Function function) {
  const auto& one = overrides[static_cast<std::size_t>(function)];
  return one ? &*one : nullptr;
}

struct Settings {
  bool disabled = false;           ///< STRETTO_DISABLE=1
  bool log_select = false;         ///< STRETTO_LOG=select
  bool log_summary = false;        ///< STRETTO_LOG=summary
  std::optional<double> deadline;  ///< STRETTO_DEADLINE: seconds that one wait may take
  double standstill = 60;  ///< STRETTO_STANDSTILL: seconds until ranks that wait for each other say so; 0: never
  bool shm = true;         ///< STRETTO_SHM=0: everything goes through the MPI
  Bytes shared_memory = Bytes{64} << 20;  ///< STRETTO_SHM_MEMORY: most that this process provides
  bool kernel_copy = true;                ///< STRETTO_KERNEL_COPY=0: this process lends no messages
  bool shared_heap = true;                ///< STRETTO_SHARED_HEAP=0: no memory of the program is shared
  bool gpu = true;                        ///< STRETTO_GPU=0: no buffer of the program is in the memory of a GPU
  std::optional<PretendedNodes> nodes;    ///< STRETTO_NODES: for tests
  bool progress_thread = false;         ///< STRETTO_PROGRESS=thread: nonblocking calls go on while the program computes
  bool children = false;                ///< STRETTO_CHILDREN=VERSION: what the job spawns has this version as well
  std::string profile;                  ///< STRETTO_PROFILE: a file to write; empty: none
  std::string trace;                    ///< STRETTO_TRACE: another
  bool time_all_calls = false;          ///< STRETTO_PROFILE_CALLS=all: short calls, too, are all timed
  std::size_t trace_events = 16 << 10;  ///< STRETTO_TRACE_EVENTS: the last so many of each thread
  std::string rules;                    ///< STRETTO_RULES: for find_rules()
  std::string learn;                    ///< STRETTO_LEARN: a file to keep what is learned; "1": that of this machine
  std::string folder;                   ///< the working directory then; empty: it is not known
  Overrides overrides;                  ///< STRETTO_ALLREDUCE=… and so on
  std::uint64_t fingerprint = 0;        ///< equal on ranks that choose alike by the same rules and share memory alike

  bool observes() const { return !profile.empty() || !trace.empty(); }
  /// The pretended node of a rank of the world; nothing if nodes are real.
  std::optional<int> pretended_node(int rank) const {
    return nodes ? std::optional(rank / nodes->ranks % nodes->count) : std::nullopt;
  }
};

/// Stretto's own: "0.3.0".
const char* stretto_version();

/// Reads the environment at the first call. What is wrong there is said once, by rank 0 if the launcher tells which
/// one that is, and ignored: the next source decides. So are variables that look like Stretto's and are not.
const Settings& settings();

/// Where a variable's path was when the settings were read, though the program has gone to another folder since.
std::string from_start(const std::string& path);

}  // namespace stretto
