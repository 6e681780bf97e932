// SPDX-License-Identifier: BSD-3-Clause
//
// One rank's part of one collective call, from its first message to its last: it can be moved on by anybody, at any
// time, beside others. Over shared memory where the peer is on this node, over messages where it is not.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "execute/buffers.hpp"
#include "execute/observer.hpp"
#include "transport/shm/access_selectors.hpp"
#include "transport/shm/post.hpp"
#include "transport/transport.hpp"

namespace stretto::execute {

namespace shm = transport::shm;

/// Of whoever moves operations on: what it may call. Of an operation: what has to be called to move it on.
struct Rights {
  bool mpi = true;        ///< functions of the MPI that communicate
  bool operators = true;  ///< of the program
  bool cover(const Rights& needed) const { return (mpi || !needed.mpi) && (operators || !needed.operators); }
};

/// How to reach the other ranks, and what tells this operation's messages from others'.
struct Paths {
  transport::Transport* messages = nullptr;  ///< null: all are on this node
  const shm::Neighbours* node = nullptr;     ///< null: none is
  transport::Tag tag = {};                   ///< of the operation, on all ranks alike; its channel is not used
  /// Called now and then in a long wait, with `context`: lets the messages of others go on, which may need this rank.
  /// False: there is no use in waiting on. May be null.
  bool (*attend)(void* context) = nullptr;
  void* context = nullptr;
  Observer* observer = nullptr;
  Rights needed = {false, false};  ///< of those who move it on unasked

  Paths() = default;
  Paths(transport::Transport* m, const shm::Neighbours* n) : messages(m), node(n) {}
  Paths(transport::Transport& m) : messages(&m) {}

  bool go_on() const { return !attend || attend(context); }
};

/// A message that is still awaited, for the stall report.
struct Awaited {
  bool send;
  Rank peer;
  Bytes bytes;
};

struct Stall {
  Count segment;
  std::size_t round;
  std::vector<Awaited> awaited;
};

class Owner;

/// Made by Progress, which keeps its memory for the next call.
class Operation {
 public:
  Owner* owner = nullptr;  ///< hears of its end; null: somebody waits for it

  /// `number` tells it from the others of its Progress; `selectors` are of the thread.
  Operation(std::uint32_t number, shm::AccessSelectors& selectors, const std::uint64_t& look)
      : number_(number),
        selectors_(selectors),
        look_(look),
        instances_(1) {}
  Operation& operator=(Operation&&) = delete;

  /// Sends what can be sent at once. What `work` and `paths` point at stays until the end. `ready`: what
  /// Plan::resolve() gave for the same work before, of a call in one segment; it stays as well.
  void post(const Work& work, const Paths& paths, const Plan* ready);
  /// Its plan, which stays until this operation is used again; null: the call has several segments.
  const Plan* resolve_single_segment(const Work& work);
  /// Works on until messages are missing. False: could do nothing.
  bool advance() { return is_fast_ ? advance_fast(1) : advance_all(); }
  /// On the fast path: the same, with many polls in each wait. True: it is complete.
  bool spin() { return is_fast_ && advance_fast(paths_.node->policy.polls) && !active(); }
  /// The same in a long wait: takes messages that are not next in order, and buffers those of other operations that
  /// stand before its own, for theirs may depend on it.
  bool drain();
  /// In a wait that is longer still: sends what others' messages keep from leaving by other means.
  void unblock_sends();
  /// One of its messages over paths().messages is complete.
  void complete(transport::Ticket ticket);
  /// Its end will not come, or is of no use: nothing more is sent, received or written.
  void abandon();

  bool active() const { return active_ > 0; }
  /// Its outcome, when it is not active any more.
  transport::Outcome outcome() const { return failed_ ? transport::Outcome::failed : transport::Outcome::ok; }
  void fail() { failed_ = true; }
  std::size_t open() const { return open_; }  ///< messages under way over paths().messages
  const Paths& paths() const { return paths_; }
  /// From now on, whoever moves it on unasked.
  void need(const Rights& rights) { paths_.needed = rights; }

  /// What every segment in flight is waiting for.
  std::vector<Stall> stalls();
  /// After a call in one segment: the address of scratch slot 0, where it stays until the next post().
  const std::byte* scratch() const { return instances_[0].scratch; }

  // The fast path, of plans without long messages, on one node only: fast_path.cc
  struct Position {  // in a plan
    std::size_t round = 0;
    std::uint32_t send = 0;
    std::uint32_t step = 0;

    bool operator==(const Position&) const = default;
  };
  /// Asked once for each call: some calls go by the other path, where messages are timed.
  static bool takes_fast_path(const Paths& paths, const Plan& plan) {
    const Plan::FastPath& fast = plan.fast_path;
    if (!fast.fits || paths.messages || (paths.observer && paths.observer->closely())) return false;
    if (!paths.node) return fast.local;
    return fast.staged <= paths.node->staging[0]->capacity(fast.largest) &&
           ((!fast.has_long && fast.exchanged == 0) || stages_untimed(*paths.node, fast));
  }
  static Position beginning_of(const Plan& plan);
  /// What stops the fast path: a message has not come, or one comes or leaves in a way that is for the other path.
  enum class Stop : std::uint8_t { end, wait, other_path };
  /// From `at` on. If not to the end, `at` is how far it came, for resume().
  Stop run_fast(const Work& work, const Paths& paths, const Plan& plan, Position& at, int polls) {
    return run_fast(work, {work.input.at, work.output.at}, paths, plan, at, polls);
  }
  /// post() from there on.
  void resume(const Work& work, const Paths& paths, const Plan& plan, const Position& at);
  /// The same: advance() then takes the fast path as long as nothing is in its way. `work` stays, but for where its
  /// buffers are, and so does what `paths` points at.
  void resume_fast(const Work& work, const Paths& paths, const Plan& plan, const Position& at);

 private:
  struct ReceiveState {           // of a step of the present round
    std::byte* bounce = nullptr;  // where the message is put, if not in its target
    Bytes got = 0;
    Bytes copied = 0;     // of a lent message, by this end
    bool asked = false;   // its sender, to copy what it lends, before its turn
    bool shared = false;  // a lent message that its sender copies, too
    bool complete = false;
    bool dropped = false;                              // it has another size than awaited
    std::chrono::steady_clock::time_point began = {};  // when it was first looked for, if takes_one()
    float copying = 0;                                 // seconds; otherwise, and only if that is timed
  };
  static constexpr Bytes fragments_of_window = shm::CopySelector::fragments;
  /// A message to neighbours that has not been posted yet.
  struct SendState {
    std::uint32_t send;
    std::uint32_t readers;              // this and the next sends: the same blocks
    Bytes window = 0;                   // in which it goes in fragments; 0: it goes whole
    std::byte* memory = nullptr;        // the window
    bool new_pages = false;             // in it
    bool around = false;                // it went around the ring
    const std::byte* packed = nullptr;  // if fragments cut elements that have holes
    std::uint64_t reference = 0;        // of the window
    Bytes posted = 0;
    std::uint64_t fragments = 0;
    std::array<std::uint64_t, fragments_of_window> numbers{};  // of the last fragments
    bool in_slots = false;                                     // the staging ring is full of what nobody reads
    bool lend = false;                                         // to be copied from where it lies
    bool timed = false;                                        // packing it, to choose how later ones go
    std::uint64_t lent = 0;                                    // the fragment by which it is
  };
  struct PostedSend {  // over paths_.messages
    Rank peer = no_rank;
    Bytes bytes = 0;
    bool complete = true;
  };
  /// One segment in flight.
  struct Instance {
    bool active = false;
    int channel = 0;
    Count segment = 0;
    std::size_t round = 0;
    std::uint32_t step = 0;
    bool forwarded = false;  // the message of the next round has left
    struct Sent {
      const shm::Outbox* box = nullptr;
      std::uint64_t number = 0;
    } sent[2];  // the last messages in the staging ring, each the only one of its round; the older one first
    const Plan* plan = nullptr;
    Plan own;                            // if no other segment has the same
    std::vector<ReceiveState> receives;  // one for each step of the round
    std::vector<PostedSend> leaving;     // one for each send of the round
    std::size_t sends_left = 0;          // of `leaving`
    std::vector<SendState> unsent;
    std::byte* scratch = nullptr;  // address of element 0 of slot 0
    Buffers buffers;
    Arena arena;          // of the round
    Arena scratch_arena;  // of the segment
  };

  void begin(const Work& work, const Paths& paths, const Plan* ready);
  /// Gives back what a call with long vectors took.
  void trim();
  void start(Instance& in, Count segment);
  void occupy(Instance& in, Count segment);
  const Plan& plan_of(Instance& in, Count segment);
  void enter_round(Instance& in);
  void begin_round(Instance& in, const Plan::Stage& stage);
  bool advance_all();
  bool advance(Instance& in);
  void copy(Instance& in, const Plan::Step& step);
  bool carry_out(Instance& in, std::uint32_t step);
  /// Would write what the round has still to send.
  bool held(const Instance& in, const Plan::Step& step) const {
    return step.after_sends && (in.sends_left > 0 || !in.unsent.empty());
  }
  void deliver(Instance& in, const Plan::Step& step, ReceiveState& receive, const std::byte* fragment, Bytes bytes,
               bool in_ring = false);
  /// Of this node, whatever others do.
  bool shares_core() const { return work_.oversubscribed && paths_.node && paths_.node->policy.polls <= 1; }
  shm::Connection* next_of(const Instance& in, const Plan::Step& step, const ReceiveState& receive,
                           const shm::Fragment& fragment) const;
  bool forward(Instance& in, const Plan::Step& step, ReceiveState& receive, shm::Inbox& box,
               const shm::Fragment& fragment, shm::Connection& next);
  /// Where ranks share cores a pipeline goes on, after two messages, when the older one has been read: its reader needs
  /// a core, and what it reads is still in the cache. Elsewhere nothing is noted in `sent`.
  bool runs_ahead(const Instance& in) const { return in.sent[0].box && !in.sent[0].box->released(in.sent[0].number); }
  void note_sent(Instance& in, const shm::Outbox& box) const {
    if (shares_core()) in.sent[0] = std::exchange(in.sent[1], {&box, box.sent()});
  }
  void deliver_bounced(Instance& in, const Plan::Step& step, const ReceiveState& receive);

  std::uint32_t send_fast(const Plan::Outgoing* send, const std::byte* from);
  std::uint32_t post_fast(const Plan::Outgoing* send, const std::byte* from);
  void prefetch_next(const Plan& plan, const Plan::Stage& stage) const;
  struct Ends {  // addresses of the call's buffers
    void* input = nullptr;
    void* output = nullptr;
  };
  Stop run_fast(const Work& work, Ends ends, const Paths& paths, const Plan& plan, Position& at, int polls);
  template <typename Address>
  Stop step_fast(const Work& work, const Plan::Step& step, Address address, int most_polls);
  bool advance_fast(int polls);
  static bool stages_untimed(const shm::Neighbours& node, const Plan::FastPath& fast);
  void leave_fast_path();

  // For whoever looks closely.
  Nanoseconds seen(Rank peer = no_rank, bool came = false) { return observer_ ? observer_->active(peer, came) : 0; }
  void done(Nanoseconds begin, Activity activity, Rank peer, Bytes bytes, const Instance& in) {
    if (observer_) [[unlikely]]
      observer_->done(begin, activity, peer, bytes, in.round);
  }

  // Neighbours: operation_node.cc
  shm::Connection* neighbour(Rank peer) const {
    return paths_.node ? paths_.node->connections[static_cast<std::size_t>(peer)] : nullptr;
  }
  void send_to_neighbours(Instance& in, const Plan::Stage& stage);
  void queue_sends(Instance& in, std::uint32_t first, std::uint32_t end);
  static void one_by_one(std::vector<SendState>& unsent);
  void cut_into_fragments(Instance& in, Bytes staging);
  struct Part {
    Bytes first, bytes;
  };
  void pack_staged(Instance& in, const SendState& state, Part part, std::byte* to, const shm::Storing& storing);
  bool try_send(Instance& in, SendState& state);
  bool try_send_in_fragments(Instance& in, SendState& state);
  void give_windows_back(Instance& in);
  bool try_send_in_slots(Instance& in, SendState& state);
  bool pump(Instance& in);
  void unblock_sends(Instance& in);
  bool takes_one(const Instance& in) const;
  shm::Copied take_content(Instance& in, const Plan::Step& step, ReceiveState& receive, shm::Inbox& box,
                           const shm::Fragment& fragment, shm::Connection* next);
  static bool is_exchanged(const Instance& in, const Plan::Step& step);
  void note_cost(Instance& in, const Plan::Step& step, const ReceiveState& receive, const shm::Fragment& last);
  bool take(Instance& in, std::uint32_t step, bool in_order, bool yielding);
  bool drain(Instance& in, bool yielding);

  // Lent messages: operation_lend.cc
  /// May senders of the round have time, and lend their messages?
  bool gets_help(const Instance& in) const {
    return paths_.node && (work_.lend_from > 0 || !work_.oversubscribed) && in.plan->stages[in.round].receives > 0;
  }
  void ask_for_help(Instance& in);
  bool ask(const Plan::Step& step, const shm::Inbox::Target& target, shm::Inbox& box);
  bool copies_next(const Instance& in) const;
  void choose_copy(const Instance& in, SendState& state);
  static constexpr Bytes least_in_fragments = 40 << 10;
  Bytes window_for(const Work& work, const Plan::Stage& stage, const Plan::Outgoing& send) const;
  void choose_loan(const Instance& in, SendState& state);
  bool try_lend(Instance& in, SendState& state);
  shm::Copied take_lent(Instance& in, const Plan::Step& step, ReceiveState& receive, shm::Inbox& box,
                        const shm::Fragment& fragment);
  void withdraw_lent(Instance& in);

  // Messages: operation_messages.cc
  void post_receives(Instance& in, const Plan::Stage& stage);
  void post_sends(Instance& in, const Plan::Stage& stage);
  transport::Ticket ticket(const Instance& in, std::uint32_t index, bool send) const;
  transport::Tag tag(const Instance& in) const { return {paths_.tag.communicator, paths_.tag.sequence, in.channel}; }

  std::uint32_t number_;
  shm::AccessSelectors& selectors_;
  const std::uint64_t& look_;  // the number of this look at all operations
  Work work_{};
  Paths paths_;
  shm::Neighbours node_;
  std::uint64_t key_ = 0;         // of its messages in shared memory
  Observer* observer_ = nullptr;  // null unless it looks closely
  std::vector<Instance> instances_;
  std::size_t depth_ = 1;
  Count segments_ = 1;
  std::size_t active_ = 0;
  bool alike_ = false;  // plans_[0] serves all segments but the last
  const Plan* ready_ = nullptr;
  bool is_fast_ = false;  // advance() goes on from position_
  Position position_;
  const Work* fast_work_ = nullptr;
  Ends ends_;
  Plan plans_[2];  // of all segments but the last, and of the last
  bool resolved_[2] = {};
  bool failed_ = false;  // a transport said so, or a neighbour's message had another size than awaited
  std::size_t open_ = 0;
  std::vector<std::uint64_t> blocked_;  // by rank: the last pass in which a message of it had to wait
  std::uint64_t pass_ = 0;
};

/// One paragraph for people: rank, collective's call, algorithm, and for every segment its round and what it awaits,
/// then the schedule.
std::string stall_report(const Schedule& schedule, const std::vector<Stall>& stalls, const std::string& call);

}  // namespace stretto::execute
