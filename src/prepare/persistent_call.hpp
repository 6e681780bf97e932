// SPDX-License-Identifier: BSD-3-Clause
//
// A persistent call: all that can be found out beforehand, the sizes of irregular calls too, is found out when it is
// made, which may take messages. Starting it does nothing but post.
//
// Where ranks learn, starts take turns (communicator/learner): each candidate is prepared when its first turn comes,
// which takes no message. The native function's is a persistent request of the native library, made beside this one.
#pragma once

#include "prepare/pending_call.hpp"

namespace stretto::mpi {

class PersistentCall final : public PendingCall {
 public:
  ~PersistentCall() {
    retire();
    if (c_ && tag_) c_->return_persistent_tag(*tag_);
  }
  /// MPI's error code, not raised; or nothing: it is left to the native library, which has been counted. Collective;
  /// `runner` does what takes messages, `native` makes the native library's request.
  Served make(Worker& runner, Communicator& c, const Arguments& arguments, FunctionRef<int(MPI_Request*)> native);
  void start();
  /// After start(): is it complete, without an error or a time that is to be told?
  bool was_at_once() const { return done() && code() == MPI_SUCCESS && !times && !turns_; }
  /// It is started no more: counts its starts, and keeps what they found out.
  void retire();
  /// After make() and after the end of a start: of whom the profile is to know.
  void observe_choice();
  /// After its end.
  void tell_time();

  bool persists() const override { return true; }
  void poll() override;
  bool only_messages() const override { return !native_active_; }
  void give_up() override;
  std::string called() const override { return "a start of " + mpi_name(function()) + "_init"; }
  void ended(execute::Operation& operation) override;

 private:
  /// It, prepared as one candidate does it.
  struct Candidate {
    execute::Arena memory;
    std::optional<PreparedCall> own;
    PreparedCall* call = nullptr;  ///< `own`, or that of the whole; null: the native library does it
    const Algorithm* algorithm = nullptr;
    execute::Work work;
    execute::Plan plan;
    bool has_plan = false;     ///< else the operation makes one for each segment
    bool is_plain = false;     ///< nothing is to be packed or unpacked
    std::uint64_t starts = 0;  ///< not yet counted
  };

  const Schedule* schedule() const override;
  Served prepare_all(Worker& runner, Communicator& c, FunctionRef<int(MPI_Request*)> native);
  bool make_with_turns(FunctionRef<int(MPI_Request*)> native);
  void bind(Candidate& candidate, PreparedCall& call);
  void prepare(std::size_t candidate);
  void start_turn();
  void post_now();
  void start_natively();
  int unpacked();
  void over(int code);

  std::optional<transport::Tag> tag_;  // of each start: MPI matches them by the order in which the calls were made
  std::vector<std::unique_ptr<Candidate>> candidates_;
  Candidate* now_ = nullptr;

  std::unique_ptr<Learner::Persistent> turns_;  // null: nothing is learned
  MPI_Request native_request_{};                // while turns_
  bool native_active_ = false;
  std::vector<Count> to_tell_;  // behind the start that is under way
  std::vector<Count> telling_numbers_, told_;
  std::shared_ptr<const Schedule> telling_;  // null: it is not that stage
  std::int64_t telling_since_ = 0;
  int code_so_far_ = MPI_SUCCESS;
};

}  // namespace stretto::mpi
