// SPDX-License-Identifier: BSD-3-Clause
//
// The engine: carries out one rank's schedule, segment by segment; over shared memory where the peer is on this node,
// over messages where it is not.
#pragma once

#include <string>
#include <vector>

#include "execute/buffers.hpp"
#include "execute/observer.hpp"
#include "transport/shm/post.hpp"
#include "transport/transport.hpp"

namespace stretto::execute {

/// How to reach the other ranks.
struct Paths {
  transport::Transport* messages = nullptr;          ///< null: all are on this node
  const transport::shm::Neighbours* node = nullptr;  ///< null: none is
  /// Called now and then in a long wait, with `context`: lets the messages of others go on, which may need this rank.
  /// False: there is no use in waiting on. May be null.
  bool (*attend)(void* context) = nullptr;
  void* context = nullptr;
  Observer* observer = nullptr;

  Paths(transport::Transport* m, const transport::shm::Neighbours* n) : messages(m), node(n) {}
  Paths(transport::Transport& m) : messages(&m) {}

  bool go_on() const { return !attend || attend(context); }
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
  /// `deadline` is for each wait: its span begins anew when some message has come or gone. `ready`: what
  /// Program::resolve() gave for the same work before, of a call in one segment.
  transport::Outcome run(const Work& work, const Paths& paths, const Deadline& deadline,
                         const Program* ready = nullptr);

  /// After an outcome that is not ok: what every segment in flight was waiting for.
  std::vector<Standstill> standstill() const;

  /// After a call in one segment: the address of scratch slot 0, where it stays until the next call.
  const std::byte* scratch() const { return instances_[0].scratch; }

 private:
  struct Arrival {                // of a step of the present round
    std::byte* bounce = nullptr;  // where the message is put, if not in its target
    Bytes got = 0;
    bool complete = false;
    bool dropped = false;  // it has another size than awaited
  };
  /// A message to neighbours that has not been posted yet.
  struct Departure {
    std::uint32_t send;
    std::uint32_t readers;              // this and the next sends: the same blocks
    Bytes window = 0;                   // of a message that does not fit into the room at once, else 0
    std::byte* memory = nullptr;        // the window
    const std::byte* packed = nullptr;  // if pieces cut elements that have holes
    std::uint64_t before = 0;           // the number of the part before its first
    Bytes posted = 0;
    std::uint64_t pieces = 0;
  };
  using Neighbours = transport::shm::Neighbours;
  struct Place {  // in a program
    std::size_t round = 0;
    std::uint32_t send = 0;
    std::uint32_t step = 0;
  };
  struct Message {  // over paths_.messages
    Rank peer = no_rank;
    Bytes bytes = 0;
    bool complete = true;
  };
  /// One segment in flight.
  struct Instance {
    bool active = false;
    int lane = 0;
    Count segment = 0;
    std::size_t round = 0;
    std::uint32_t step = 0;
    const Program* program = nullptr;
    Program own;                    // if no other segment has the same
    std::vector<Arrival> arrivals;  // one for each step of the round
    std::vector<Message> leaving;   // one for each send of the round
    std::size_t sends_left = 0;     // of `leaving`
    std::vector<Departure> unsent;
    std::byte* scratch = nullptr;  // address of element 0 of slot 0
    Buffers buffers;
    Arena arena;          // of the round
    Arena scratch_arena;  // of the segment
  };

  void begin(const Work& work, const Paths& paths, const Program* ready);
  /// Gives back what a call with long vectors took; before a call what a failed one left.
  void trim();
  void start(Instance& in, Count segment);
  void occupy(Instance& in, Count segment);
  const Program& program_of(Instance& in, Count segment);
  void enter_round(Instance& in);
  void begin_round(Instance& in, const Program::Stage& stage);
  /// Works on until a message is missing or the segments are done. False: could do nothing.
  bool advance(Instance& in);
  bool carry_out(Instance& in, std::uint32_t step);
  /// Would write what the round has still to send.
  bool held(const Instance& in, const Program::Step& step) const {
    return step.after_sends && (in.sends_left > 0 || !in.unsent.empty());
  }
  void deliver(Instance& in, const Program::Step& step, Arrival& arrival, const std::byte* part, Bytes bytes);
  void arrived(Instance& in, const Program::Step& step, const Arrival& arrival);

  // Brief programs: engine_brief.cc
  bool has_short_way(const Paths& paths, const Program& program) const;
  bool run_brief(const Work& work, const Paths& paths, const Program& program, Place& at);
  std::uint32_t send_brief(const Neighbours& node, const Program::Outgoing* send, const std::byte* from);
  template <typename Address>
  static bool step_brief(const Work& work, const Neighbours& node, const Program::Step& step, Address address);
  void take_over(Instance& in, const Place& at);

  // For whoever looks closely.
  Nanoseconds active(Rank peer = no_rank, bool came = false) { return observer_ ? observer_->active(peer, came) : 0; }
  void done(Nanoseconds begin, Activity activity, Rank peer, Bytes bytes, const Instance& in) {
    if (observer_) [[unlikely]]
      observer_->done(begin, activity, peer, bytes, in.round);
  }

  // Neighbours: engine_node.cc
  transport::shm::Connection* neighbour(Rank peer) const {
    return paths_.node ? paths_.node->connections[static_cast<std::size_t>(peer)] : nullptr;
  }
  void send_to_neighbours(Instance& in, const Program::Stage& stage);
  void queue_sends(Instance& in, std::uint32_t first, std::uint32_t end);
  void cut_into_pieces(Instance& in, Bytes room);
  bool depart(Instance& in, Departure& d);
  bool depart_in_pieces(Instance& in, Departure& d);
  bool pump(Instance& in);
  bool take(Instance& in, std::uint32_t step, bool in_order);
  bool drain(Instance& in);

  // Messages: engine_messages.cc
  void post_receives(Instance& in, const Program::Stage& stage);
  void post_sends(Instance& in, const Program::Stage& stage);
  transport::Ticket ticket(const Instance& in, std::uint32_t index, bool send) const;
  transport::Outcome collect(bool wait, const Deadline& deadline);
  transport::Outcome await(const Deadline& deadline);

  const Work* work_ = nullptr;
  Paths paths_{nullptr, nullptr};
  Observer* observer_ = nullptr;  // null unless it looks closely
  std::vector<Instance> instances_;
  std::size_t depth_ = 1;
  Count segments_ = 1;
  std::size_t active_ = 0;
  bool alike_ = false;  // programs_[0] serves all segments but the last
  const Program* ready_ = nullptr;
  Program programs_[2];  // of all segments but the last, and of the last
  bool resolved_[2] = {};
  bool mismatch_ = false;  // a neighbour's message had another size than awaited
  std::size_t open_ = 0;   // messages under way
  std::vector<transport::Ticket> done_;
  std::vector<std::uint64_t> blocked_;  // by rank: the last pass in which a message of it had to wait
  std::uint64_t pass_ = 0;
  transport::shm::Stores stores_;
};

/// One paragraph for people: rank, collective's call, algorithm, and for every segment its round and what it awaits,
/// then the schedule.
std::string hang_report(const Schedule& schedule, const std::vector<Standstill>& standstill, const std::string& call);

}  // namespace stretto::execute
