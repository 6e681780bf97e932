// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/replay.hpp"

#include "communicator/communicator.hpp"

namespace stretto::intercept {
namespace {

std::optional<Bytes> from(const void* begin, const void* at) {
  if (!at) return std::nullopt;
  return static_cast<const char*>(at) - static_cast<const char*>(begin);
}

bool same_numbers(const std::vector<Count>& known, const Numbers& given) {
  if (!given.given()) return known.empty();
  for (std::size_t r = 0; r < known.size(); ++r)
    if (given[static_cast<Rank>(r)] != known[r]) return false;
  return true;
}

}  // namespace

void KeptParts::keep(const PartsArguments& parts, Rank ranks) {
  clear();
  displacements_.clear();
  types_.clear();
  for (Rank r = 0; r < ranks; ++r) {
    counts_.push_back(parts.counts[r]);
    if (parts.displacements.given()) displacements_.push_back(parts.displacements[r]);
    if (parts.types) types_.push_back(parts.types[r]);
  }
}

bool KeptParts::compare(const PartsArguments& given) const {
  if (!same_numbers(counts_, given.counts) || !same_numbers(displacements_, given.displacements)) return false;
  for (std::size_t r = 0; r < types_.size(); ++r)
    if (given.types[r] != types_[r]) return false;
  return true;
}

void Replays::clear() {
  for (auto& replay : replays_) {
    if (replay) count(*replay);
    replay.reset();
  }
}

void Replays::forget(const SizeAgreement* sizes) {
  for (auto& replay : replays_) {
    if (!replay || replay->size_hint != sizes) continue;
    count(*replay);
    replay.reset();
  }
}

void Replays::count(Replay& replay) {
  replay.served->fetch_add(replay.calls, std::memory_order_relaxed);
  replay.sampled.finish(replay.calls);
  replay.calls = 0;
}

std::unique_ptr<Replays::Replay>& Replays::place_for(const Signature& signature) {
  const std::size_t at = slot(signature);
  for (const std::size_t place : {at, at ^ 1})
    if (replays_[place] && replays_[place]->signature == signature) return replays_[place];
  for (const std::size_t place : {at, at ^ 1})
    if (!replays_[place]) return replays_[place];
  turn_ ^= 1;
  return replays_[at ^ turn_];
}

const execute::Plan* Replays::keep(const Arguments& arguments, Rank ranks, const Decision& decision,
                                   std::shared_ptr<const Schedule> schedule, const execute::Work& work,
                                   const observe::Sampled& sampled) {
  constexpr Rank most_parts = 64;  // they are compared with every call
  if (ranks > most_parts && (arguments.parts[0] || arguments.parts[1])) return nullptr;
  auto& replay = place_for(arguments.signature);
  constexpr unsigned try_every = 8;  // parts that change with every call are not worth it
  if (replay && replay->signature == arguments.signature && replay->calls == 0 && ++replay->others < try_every)
    return nullptr;
  if (replay)
    count(*replay);
  else
    replay = std::make_unique<Replay>(Replay{.signature = arguments.signature, .work = work});
  replay->signature = arguments.signature;
  replay->schedule = std::move(schedule);
  replay->work = work;
  replay->work.schedule = replay->schedule.get();
  replay->program.resolve(work, 0);
  replay->program.find_fast_path(work);
  // The program says where everything is; layouts may refer to memory of this call.
  for (execute::Layout* layout : {&replay->work.input.layout, &replay->work.output.layout, &replay->work.sizes})
    *layout = execute::Layout::whole(0, 1, 0);
  replay->algorithm = decision.algorithm;
  replay->input = from(arguments.input, work.input.at);
  replay->output = from(arguments.output, work.output.at);
  replay->served = decision.served;
  replay->sampled = sampled;
  replay->others = 0;
  replay->size_hint = arguments.size_hint;
  replay->bytes = arguments.bytes;
  replay->alias = arguments.alias;
  for (std::size_t i = 0; i < arguments.parts.size(); ++i) {
    replay->parts[i].clear();
    if (arguments.parts[i]) replay->parts[i].keep(*arguments.parts[i], ranks);
  }
  return &replay->program;
}

}  // namespace stretto::intercept
