// SPDX-License-Identifier: BSD-3-Clause
//
// A collective call from its arguments to its end, in stages: what must be known of sizes, the collective itself, what
// is to be unpacked. Each stage is a schedule to be run; whoever runs them may wait for each or not.
#pragma once

#include "communicator/communicator.hpp"
#include "mpi/held_handles.hpp"
#include "mpi/operators.hpp"
#include "prepare/call_buffer.hpp"
#include "prepare/serve.hpp"

namespace stretto::mpi {

class PreparedCall {
 public:
  /// Packed copies and the like are taken from `memory`. All that is referred to outlives this.
  PreparedCall(Communicator& communicator, const Arguments& arguments, execute::Arena& memory)
      : c_(communicator),
        arguments_(arguments),
        memory_(memory) {}
  PreparedCall& operator=(PreparedCall&&) = delete;

  /// It may be one of those by which ranks learn (STRETTO_LEARN).
  void take_turn(CountedAs form) { counted_as_ = form; }
  /// Nobody could start the native function behind a stage: a call that might come to that is left before the first.
  void native_at_once() { native_later_ = false; }
  /// Or it is served by this one.
  void take(const Decision& decision) { given_ = &decision; }
  /// Of a nonblocking one that is: empty if it is not, or not yet decided.
  const Learner::Turn& turn() const { return turn_; }
  /// Goes on to the next stage, when the last one has been run; `scratch` is where that one's scratch begins. True:
  /// work() is to be run. False: the call is at its end.
  bool next(const std::byte* scratch) {
    const bool more = advance(scratch);
    work_.schedule = schedule_.get();
    return more;
  }
  /// Instead of next(): does it look as if the call could go on? For what follows. False: end() says so.
  bool servable() { return may_begin() && ((!bytes_known() && c_.size_hint(call_)) || choose()); }
  /// Of the program's own types and operators, what the call needs until its end. After servable() or next().
  void hold_handles(HeldHandles& held) const;
  /// See watch_type(): all of the program's own. False: the call's plan must not be kept.
  bool watch_types() const;
  /// Does the program's own function combine elements?
  bool runs_own_operator() const { return op_.usable && !op_.predefined; }
  const execute::Work& work() const { return work_; }
  /// Is work() the collective itself?
  bool is_collective() const { return stage_ == Stage::collective; }
  Function function() const { return arguments_.signature.function; }
  const Decision& decision() const { return *decision_; }
  const std::shared_ptr<const Schedule>& schedule() const { return schedule_; }
  /// Parts of the input and of the output, where they have parts.
  std::array<Rank, 2> parts() const;
  /// An operation by which all ranks get the smallest of their numbers, one by one; `schedule` is that of
  /// combines_sizes.
  static execute::Work smallest(const Schedule& schedule, std::span<const Count> mine, Count* least);
  /// What the call's plan may be kept by; null: it may not.
  const Arguments* keeps() const { return keep_ ? &arguments_ : nullptr; }
  /// Is work() all of it? Then it may be run as often as wanted, without pack_again() and end().
  bool is_plain() const {
    return work_.element.dense && !truncated_ && buffer_error_ == MPI_SUCCESS && !apart_ && !(in_ && in_->copied()) &&
           !(out_ && out_->copied());
  }
  /// After next() has said that this is the end: are all calls like it left to the native library, by the rules or by
  /// what ranks learned?
  bool always_native() const;
  /// After end(): the program has other input in its buffers, and work() is to be run once more.
  void pack_again();
  /// In the PackingFor in which something was packed for this call: end() may be in another one.
  void note_packing() {
    if (packing_error_ == MPI_SUCCESS) packing_error_ = packing_error();
  }
  /// After next() has said that this is the end. An error is still to be raised, unless it is reported().
  Served end();
  bool reported() const { return reported_; }

 private:
  /// What was run last; `arguments`: nothing yet.
  enum class Stage : std::uint8_t { arguments, size_hint, times, largest, sizes, collective };
  /// How one of my numbers and those of the others become one.
  using Combine = void(const execute::Combiner&, const void* left, const void* right, void* target, Count n);

  static constexpr Count several = 2;  // elements that may not be aliased where any may not

  const CollectiveFacts& collective() const { return facts(facts(function()).collective); }
  bool in_place() const { return arguments_.signature.in_place; }
  bool is_root() const { return !collective().rooted || c_.rank() == arguments_.signature.root; }
  bool leave(Passed reason) {
    left_ = reason;
    return false;
  }
  bool check_arguments();
  bool choose();
  bool may_begin();
  bool advance(const std::byte* scratch);
  void build_schedule();
  /// Elements of a segment of the call: of each part, where there are parts.
  Count segment_elements(Bytes element_size) const;
  void bind();

  // Calls that move elements: moves.cc
  bool check_moves();
  bool check_neighbours();
  void emplace(std::optional<CallBuffer>& buffer, int side);
  bool check_buffers();
  bool same_memory();
  const CallBuffer* sized_by() const;
  bool bytes_known() const { return c_.bytes_known(function()); }
  /// Of one for a neighbour, where all are alike.
  Bytes bytes_of_part() const { return parts()[0] > 0 ? in_->bytes() : out_->bytes(); }
  void conform(CallBuffer& side, bool output);
  execute::Region region(const std::optional<CallBuffer>& side, bool has_parts, Count segment) const;
  void pack_moves();
  void pack_input();
  void bind_moves();
  void bind_padded();

  // Calls that combine them: reductions.cc
  bool check_reductions();
  bool check_operands();
  bool count_parts();
  Count part_elements(Rank r) const {
    return counts_.empty() ? arguments_.signature.counts[0] : counts_[static_cast<std::size_t>(r)];
  }
  void bind_reductions();

  // What ranks tell each other before: sizes.cc
  Bytes known_bytes() const;
  static execute::Work combining(const Schedule& schedule, Combine combine, std::span<const Count> mine,
                                 Count* combined);
  void combine_numbers(Combine combine, std::span<const Count> mine, Count* combined);
  void combine_number(Combine combine, Bytes mine);
  bool padded() const { return stage_ == Stage::largest && decision_->algorithm->padded; }
  bool tells_size_hint();
  void take_size_hint();
  bool tells_times();
  bool tells_largest();
  bool take_largest();
  bool tells_sizes();
  void take_sizes(const std::byte* scratch);

  Communicator& c_;
  Arguments arguments_;
  execute::Arena& memory_;
  Stage stage_ = Stage::arguments;
  std::optional<Passed> left_;  // to the native library
  bool native_later_ = true;
  bool truncated_ = false;
  bool reported_ = false;
  int packing_error_ = MPI_SUCCESS;
  int buffer_error_ = MPI_SUCCESS;  // which others do not see: this rank does what they wait for, and returns it
  bool keep_ = false;
  CountedAs counted_as_ = CountedAs::none;
  const Decision* given_ = nullptr;
  Learner::Turn turn_;

  Call call_{};
  const Decision* decision_ = nullptr;
  std::shared_ptr<const Schedule> schedule_;
  execute::Work work_{};

  std::optional<CallBuffer> in_, out_;  // of a call that moves elements
  Bytes number_ = 0, combined_ = 0;     // what is told, and what comes of it
  std::span<Count> told_;               // sizes of all parts, or of the slots of scratch
  std::span<Count> times_;              // of calls like this one, of all ranks
  std::int64_t telling_since_ = 0;

  TypeFacts storage_;  // of a call that combines them
  const TypeFacts* type_ = nullptr;
  OperatorFacts op_;
  Count elements_ = 0;
  std::span<Count> counts_, firsts_;  // of a reduce_scatter
  void* apart_ = nullptr;             // where its result arrives, if not in the program's buffer
};

// Blocking calls: perform.cc runs what a prepared call asks for, stage by stage.
Served perform(Communicator& c, const Arguments& arguments);

/// MPI's return code, if the call's plan is in the cache; `left`: or it is known that the native library is to do it.
Served run_cached(Communicator& c, const Arguments& arguments, bool& left);

/// A call that is served by `algorithm`, for which `served` counts.
void count_served(Communicator& c, Counter& served, const Algorithm& algorithm);
/// What `c` allows of it.
void complete_work(const Communicator& c, Function function, const Decision& decision, execute::Work& work);
/// Before the collective of `call` runs, as `work`: counts the call, and keeps its plan if that may be, else null. Only
/// one that a blocking call keeps samples those that follow.
std::shared_ptr<PlanCache::Cached> count_and_keep(Communicator& c, const PreparedCall& call, execute::Work& work,
                                                  bool blocking);
/// Before a kept call: counts it.
void count_again(Communicator& c, PlanCache::Cached& cached);

}  // namespace stretto::mpi
