// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/sizes.hpp"

#include <algorithm>
#include <cassert>

#include "collectives/sizes.hpp"

namespace stretto::intercept {
namespace {

constexpr execute::Element one_count{.size = sizeof(Count), .extent = sizeof(Count), .span = sizeof(Count)};

using Combine = void(const execute::Combiner&, const void* left, const void* right, void* target, Count n);

void take_larger(const execute::Combiner&, const void* left, const void* right, void* target, Count n) {
  for (Count i = 0; i < n; ++i)
    static_cast<Count*>(target)[i] = std::max(static_cast<const Count*>(left)[i], static_cast<const Count*>(right)[i]);
}

void add(const execute::Combiner&, const void* left, const void* right, void* target, Count n) {
  for (Count i = 0; i < n; ++i)
    static_cast<Count*>(target)[i] = static_cast<const Count*>(left)[i] + static_cast<const Count*>(right)[i];
}

int combine_all(Communicator& c, Function function, Combine combine, Bytes& size) {
  static const Algorithm& algorithm = *find_algorithm(combines_sizes);
  const auto schedule = c.schedule(algorithm, {c.ranks(), 0}, {});
  const auto one = execute::Layout::whole(1, schedule->blocks, 0);
  Bytes combined = 0;
  const int code = prepare(c, *schedule, function,
                           {.input = {&size, one},
                            .output = {&combined, one},
                            .sizes = one,
                            .element = one_count,
                            .combiner = {.combine = combine}});
  size = combined;
  return code;
}

}  // namespace

ScratchSizes tell_sizes_along(Communicator& c, const Schedule& schedule, Function function, std::span<const Count> mine,
                              Block first) {
  assert(schedule.parts.first.empty());
  const auto one_each = execute::Layout::per_rank(1, 0);
  Count* arriving = stage_numbers(schedule.blocks);
  ScratchSizes told;
  told.code = prepare(c, schedule, function,
                      {.input = {const_cast<Count*>(mine.data()), one_each, first},
                       .output = {arriving, one_each},
                       .sizes = one_each,
                       .element = one_count});
  if (told.code != MPI_SUCCESS || schedule.scratch.empty()) return told;
  Count* kept = stage_numbers(static_cast<Count>(schedule.scratch.size()));
  std::memcpy(kept, prepared_scratch(), schedule.scratch.size() * sizeof(Count));
  told.bytes = {kept, schedule.scratch.size()};
  return told;
}

AllSizes gather_sizes(Communicator& c, Function function, Bytes mine) {
  static const Algorithm& algorithm = *find_algorithm(gathers_all_sizes);
  const auto schedule = c.schedule(algorithm, {c.ranks(), 0}, {});
  const auto one_each = execute::Layout::per_rank(1, 0);
  Count* all = stage_numbers(c.ranks());
  const int code = prepare(
      c, *schedule, function,
      {.input = {&mine, one_each, c.rank()}, .output = {all, one_each}, .sizes = one_each, .element = one_count});
  return {code, {all, static_cast<std::size_t>(c.ranks())}};
}

int add_recent_bytes(Communicator& c, Call& call, Bytes mine, Origin* origin) {
  RecentSizes* sizes = c.recent_sizes(call);
  if (!sizes) return MPI_SUCCESS;
  const bool due = sizes->due();
  sizes->note(mine);
  if (due) {
    Bytes bytes = sizes->largest();
    if (const int code = combine_all(c, call.function, add, bytes); code != MPI_SUCCESS) return code;
    if (facts(facts(call.function).collective).pairwise) bytes /= c.ranks();  // what one rank sends
    if (bytes != sizes->agreed()) c.replays.forget(sizes);
    sizes->agree(bytes);
  }
  call.bytes = sizes->agreed();
  if (!origin) return MPI_SUCCESS;
  origin->recent = sizes;
  origin->bytes = mine;
  return MPI_SUCCESS;
}

int largest_of_all(Communicator& c, Function function, Bytes& size) {
  return combine_all(c, function, take_larger, size);
}

}  // namespace stretto::intercept
