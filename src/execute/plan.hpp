// SPDX-License-Identifier: BSD-3-Clause
//
// A schedule with its blocks turned into addresses, for one segment of a call: what an operation carries out.
#pragma once

#include <vector>

#include "execute/element.hpp"
#include "execute/layout.hpp"
#include "stretto/schedule.hpp"

namespace stretto::execute {

/// A buffer of the call. Element `first` of the layout lies at `at`: in a buffer with some of the slots only (the input
/// of an allgather has one) that is the first element of the first of them.
struct Region {
  void* at = nullptr;  ///< only outputs are written to: the checker has proved it
  Layout layout = Layout::whole(0, 1, 0);
  Count first = 0;
};

/// A schedule bound to buffers.
struct Work {
  const Schedule* schedule = nullptr;
  Element element = {};
  Combiner combiner = {};
  Region input = {};
  Region output = {};
  Layout sizes = Layout::whole(0, 1, 0);  ///< of the blocks in scratch; it has as many segments as the sides, or more
  bool sizes_by_slot = false;             ///< `sizes` goes by slots of scratch, not by blocks
  bool in_place = true;                   ///< may input and output be one?
  int depth = 1;                 ///< segments in flight; equal on all ranks, at most shm::channels if any share memory
  Bytes lend_from = 0;           ///< messages in one piece of so many bytes are lent to ranks of the node; 0: none are
  bool copies_measured = false;  ///< each of these is staged instead where that has been faster
  bool oversubscribed = false;   ///< a rank that waits may wait for a core
  bool bypass_cache = false;     ///< the buffers of all ranks of the node are larger than the cache
  bool has_neighbours = true;    ///< some of the other ranks are of this node

  /// Does it go by measured times whether such a message is lent?
  bool measures(Bytes message) const { return copies_measured && message >= lend_from; }
};

/// Elements of one buffer that lie one behind the other.
struct Span {
  Buffer buffer;
  Count n;
  Bytes at;  ///< of the first element, from the address of the buffer
};

/// Independent of addresses. Messages of nothing are left out, but for those that the schedule wants: these go with the
/// first segment, the one that all ranks have, for ranks that know different parts may have more or fewer.
struct Plan {
  struct Outgoing {
    Rank peer;
    Slice blocks;  ///< of `spans`
    Bytes bytes;   ///< packed
    int alike;     ///< this message and those that follow it have the same blocks: so many peers
  };
  struct Step {
    ActionKind kind;
    Side side;
    bool after_sends;
    bool non_temporal;  ///< stores: what it writes is not read again
    bool forwards;      ///< combines what the next stage sends, as its only message, and nobody reads later
    Rank peer;
    Slice target, source, operand;
    Bytes bytes;  ///< of the message, packed
    Count n;      ///< elements
  };
  struct Stage {  ///< a round
    std::uint32_t first_send, end_of_sends;
    std::uint32_t first_step, end_of_steps;
    std::uint32_t receives = 0;  ///< steps that do
    Bytes sent = 0;              ///< by all sends
  };

  std::vector<Stage> stages;
  std::vector<Outgoing> sends;
  std::vector<Step> steps;
  std::vector<Span> spans;
  Bytes scratch = 0;       ///< bytes that the scratch needs
  std::size_t widest = 0;  ///< most steps of a stage

  /// Whether all messages are in one piece, without holes, and not too long. Known after find_fast_path().
  struct FastPath {
    bool fits = false;
    bool local = false;       ///< there are no messages
    bool only_sends = false;  ///< this rank receives nothing
    bool has_long = false;    ///< some are long: where there is a shared heap they go by the other path
    Bytes staged = 0;         ///< the most that a stage needs in the staging ring,
    Bytes largest = 0;        ///< and the largest message there
    Bytes exchanged = 0;      ///< of the only message that may be lent, which goes by the other path then; one as long
    Rank partner = no_rank;   ///< comes from its receiver, this rank
  } fast_path;

  std::span<const Span> at(Slice s) const { return {spans.data() + s.first, s.count}; }
  Count elements(Slice s) const {
    Count n = 0;
    for (const Span& span : at(s)) n += span.n;
    return n;
  }

  /// Makes this the plan of segment `segment`.
  void resolve(const Work& work, Count segment);
  /// After resolve(), of a call in one segment.
  void find_fast_path(const Work& work);

 private:
  bool fits_fast_path(const Work& work, const Stage& stage);
  class Resolver;
};

Count segments_of(const Work& work);

/// Are the plans of all segments but the last the same? Their input and output then are addresses moved on by
/// longest_segment() elements for every segment.
bool segments_alike(const Work& work);
Count longest_segment(const Work& work);

}  // namespace stretto::execute
