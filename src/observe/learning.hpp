// SPDX-License-Identifier: BSD-3-Clause
//
// What the ranks learned (STRETTO_LEARN), for the profile: of each class of calls what was tried.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "observe/packet.hpp"

namespace stretto::mpi::observe {

/// A candidate of a class.
struct Tried {
  double seconds = 0;       ///< of a call, the slowest rank's; 0: not known
  std::uint64_t timed = 0;  ///< calls
  std::uint64_t calls = 0;  ///< that it served, timed or not
};

struct LearnedClass {
  std::string form;                    ///< of the calls that took turns: blocking, nonblocking, persistent
  bool settled = false;                ///< nothing is left to be compared
  std::string choice;                  ///< as in a rule; of the last communicator
  double spent = 0;                    ///< seconds that trying took
  std::map<std::string, Tried> tried;  ///< by their words, "native" among them
};

/// By the conditions of a rule for the class.
using LearnedClasses = std::map<std::string, LearnedClass>;

/// Rank 0 of a communicator has found that out, perhaps after other communicators.
void add_learned(const std::string& conditions, const LearnedClass& learned);

/// All that this process has found out, as it tells rank 0.
void put_learned(Packet& packet);
/// What another one has told, beside what is there.
void get_learned(Packet& packet, LearnedClasses& all);
/// One JSON object.
std::string text_of(const std::string& conditions, const LearnedClass& learned);

}  // namespace stretto::mpi::observe
