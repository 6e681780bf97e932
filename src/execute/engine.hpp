// SPDX-License-Identifier: BSD-3-Clause
//
// The engine: carries out one rank's schedule over a transport, segment by segment.
#pragma once

#include <string>
#include <vector>

#include "execute/arena.hpp"
#include "execute/element.hpp"
#include "execute/layout.hpp"
#include "stretto/schedule.hpp"
#include "transport/transport.hpp"

namespace stretto::execute {

/// A buffer of the call. Element `first` of the layout lies at `at`: in a buffer with some of the slots only (the input
/// of an allgather has one) that is the first element of the first of them.
struct Region {
  void* at = nullptr;  ///< the engine writes to outputs only: the checker has proved it
  Layout layout = Layout::whole(0, 1, 0);
  Count first = 0;
};

/// A schedule bound to buffers.
struct Work {
  const Schedule* schedule;
  Element element;
  Combiner combiner = {};
  Region input = {};
  Region output = {};
  Layout sizes;                ///< of the blocks in scratch; it has as many segments as the sides, or more
  bool sizes_by_slot = false;  ///< `sizes` goes by slots of scratch, not by blocks
  int depth = 1;               ///< segments in flight
};

/// A message that is still awaited, for the hang report.
struct Awaited {
  bool send;
  Rank peer;
  Bytes bytes;
};

struct Standstill {
  Count segment;
  std::size_t round;
  std::vector<Awaited> awaited;
};

/// Used by one thread at a time; keeps its memory from call to call.
class Engine {
 public:
  /// `deadline` is for each wait: its span begins anew when some message has come or gone.
  transport::Outcome run(const Work& work, transport::Transport& transport, const Deadline& deadline);

  /// After an outcome that is not ok: what every segment in flight was waiting for.
  std::vector<Standstill> standstill() const;

  /// After a call in one segment: the address of scratch slot 0, where it stays until the next call.
  const std::byte* scratch() const { return instances_[0].scratch; }

 private:
  struct Span {
    std::byte* at;
    Count n;
  };
  struct Message {                // of the present round
    std::byte* bounce = nullptr;  // where it arrives, if not in its target
    Bytes bytes = 0;
    Rank peer = no_rank;
    bool complete = true;
  };
  /// One segment in flight.
  struct Instance {
    bool active = false;
    Count segment = 0;
    std::size_t round = 0;
    std::size_t next_action = 0;
    std::size_t sends_left = 0;
    std::vector<Message> arriving;  // one for each action of the round
    std::vector<Message> leaving;   // one for each send of the round
    std::byte* scratch = nullptr;   // address of element 0 of slot 0
    std::vector<Count> slot_first;  // first element of each scratch slot, and the end
    Arena arena;                    // of the round
    Arena scratch_arena;            // of the segment
  };

  /// Gives back what a call with long vectors took; before a call what a failed one left.
  void trim();
  void start(std::size_t i, Count segment);
  void enter_round(std::size_t i);
  void post_receive(std::size_t i, std::size_t index, const Action& action);
  void post_send(std::size_t i, std::size_t index, const Send& send);
  /// Works on until a message is missing or the segment is done.
  void advance(std::size_t i);
  void perform(Instance& in, const Action& action, const Message& message);
  Count slot_gap() const;
  void resolve(const Instance& in, std::span<const Range> ranges, std::vector<Span>& spans) const;
  Span resolve(const Instance& in, const Range& range, Block first, Block count) const;
  void combine(Side side, const std::byte* other, const std::vector<Span>& operand, const std::vector<Span>& target);
  void copy(Instance& in, const std::vector<Span>& from, const std::vector<Span>& to);
  std::byte* pack(Instance& in, const std::vector<Span>& spans, Bytes bytes);
  void unpack(const std::byte* packed, const std::vector<Span>& spans) const;
  /// Room for n elements; returns the address of element 0.
  std::byte* elements(Arena& arena, Count n) const;

  const Work* work_ = nullptr;
  transport::Transport* transport_ = nullptr;
  std::vector<Instance> instances_;
  Count depth_ = 1;
  Count segments_ = 1;
  std::size_t active_ = 0;
  std::vector<transport::Ticket> done_;
  std::vector<Span> targets_, operands_, sources_;
};

/// One paragraph for people: rank, collective's call, algorithm, and for every segment its round and what it awaits,
/// then the schedule.
std::string hang_report(const Schedule& schedule, const std::vector<Standstill>& standstill, const std::string& call);

}  // namespace stretto::execute
