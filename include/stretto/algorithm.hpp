// SPDX-License-Identifier: BSD-3-Clause
//
// The record of an algorithm and the list of all of them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stretto/collective.hpp"

namespace stretto {

class Builder;

/// What the chooser may vary. The engine reads all of these; algorithms that take parameters of their own
/// find them here too.
struct Params {
  Bytes segment = 0;  ///< the call is cut into segments of so many bytes of the vector; 0: not cut
  int depth = 2;      ///< segments in flight
  bool operator==(const Params&) const = default;
};

struct Needs {
  bool commutative = false;  ///< the operator's; false also promises that rank order is kept
};

/// One algorithm. Rounds and blocks are counted along the longest chain of rounds, as in the papers' formulas; blocks
/// are out of `blocks(shape)`. The checker holds the schedules to these numbers.
struct Algorithm {
  std::string_view id;       ///< "allreduce/ring": the path of its file, and its name everywhere
  std::string_view summary;  ///< one sentence
  std::string_view source;   ///< paper and section
  std::string_view volume;   ///< sent / blocks in words, as a share of the vector: "2(p-1)/p"
  Collective collective;
  Needs needs;
  Block (*blocks)(const Shape&);  ///< the vector is cut into so many blocks
  std::int64_t (*rounds)(const Shape&);
  std::int64_t (*sent)(const Shape&);      ///< blocks, the factor of β
  std::int64_t (*combined)(const Shape&);  ///< blocks, the factor of γ
  void (*build)(Builder&, const Shape&, const Params&);

  std::string_view name() const { return id.substr(id.find('/') + 1); }
};

/// Every algorithm, sorted by id.
std::span<const Algorithm* const> all_algorithms();

/// Null if there is none of that id.
const Algorithm* find_algorithm(std::string_view id);

/// Why `algorithm` cannot serve a call, in words for the user; empty if it can.
std::string unsuitable(const Algorithm& algorithm, bool commutative);

/// One rank's schedule. `shape` must have ranks >= 1 and 0 <= root < ranks.
Schedule build_schedule(const Algorithm& algorithm, const Shape& shape, Rank rank, const Params& params = {});

}  // namespace stretto
