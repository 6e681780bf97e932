// SPDX-License-Identifier: BSD-3-Clause
//
// A persistent call: all that can be found out beforehand, the sizes of irregular calls too, is found out when it is
// made, which may take messages. Starting it does nothing but post.
#pragma once

#include "prepare/pending_call.hpp"

namespace stretto::mpi {

class PersistentCall final : public PendingCall {
 public:
  ~PersistentCall() {
    count();
    if (c_ && tag_) c_->return_persistent_tag(*tag_);
  }
  /// MPI's error code, not raised; or nothing: it is left to the native library, which has been counted. Collective;
  /// `runner` does what takes messages.
  Served make(Worker& runner, Communicator& c, const Arguments& arguments);
  void start();
  /// Adds the starts since the last time to the statistics.
  void count();
  /// After make().
  const Algorithm& algorithm() const { return *prepared_->decision().algorithm; }

  bool persists() const override { return true; }
  void ended(execute::Operation& operation) override;

 private:
  const Schedule* schedule() const override { return prepared_->schedule().get(); }
  int unpacked();

  std::optional<transport::Tag> tag_;  // of each start: MPI matches them by the order in which the calls were made
  execute::Work work_;
  execute::Plan plan_;
  bool has_plan_ = false;     // else the operation makes one for each segment
  bool is_plain_ = false;     // nothing is to be packed or unpacked
  std::uint64_t starts_ = 0;  // not yet counted
};

}  // namespace stretto::mpi
