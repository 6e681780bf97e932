// SPDX-License-Identifier: BSD-3-Clause
//
// Calls that move elements. What travels is bytes: ranks may describe the same values by different types.
#include "mpi/flavour/flavour.hpp"
#include "prepare/prepared_call.hpp"

namespace stretto::mpi {

/// `side` 0: the input, 1: the output.
void PreparedCall::emplace(std::optional<CallBuffer>& buffer, int side) {
  const bool has_parts = side == 0 ? collective().parts_in : collective().parts_out;
  const int described = side == 0 && collective().pairwise && in_place() ? 1 : side;
  buffer.emplace(arguments_, described, has_parts ? parts()[static_cast<std::size_t>(side)] : 1, memory_);
}

bool PreparedCall::check_neighbours() {
  call_.shape.graph = c_.graph();
  if (!call_.shape.graph || in_place()) return leave(Passed::arguments);
  const Neighbours& near = call_.shape.graph->of(c_.rank());
  emplace(in_, 0);
  emplace(out_, 1);
  if (collective().parts_in) in_->leave_out(near.destinations);
  out_->leave_out(near.sources);
  if (!check_buffers()) return false;
  if (bytes_known()) call_.bytes = static_cast<Bytes>(bytes_of_part() * call_.shape.graph->mean_degree());
  return true;
}

bool PreparedCall::check_moves() {
  const bool parts_in = collective().parts_in, parts_out = collective().parts_out, pairwise = collective().pairwise;
  // In place one buffer has both sides. An alltoall copies it: there the two have different blocks in one slot.
  if (parts_in ? pairwise || is_root() : parts_out && !in_place()) emplace(in_, 0);
  if (parts_in && !pairwise ? !in_place() : !parts_out || is_root()) emplace(out_, 1);
  if (!check_buffers()) return false;
  if (!facts(function()).bytes_known) return true;
  const CallBuffer& known = *sized_by();
  call_.bytes = collective().per_rank && known.alike() ? known.bytes() * c_.ranks() : known.sum();
  return true;
}

/// The side that tells how large the parts are: what the other ranks go by. Null: each side has sizes of its own.
const CallBuffer* PreparedCall::sized_by() const {
  const bool irregular = facts(function()).irregular;
  if (collective().neighbourhood || (collective().pairwise && irregular)) return nullptr;
  if (in_ && collective().rooted && (collective().parts_in || !irregular)) return &*in_;
  return out_ ? &*out_ : &*in_;
}

/// Notes an error of the buffers that only this rank sees. False: they cannot be served, or this rank lacks what it
/// would send. So may all ranks of a bcast, and then none waits for the others.
bool PreparedCall::check_buffers() {
  for (const auto* side : {&in_, &out_})
    if (*side && (*side)->unusable()) return leave(*(*side)->unusable());
  const auto missing = [](const std::optional<CallBuffer>& side) {
    return flavour::traits.reports_null && side && side->is_null();
  };
  const bool out_is_sent = in_place() || !collective().per_rank;
  if (missing(in_) || (missing(out_) && out_is_sent)) return leave(Passed::arguments);
  if (missing(out_))
    buffer_error_ = MPI_ERR_BUFFER;
  else if (!collective().neighbourhood && same_memory())
    buffer_error_ = flavour::alias_error(function(), several);
  return true;
}

/// Is a part sent from where it is received, and does the MPI forbid that?
bool PreparedCall::same_memory() {
  if (in_place() || !in_ || !out_) return false;
  const auto forbidden = [this](Bytes bytes, const CallBuffer& side, Rank r) {
    return bytes > 0 && flavour::alias_error(function(), bytes) != MPI_SUCCESS && side.type(r) == in_->type(r);
  };
  if (!sized_by()) {
    if (arguments_.input) arguments_.alias = 0;  // with equal buffers it is looked at each time
    const PartsArguments &from = *arguments_.parts[0], &to = *arguments_.parts[1];
    return arguments_.aliased() && from.counts.same_array(to.counts) && from.types == to.types &&
           forbidden(in_->sum(), *out_, 0);
  }
  const Rank me = c_.rank();
  if (in_->bytes(me) != out_->bytes(me) || !forbidden(in_->bytes(me), *out_, me)) return false;
  arguments_.alias = collective().pairwise   ? 0
                     : collective().parts_in ? -in_->displacement(me)
                                             : out_->displacement(me);
  return arguments_.aliased();
}

/// Where the two sides do not match on this rank, it does what the others wait for; finds out here what it lacks room
/// for.
void PreparedCall::conform(CallBuffer& side, bool output) {
  const Bytes expected = sized_by()->bytes(c_.rank()), given = side.bytes(c_.rank());
  if (given == expected) return;
  truncated_ |= output ? given < expected : given > expected;
  side.copy(expected);
}

execute::Region PreparedCall::region(const std::optional<CallBuffer>& side, bool has_parts, Count segment) const {
  if (side && (has_parts || collective().neighbourhood)) return side->region(segment, schedule_->parts);
  const std::optional<CallBuffer>& all = has_parts ? side : collective().parts_in ? in_ : out_;
  if (!side && (!in_place() || !all)) return {};
  // Of one part: my own or, in place, that in the other side.
  const Rank me = c_.rank();
  const Bytes bytes = sized_by()->bytes(me);
  return {side ? side->at() : all->at(me), execute::Layout::per_rank(bytes, segment).cut_into(schedule_->parts),
          me * bytes};
}

/// Packed copies, where elements cannot be moved from where they are.
void PreparedCall::pack_moves() {
  const bool copies_input = in_place() && collective().pairwise;
  if (buffer_error_ != MPI_SUCCESS) out_->copy();
  for (auto* side : {&in_, &out_}) {
    if (!*side) continue;
    if (sized_by()) conform(**side, side == &out_);
    if (!(*side)->copied() && (!(*side)->dense() || (side == &in_ && copies_input))) (*side)->copy();
  }
  pack_input();
}

void PreparedCall::pack_input() {
  if (in_)
    in_->pack();
  else if (!collective().per_rank && is_root())
    out_->pack();
  else if (in_place())
    out_->pack(c_.rank());
}

void PreparedCall::bind_moves() {
  using execute::Layout;
  pack_moves();
  work_.in_place = in_place();
  if (!collective().per_rank) {
    work_.sizes = Layout::whole(out_->bytes(), schedule_->blocks, segment_elements(1));
    work_.output = {out_->at(), work_.sizes};
  } else {
    const Count segment = segment_elements(1);
    work_.input = region(in_, collective().parts_in, segment);
    work_.output = region(out_, collective().parts_out, segment);
    if (!bytes_known()) {
      if (stage_ == Stage::sizes) {  // of what an algorithm keeps in scratch
        work_.sizes = Layout::irregular(told_, told_, segment);
        work_.sizes_by_slot = !decision_->algorithm->needs.counts;
      }
    } else if (collective().neighbourhood) {
      work_.sizes = Layout::per_rank(bytes_of_part(), segment);
    } else if (sized_by()->alike()) {
      work_.sizes = Layout::per_rank(sized_by()->bytes(), segment).cut_into(schedule_->parts);
    } else {
      work_.sizes = work_.output.layout;
    }
  }
  // Of calls that told sizes, the same arguments of this rank may be another call next time.
  keep_ = stage_ <= Stage::size_hint && (!in_ || !in_->copied()) && (!out_ || !out_->copied());
  arguments_.own_types = (in_ && !in_->predefined()) || (out_ && !out_->predefined());
  if (!is_root()) arguments_.parts = {};  // they mean nothing here
}

}  // namespace stretto::mpi
