// SPDX-License-Identifier: BSD-3-Clause
//
// Calls that combine elements: typed ones, where the program has them.
#include "mpi/flavour/flavour.hpp"
#include "prepare/prepared_call.hpp"

namespace stretto::mpi {

using execute::Layout;

bool PreparedCall::check_reductions() {
  const Signature& s = arguments_.signature;
  const bool has_output = is_root();
  if (s.counts[0] < 0 || (has_output && arguments_.output == MPI_IN_PLACE) || !count_parts())
    return leave(Passed::arguments);
  const Count elements = counts_.empty() ? s.counts[0] : elements_;  // that the MPI goes by
  if (has_output && !in_place() && flavour::alias_error(function(), elements) != MPI_SUCCESS) arguments_.alias = 0;
  if (s.types[0] == constants().type_null || s.op == constants().op_null) return leave(Passed::arguments);
  type_ = &facts_of(s.types[0], Use::combine, storage_);
  if (!type_->usable) return leave(Passed::datatype);
  if (!check_operands()) return leave(Passed::arguments);
  op_ = facts_of(s.op, *type_);
  if (!op_.usable) return leave(Passed::op);
  call_.bytes = elements_ * type_->element.size;
  call_.commutative = op_.commutative;
  call_.predefined = op_.predefined;
  return true;
}

/// As check_buffers().
bool PreparedCall::check_operands() {
  if (is_root() && arguments_.aliased()) buffer_error_ = flavour::alias_error(function(), several);
  if (!flavour::traits.reports_null || type_->element.lower != 0) return true;
  // The first rank of an exscan gets nothing.
  const bool writes = is_root() && (facts(function()).collective != Collective::exscan || c_.rank() > 0) &&
                      part_elements(c_.rank()) > 0;
  if (writes && !arguments_.output) buffer_error_ = MPI_ERR_BUFFER;
  return elements_ == 0 || arguments_.input;
}

/// False: a part has a negative count.
bool PreparedCall::count_parts() {
  const Count each = arguments_.signature.counts[0];
  elements_ = collective().per_rank ? each * c_.ranks() : each;
  if (!facts(function()).irregular) return true;
  const PartsArguments& parts = *arguments_.parts[0];
  if (!parts.counts.given()) return false;
  counts_ = numbers(memory_, c_.ranks());
  firsts_ = numbers(memory_, c_.ranks());
  elements_ = 0;
  for (Rank r = 0; r < c_.ranks(); ++r) {
    const auto i = static_cast<std::size_t>(r);
    counts_[i] = parts.counts[r];
    if (counts_[i] < 0) return false;
    firsts_[i] = elements_;
    elements_ += counts_[i];
  }
  return true;
}

void PreparedCall::bind_reductions() {
  void* input = const_cast<void*>(arguments_.input);
  void* output = is_root() ? arguments_.output : nullptr;
  work_.element = type_->element;
  work_.combiner = op_.combiner;
  const Count segment = segment_elements(type_->element.size);
  keep_ = type_->element.dense;
  arguments_.own_types = type_ == &storage_;
  arguments_.own_operator = !op_.predefined;
  const Count mine = collective().per_rank ? part_elements(c_.rank()) : elements_;
  // In place the result of a reduce-scatter belongs to the front of the vector, and the rest of it, my part too, stays
  // as it was.
  if (mine > 0 && (buffer_error_ != MPI_SUCCESS || (in_place() && collective().per_rank))) {
    apart_ = output = memory_.take(footprint(type_->element, mine)) - type_->element.lower;
    keep_ = false;
  }
  if (!collective().per_rank) {
    work_.sizes = Layout::whole(elements_, schedule_->blocks, segment);
    work_.input = {input, work_.sizes};
    work_.output = {output, work_.sizes};
    return;
  }
  const Count each = arguments_.signature.counts[0];
  const Layout parts = counts_.empty() ? Layout::per_rank(each, segment) : Layout::irregular(counts_, firsts_, segment);
  work_.sizes = parts.cut_into(schedule_->parts);
  work_.input = {input, work_.sizes};
  work_.output = {output, work_.sizes, parts.first(c_.rank())};
}

}  // namespace stretto::mpi
