// SPDX-License-Identifier: BSD-3-Clause
//
// The checker: runs all ranks' schedules symbolically and proves the postcondition.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stretto/algorithm.hpp"

namespace stretto {

/// Why a set of schedules is refused.
enum class Refusal : std::uint8_t {
  malformed,             ///< a peer, a slot or a buffer that does not exist, a write to the input
  unmatched_message,     ///< sent and never received, or awaited and never sent
  misordered_message,    ///< the blocks sent are not the blocks awaited
  deadlock,              ///< under rendezvous: a send leaves only when its receive is posted
  never_written,         ///< reads a slot that holds nothing
  overlapping_send,      ///< receives in a round into what the round sends
  overlapping_receive,   ///< touches, earlier in the round, the target of one of its receives
  double_counting,       ///< combines two partial results that share a contribution
  wrong_order,           ///< operands out of rank order, for an operator that does not commute
  different_expression,  ///< ranks would hold different bits
  wrong_result,          ///< the postcondition does not hold
  wrong_cost,            ///< rounds or volume differ from the algorithm's record
};

std::string_view name_of(Refusal refusal);  ///< "double counting", and so on

struct Refused {
  Refusal why;
  std::string message;  ///< names rank, round (from 1) and block
};

/// Counted in the schedules, along the longest chain of rounds that wait for each other: what the α, β and γ of the
/// usual models are multiplied by. Every rank sends one message and receives one at a time.
struct Measured {
  std::int64_t rounds = 0;
  std::int64_t sent = 0;      ///< blocks
  std::int64_t combined = 0;  ///< blocks
  std::int64_t messages = 0;  ///< in all, not along a chain
};

struct Checked {
  std::optional<Refused> refused;
  Measured measured;
};

/// A message as the checker saw it pass: both its ends had come to it in `step`, which counts from 1.
struct Delivery {
  std::int64_t step;
  Rank from, to;
  Slice blocks;           ///< of Record::blocks; only their number where no contents are followed
  bool combined = false;  ///< by its receive, or by another action of the same step
};

/// What stands somewhere of a block: contributions, in the order of the operands.
struct Held {
  Block block;
  bool result;  ///< it is in the output
  std::vector<Rank> contributions;
};

/// What a rank holds when a round has ended, slots in the order in which they were first written.
struct Holding {
  std::int64_t step;  ///< at whose end the round ended; 0: before the first
  std::vector<Held> held;
};

/// All that ranks do, for those who show it.
struct Record {
  std::vector<Delivery> messages;  ///< of rank 0 those that it takes, in that order, then of rank 1, and so on
  std::vector<Block> blocks;
  std::vector<std::vector<Holding>> holdings;  ///< of each rank, the first before all rounds
};

struct Question {
  Collective collective;
  Shape shape;
  bool commutative = false;  ///< may the operands come in any order?
  bool in_place = false;     ///< is the input the output?
};

/// `schedules[r]` is rank r's. Proves `question`; does not look at any record.
[[nodiscard]] Checked check(std::span<const Schedule> schedules, const Question& question);

/// In place too, where that is allowed.
[[nodiscard]] Checked check_in_place_too(std::span<const Schedule> schedules, Question question);

/// What the schedules do, which check() has proved.
[[nodiscard]] Record record(std::span<const Schedule> schedules, const Question& question);

/// The messages alone; the contents of no block are followed. Throws stretto::Error if ranks wait for each other.
[[nodiscard]] std::vector<Delivery> deliveries(std::span<const Schedule> schedules);

/// Builds the schedules of all ranks and proves them, in place too where that is allowed, and holds rounds and
/// volume to the record. The algorithm must be suitable for ranks and parameters.
[[nodiscard]] Checked check(const Algorithm& algorithm, const Shape& shape, const Params& params = {});

/// The same for given schedules instead of those that the algorithm builds.
[[nodiscard]] Checked check_against_record(std::span<const Schedule> schedules, const Algorithm& algorithm,
                                           const Shape& shape, const Params& params = {});

}  // namespace stretto
