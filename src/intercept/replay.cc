// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/replay.hpp"

#include "intercept/communicator.hpp"

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

void Replays::keep(const Origin& origin, const Decision& decision, std::shared_ptr<const Schedule> schedule,
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
  replay->algorithm = decision.algorithm;
  replay->input = from(origin.input, work.input.at);
  replay->output = from(origin.output, work.output.at);
  replay->served = decision.served;
  replay->sampled = sampled;
}

}  // namespace stretto::intercept
