// SPDX-License-Identifier: BSD-3-Clause
//
// A schedule: what one rank does in a collective, as data. It speaks of blocks, never of bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stretto/types.hpp"

namespace stretto {

/// Where a block lies. `input` is read only. Which block a slot of `input` or `output` holds is the collective's affair
/// (block_of() in collective.hpp; block b in slot b, but for alltoall); slot s of `scratch` holds
/// `Schedule::scratch[s]`.
enum class Buffer : std::uint8_t { input, output, scratch };

/// Slots first … first+count-1 of one buffer.
struct Range {
  Buffer buffer;
  Block first;
  Block count;
  bool operator==(const Range&) const = default;
};

/// A message or an operand: ranges one after the other. A range that wraps around is two of them.
using Ranges = std::vector<Range>;

Block blocks_in(std::span<const Range> ranges);

inline Ranges input(Block first, Block count = 1) { return {{Buffer::input, first, count}}; }
inline Ranges output(Block first, Block count = 1) { return {{Buffer::output, first, count}}; }
inline Ranges scratch(Block first, Block count = 1) { return {{Buffer::scratch, first, count}}; }

/// `count` blocks from `first` on, counted modulo `modulus`: one or two ranges. `first` may be negative.
Ranges wrapped(Buffer buffer, Block first, Block count, Block modulus);

/// Which side of the operator the arriving (or `source`) operand takes.
enum class Side : std::uint8_t { left, right };

enum class ActionKind : std::uint8_t {
  receive,         ///< target = message. May land at any moment of its round.
  receive_reduce,  ///< target = message ∘ operand (Side::left) or operand ∘ message (Side::right)
  copy,            ///< target = source
  reduce,          ///< target = source ∘ operand (Side::left) or operand ∘ source (Side::right)
};

constexpr bool is_receive(ActionKind kind) { return kind == ActionKind::receive || kind == ActionKind::receive_reduce; }

/// A part of `Schedule::ranges`.
struct Slice {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct Send {
  Rank peer;
  Slice blocks;
};

/// Does an action wait until the round's sends have left? In place only: it is a copy, and its round sends nothing from
/// the buffer that it writes, but what it writes has the places of what is sent.
enum class AfterSends : std::uint8_t { no, in_place, always };

struct Action {
  ActionKind kind;
  Side side = Side::left;
  AfterSends after_sends = AfterSends::no;  ///< set by order_after_sends()
  Rank peer = no_rank;                      ///< of a receive
  Slice target = {};
  Slice source = {};   ///< copy and reduce
  Slice operand = {};  ///< receive_reduce and reduce: the other operand, often the target itself
};

/// All sends are posted first and read what stood before the round; then the actions are worked through in
/// their order. An action that writes what the round sends waits until the sends have left. The round ends when the
/// last action is done and all sends have left.
struct Round {
  Slice sends;    ///< of `Schedule::sends`
  Slice actions;  ///< of `Schedule::actions`
};

/// How a vector that has a part for each rank is cut into blocks: rank r's part is blocks first[r] … first[r+1]-1.
struct Parts {
  std::vector<Block> first;  ///< ranks + 1 of them; empty: one block for each rank

  Block begin(Rank rank) const { return first.empty() ? rank : first[static_cast<std::size_t>(rank)]; }
  Block end(Rank rank) const { return begin(rank + 1); }
  Rank owner(Block block) const;
  bool operator==(const Parts&) const = default;
};

/// For every scratch slot, the block that it holds. Kept as runs: a vector that is cut into as many blocks as there are
/// ranks is one of them.
class Scratch {
 public:
  /// Slots slot … slot+count-1 hold blocks first … first+count-1.
  struct Run {
    Block slot;
    Block first;
    Block count;
    bool operator==(const Run&) const = default;
  };

  /// More slots; returns the first of them.
  Block add(Block first, Block count);
  Block operator[](std::size_t slot) const;
  std::size_t size() const {
    return runs_.empty() ? 0 : static_cast<std::size_t>(runs_.back().slot + runs_.back().count);
  }
  bool empty() const { return runs_.empty(); }
  const std::vector<Run>& runs() const { return runs_; }
  std::vector<Block> blocks() const;  ///< one after the other
  bool operator==(const Scratch&) const = default;

 private:
  std::vector<Run> runs_;  // none is empty, none continues the one before
};

/// One rank's part of a collective. Flat arrays, so that a cached schedule costs little and is read in order.
struct Schedule {
  std::string algorithm;  ///< id, for example "allreduce/ring"
  Rank ranks = 1;
  Rank rank = 0;
  Rank root = 0;
  Block blocks = 1;  ///< slots of the input and of the output: how many blocks the vector is cut into; in a
                     ///< neighbourhood the most that a rank has
  Parts parts;       ///< of collectives whose vector has a part for each rank
  Scratch scratch;
  std::vector<Round> rounds;
  std::vector<Send> sends;
  std::vector<Action> actions;
  std::vector<Range> ranges;

  std::span<const Range> at(Slice s) const { return {ranges.data() + s.first, s.count}; }
  std::span<const Send> sends_of(const Round& r) const { return {sends.data() + r.sends.first, r.sends.count}; }
  std::span<const Action> actions_of(const Round& r) const {
    return {actions.data() + r.actions.first, r.actions.count};
  }
};

/// Finds the actions that write what their round sends, be it only in place, where input and output are one. A receiver
/// in shared memory may take long to read what it was sent: a copy should not wait for that in vain.
void order_after_sends(Schedule& schedule);

/// What a file of schedules says.
struct ScheduleFile {
  bool commutative = false;             ///< their operator must commute: operands come in any order
  std::vector<Schedule> schedules;      ///< in the order of the file
  std::vector<std::vector<int>> lines;  ///< of each: where it begins, then where its rounds do
};

/// The one text form: stable, readable, and read back by `parse_schedules`.
std::string to_text(const Schedule& schedule);
/// A whole file of them, with its version.
std::string to_text(std::span<const Schedule> schedules, bool commutative);
std::string_view name_of(Buffer buffer);

/// Reads any number of schedules. Throws stretto::Error that names `file` and the line.
ScheduleFile parse_schedule_file(std::string_view text, std::string_view file);
std::vector<Schedule> parse_schedules(std::string_view text, std::string_view file);

}  // namespace stretto
