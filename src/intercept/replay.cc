// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/replay.hpp"

#include "intercept/communicator.hpp"
#include "intercept/serve/serve.hpp"

namespace stretto::intercept {
namespace {

std::optional<Bytes> from(const void* begin, const void* at) {
  if (!at) return std::nullopt;
  return static_cast<const char*>(at) - static_cast<const char*>(begin);
}

}  // namespace

void Replays::clear() {
  for (auto& replay : replays_) {
    if (replay) count(*replay);
    replay.reset();
  }
}

void Replays::count(Replay& replay) {
  replay.served->fetch_add(replay.calls, std::memory_order_relaxed);
  replay.sampled.finish(replay.calls);
  replay.calls = 0;
}

bool Replays::compare_numbers(const Replay& replay, const Origin& origin) {
  for (std::size_t i = 0; i < replay.numbers.size(); ++i) {
    const std::vector<Count>& known = replay.numbers[i];
    if (known.empty()) continue;
    const DescribedParts& given = *origin.parts[i];
    if (!given.counts.given() || !given.displacements.given()) return false;
    const std::size_t ranks = known.size() / 2;
    for (std::size_t r = 0; r < ranks; ++r)
      if (given.counts[static_cast<Rank>(r)] != known[r] ||
          given.displacements[static_cast<Rank>(r)] != known[ranks + r])
        return false;
  }
  return true;
}

void Replays::keep(const Origin& origin, Rank ranks, const Decision& decision, std::shared_ptr<const Schedule> schedule,
                   const execute::Work& work, const observe::Sampled& sampled) {
  auto& replay = replays_[slot(origin.signature)];
  if (replay)
    count(*replay);
  else
    replay = std::make_unique<Replay>(Replay{.signature = origin.signature, .work = work});
  replay->signature = origin.signature;
  replay->schedule = std::move(schedule);
  replay->work = work;
  replay->work.schedule = replay->schedule.get();
  replay->program.resolve(work, 0);
  replay->program.find_brief(work);
  // The program says where everything is; layouts may refer to memory of this call.
  for (execute::Layout* layout : {&replay->work.input.layout, &replay->work.output.layout, &replay->work.sizes})
    *layout = execute::Layout::whole(0, 1, 0);
  replay->algorithm = decision.algorithm;
  replay->input = from(origin.input, work.input.at);
  replay->output = from(origin.output, work.output.at);
  replay->served = decision.served;
  replay->sampled = sampled;
  for (std::size_t i = 0; i < origin.parts.size(); ++i) {
    auto& numbers = replay->numbers[i];
    numbers.clear();
    if (!origin.parts[i]) continue;
    for (Rank r = 0; r < ranks; ++r) numbers.push_back(origin.parts[i]->counts[r]);
    for (Rank r = 0; r < ranks; ++r) numbers.push_back(origin.parts[i]->displacements[r]);
  }
}

}  // namespace stretto::intercept
