// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/prepared_call.hpp"

#include <algorithm>

namespace stretto::mpi {

bool PreparedCall::advance(const std::byte* scratch) {
  const auto runs = [this](Stage stage) {
    stage_ = stage;
    return true;
  };
  switch (stage_) {
    case Stage::arguments:
      if (!may_begin()) return false;
      if (tells_size_hint()) return runs(Stage::size_hint);
      [[fallthrough]];
    case Stage::size_hint:
      take_size_hint();
      if (tells_times()) return runs(Stage::times);
      [[fallthrough]];
    case Stage::times:
      if (stage_ == Stage::times)  // else it fell through, and nothing was told
        c_.learner->told(call_, times_.subspan(times_.size() / 2), telling_since_);
      if (!choose()) return false;
      if (tells_largest()) return runs(Stage::largest);
      [[fallthrough]];
    case Stage::largest:
      if (!take_largest()) return false;
      if (tells_sizes()) return runs(Stage::sizes);
      [[fallthrough]];
    case Stage::sizes:
      take_sizes(scratch);
      bind();
      return runs(Stage::collective);
    case Stage::collective: break;
  }
  return false;
}

bool PreparedCall::may_begin() {
  if (!check_arguments()) return false;
  return native_later_ || bytes_known() || !c_.native_by_bytes(call_) || leave(Passed::progress);
}

bool PreparedCall::check_arguments() {
  const Rank root = arguments_.signature.root;
  if (collective().rooted && (root < 0 || root >= c_.ranks())) return leave(Passed::arguments);
  // A root alone has two buffers.
  if (collective().rooted && in_place() && !is_root()) return leave(Passed::arguments);
  call_ = {.function = function(), .shape = {c_.ranks(), collective().rooted ? root : 0}};
  if (collective().neighbourhood) return check_neighbours();
  if (facts(function()).collective == Collective::barrier) return true;
  return collective().reduces ? check_reductions() : check_moves();
}

std::array<Rank, 2> PreparedCall::parts() const {
  if (!collective().neighbourhood) return {c_.ranks(), c_.ranks()};
  const Neighbours& near = call_.shape.graph->of(c_.rank());
  return {static_cast<Rank>(near.destinations.size()), static_cast<Rank>(near.sources.size())};
}

bool PreparedCall::choose() {
  decision_ = given_ ? given_ : &c_.decide(call_, counted_as_);
  if (c_.learner && counted_as_ == CountedAs::nonblocking) [[unlikely]]
    turn_ = c_.learner->taken();
  return decision_->algorithm || leave(Passed::rules);
}

void PreparedCall::hold_handles(HeldHandles& held) const {
  for (const auto* side : {&in_, &out_})
    if (*side) (*side)->hold_types(held);
  if (type_ && type_ == &storage_) held.hold_type(arguments_.signature.types[0]);
  if (runs_own_operator()) held.hold_op(arguments_.signature.op);
}

bool PreparedCall::watch_types() const {
  if (type_ && type_ == &storage_ && !watch_type(arguments_.signature.types[0])) return false;
  return (!in_ || in_->watch_types()) && (!out_ || out_->watch_types());
}

/// An algorithm that needs the counts of the call gets them.
void PreparedCall::build_schedule() {
  schedule_ = decision_->schedule;
  if (schedule_) return;
  Shape shape = call_.shape;
  shape.counts.reserve(static_cast<std::size_t>(shape.ranks));
  for (Rank r = 0; r < shape.ranks; ++r)
    shape.counts.push_back(!told_.empty()         ? told_[static_cast<std::size_t>(r)]
                           : collective().reduces ? part_elements(r)
                                                  : sized_by()->bytes(r));
  schedule_ = c_.schedule(*decision_->algorithm, shape, decision_->params);
}

Count PreparedCall::segment_elements(Bytes element_size) const {
  const Rank parts = collective().per_rank ? c_.ranks() : 1;
  return decision_->params.segment > 0 ? std::max<Count>(decision_->params.segment / parts / element_size, 1) : 0;
}

void PreparedCall::bind() {
  build_schedule();
  work_ = {};
  if (facts(function()).collective == Collective::barrier)
    keep_ = true;
  else if (collective().reduces)
    bind_reductions();
  else
    padded() ? bind_padded() : bind_moves();
}

/// Types and operators of the program's own may become others, and parts and sizes that ranks tell each other differ.
bool PreparedCall::always_native() const {
  if (left_ != Passed::rules || arguments_.parts[0] || arguments_.parts[1] || !bytes_known()) return false;
  if (collective().reduces) return type_ != &storage_ && op_.predefined;
  return (!in_ || in_->predefined()) && (!out_ || out_->predefined());
}

void PreparedCall::pack_again() {
  reported_ = false;
  packing_error_ = MPI_SUCCESS;
  if (in_ || out_) pack_input();
}

Served PreparedCall::end() {
  if (left_) return pass(function(), *left_);
  if (buffer_error_ != MPI_SUCCESS) return buffer_error_;  // what came is in memory of our own
  if (apart_) {  // the result of a reduce-scatter in place: to where it belongs
    std::vector<char> packed;
    copy_elements(type_->element, apart_, arguments_.output, part_elements(c_.rank()), packed);
  }
  if (out_ && (collective().per_rank || !is_root())) out_->unpack();
  // Errors of the program's types, which the program has heard of, are found on the way.
  note_packing();
  if (packing_error_ != MPI_SUCCESS) {
    reported_ = true;
    return packing_error_;
  }
  return truncated_ ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

}  // namespace stretto::mpi
