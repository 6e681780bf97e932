// SPDX-License-Identifier: BSD-3-Clause
//
// What ranks tell each other before a call: of its sizes, where not all of them know them, and of the times of others.
#include <algorithm>

#include "prepare/prepared_call.hpp"

namespace stretto::mpi {
namespace {

constexpr Bytes most_padding = 4;  // times the bytes that an algorithm was chosen for

constexpr execute::Element one_count{.size = sizeof(Count), .extent = sizeof(Count), .span = sizeof(Count)};

template <auto join>
void each(const execute::Combiner&, const void* left, const void* right, void* target, Count n) {
  const auto* const first = static_cast<const Count*>(left);
  std::transform(first, first + n, static_cast<const Count*>(right), static_cast<Count*>(target), join);
}

constexpr auto larger = each<[](Count a, Count b) { return std::max(a, b); }>;
constexpr auto smaller = each<[](Count a, Count b) { return std::min(a, b); }>;
constexpr auto sum = each<[](Count a, Count b) { return a + b; }>;

}  // namespace

execute::Work PreparedCall::combining(const Schedule& schedule, Combine combine, std::span<const Count> mine,
                                      Count* combined) {
  const auto layout = execute::Layout::whole(std::ssize(mine), schedule.blocks, 0);
  return {.schedule = &schedule,
          .element = one_count,
          .combiner = {.combine = combine},
          .input = {const_cast<Count*>(mine.data()), layout},
          .output = {combined, layout},
          .sizes = layout};
}

execute::Work PreparedCall::smallest(const Schedule& schedule, std::span<const Count> mine, Count* least) {
  return combining(schedule, smaller, mine, least);
}

void PreparedCall::combine_numbers(Combine combine, std::span<const Count> mine, Count* combined) {
  static const Algorithm& algorithm = *find_algorithm(combines_sizes);
  schedule_ = c_.schedule(algorithm, {c_.ranks(), 0}, {});
  work_ = combining(*schedule_, combine, mine, combined);
}

void PreparedCall::combine_number(Combine combine, Bytes mine) {
  number_ = mine;
  combine_numbers(combine, {&number_, 1}, &combined_);
}

/// What a rank knows of the call: the whole vector on the root only or, in an alltoall or neighbourhood, what each
/// sends.
Bytes PreparedCall::known_bytes() const {
  const auto& side = collective().parts_in ? in_ : out_;
  if (collective().neighbourhood && !collective().parts_in) return in_->bytes() * parts()[0];
  return side ? side->sum() : 0;
}

bool PreparedCall::tells_size_hint() {
  if (bytes_known()) return false;
  SizeHint* hint = c_.size_hint(call_);
  if (!hint) return false;
  const bool due = hint->due();
  hint->note(known_bytes());
  if (due) combine_number(sum, hint->largest());
  return due;
}

void PreparedCall::take_size_hint() {
  if (bytes_known()) return;
  SizeHint* hint = c_.size_hint(call_);
  if (!hint) return;
  if (stage_ == Stage::size_hint) {
    const bool sent = collective().pairwise || collective().neighbourhood;
    const Bytes bytes = sent ? combined_ / c_.ranks() : combined_;  // what one rank sends
    if (bytes != hint->agreed()) {
      c_.plans.forget(hint);
      if (c_.learner) c_.learner->forget_plans();
    }
    hint->agree(bytes);
  }
  call_.bytes = hint->agreed();
  arguments_.size_hint = hint;
  arguments_.bytes = known_bytes();
}

bool PreparedCall::tells_times() {
  if (!c_.learner || counted_as_ != CountedAs::nonblocking) [[likely]]
    return false;
  const std::vector<learn::Moment> mine = c_.learner->tells(call_);
  if (mine.empty()) return false;
  const auto n = std::ssize(mine);
  times_ = numbers(memory_, 2 * n);
  std::ranges::copy(mine, times_.begin());
  combine_numbers(smaller, times_.first(mine.size()), times_.data() + n);
  telling_since_ = execute::now();
  return true;
}

bool PreparedCall::tells_largest() {
  if (!decision_->algorithm->padded || !facts(function()).irregular) return false;
  combine_number(larger, std::max(in_->largest(), out_->largest()));
  return true;
}

bool PreparedCall::take_largest() {
  if (stage_ != Stage::largest) return true;
  // The size hint was smaller, or one block is by far the largest: as much memory as for a call of such blocks.
  if (combined_ <= most_padding * call_.bytes / c_.ranks()) return true;
  call_.bytes = combined_ * c_.ranks();
  if (counted_as_ == CountedAs::nonblocking)
    counted_as_ = CountedAs::none;  // it has been counted, and its time is no one's
  turn_ = {};
  return choose();
}

bool PreparedCall::tells_sizes() {
  if (bytes_known() || padded()) return false;
  const auto one_each = execute::Layout::per_rank(1, 0);
  const bool near = collective().neighbourhood;
  number_ = sized_by() ? sized_by()->bytes(c_.rank()) : near ? in_->bytes() : 0;
  if (decision_->algorithm->needs.counts) {
    static const Algorithm& algorithm = *find_algorithm(gathers_all_sizes);
    schedule_ = c_.schedule(algorithm, {c_.ranks(), 0}, {});
    told_ = numbers(memory_, c_.ranks());
    work_ = {.input = {&number_, one_each, c_.rank()}, .output = {told_.data(), one_each}};
  } else if (decision_->algorithm->forwards) {
    // The call's own schedule, on the sizes of its blocks: every size arrives where its block will.
    schedule_ = decision_->schedule;
    const bool own = !collective().parts_in;
    const std::span<const Count> mine = own   ? std::span<const Count>(&number_, 1)
                                        : in_ ? in_->all_bytes()
                                              : std::span<const Count>();
    const Rank first = own && !near ? c_.rank() : 0;  // slot of the input
    Count* arriving = numbers(memory_, schedule_->blocks).data();
    work_ = {.input = {const_cast<Count*>(mine.data()), one_each, first}, .output = {arriving, one_each}};
  } else {
    return false;
  }
  work_.element = one_count;
  work_.sizes = one_each;
  return true;
}

void PreparedCall::take_sizes(const std::byte* scratch) {
  if (stage_ != Stage::sizes || decision_->algorithm->needs.counts) return;
  told_ = numbers(memory_, static_cast<Count>(schedule_->scratch.size()));
  std::ranges::fill(told_, 0);  // of slots that nothing is put into
  for (const Action& a : schedule_->actions)
    for (const Range& r : schedule_->at(a.target))
      if (r.buffer == Buffer::scratch)
        std::memcpy(told_.data() + r.first, scratch + r.first * Bytes{sizeof(Count)},
                    static_cast<std::size_t>(r.count) * sizeof(Count));
}

/// Every block travels as large as the largest of all.
void PreparedCall::bind_padded() {
  in_->copy(combined_);
  out_->copy(combined_);
  in_->pack();
  const Count segment = segment_elements(1);
  work_.input = in_->region(segment, {});
  work_.output = out_->region(segment, {});
  work_.sizes = execute::Layout::per_rank(combined_, segment);
}

}  // namespace stretto::mpi
