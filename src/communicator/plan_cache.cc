// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/plan_cache.hpp"

#include "communicator/communicator.hpp"

namespace stretto::mpi {
namespace {

std::optional<Bytes> from(const void* begin, const void* at) {
  if (!at) return std::nullopt;
  return static_cast<const char*>(at) - static_cast<const char*>(begin);
}

/// The program's own operator is called with handles: those of the call will be gone.
void keep_handles(PlanCache::Cached& cached) {
  if (!cached.own_operator) return;
  if (cached.own_types) cached.work.element.type = &cached.signature.types[0];
  cached.work.combiner.context = &cached.signature.op;
  cached.work.combiner.element = &cached.work.element;
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
  if (!types_.empty() && !given.types) return false;  // for the native library to complain about
  for (std::size_t r = 0; r < types_.size(); ++r)
    if (given.types[r] != types_[r]) return false;
  return true;
}

bool PlanCache::Cached::serves(CountedAs form) {
  // The program's own handles may mean something else by now. An operator is given to the MPI, which knows what it
  // means; a nonblocking call would have to hold it.
  if (outdated()) return false;
  if (own_operator && (form != CountedAs::blocking || is_commutative(signature.op) != commutative)) return false;
  if (const std::uint32_t* const left = quiet[static_cast<std::size_t>(form)]; left && *left <= 1) return false;
  if (!size_hint) return true;
  if (size_hint->due()) return false;
  size_hint->note(bytes);
  return true;
}

void PlanCache::drop(std::shared_ptr<Cached>& cached) {
  count(*cached);
  cached.reset();
}

void PlanCache::clear() {
  for (auto& cached : cached_)
    if (cached) drop(cached);
}

void PlanCache::forget(const SizeHint* hint) {
  for (auto& cached : cached_)
    if (cached && cached->size_hint == hint) drop(cached);
}

void PlanCache::count(Cached& cached) {
  cached.served->fetch_add(cached.calls, std::memory_order_relaxed);
  cached.sampled.finish(cached.calls);
  cached.calls = 0;
}

std::shared_ptr<PlanCache::Cached>* PlanCache::place_of(const Signature& signature) {
  constexpr unsigned gives_way_every = 4;  // of more calls in turn than there are places, some stay
  const std::size_t at = slot(signature);
  for (const std::size_t place : {at, at ^ 1})
    if (cached_[place] && cached_[place]->signature == signature) return &cached_[place];
  for (const std::size_t place : {at, at ^ 1})
    if (!cached_[place] || cached_[place]->outdated()) return &cached_[place];
  const unsigned crowded = ++crowded_[at / 2];
  if (crowded % gives_way_every != 0) return nullptr;
  return &cached_[at ^ (crowded / gives_way_every % 2)];
}

std::shared_ptr<PlanCache::Cached>* PlanCache::place_for(const Arguments& arguments, std::array<Rank, 2> parts) {
  constexpr Rank most_parts = 64;  // they are compared with every call
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (arguments.parts[i] && parts[i] > most_parts) return nullptr;
  auto* const place = place_of(arguments.signature);
  if (!place) return nullptr;
  const auto& cached = *place;
  constexpr unsigned try_every = 8;  // parts that change with every call are not worth it
  if (cached && cached->signature == arguments.signature && cached->calls == 0 && ++cached->others < try_every)
    return nullptr;
  return place;
}

std::shared_ptr<PlanCache::Cached> PlanCache::keep(std::shared_ptr<Cached>& place, const Arguments& arguments,
                                                   std::array<Rank, 2> parts, const Decision& decision,
                                                   std::shared_ptr<const Schedule> schedule, const execute::Work& work,
                                                   const observe::Sampled& sampled) {
  if (place) count(*place);
  if (!place || place.use_count() > 1)  // a nonblocking call under way goes by the one that was there
    place = std::make_shared<Cached>(Cached{.signature = arguments.signature, .work = work});
  Cached& cached = *place;
  cached.signature = arguments.signature;
  cached.schedule = std::move(schedule);
  cached.work = work;
  cached.work.schedule = cached.schedule.get();
  cached.plan.resolve(work, 0);
  cached.plan.find_fast_path(work);
  // The plan says where everything is; layouts may refer to memory of this call.
  for (execute::Layout* layout : {&cached.work.input.layout, &cached.work.output.layout, &cached.work.sizes})
    *layout = execute::Layout::whole(0, 1, 0);
  cached.algorithm = decision.algorithm;
  cached.own_types = arguments.own_types;
  cached.own_operator = arguments.own_operator;
  cached.freed_types = freed_types();
  cached.commutative = !arguments.own_operator || is_commutative(arguments.signature.op);
  keep_handles(cached);
  cached.input = from(arguments.input, work.input.at);
  cached.output = from(arguments.output, work.output.at);
  cached.served = decision.served;
  cached.quiet = decision.quiet;
  cached.sampled = sampled;
  cached.others = 0;
  cached.size_hint = arguments.size_hint;
  cached.bytes = arguments.bytes;
  cached.alias = arguments.alias;
  cached.has_parts = false;
  for (std::size_t i = 0; i < arguments.parts.size(); ++i) {
    cached.parts[i].clear();
    if (!arguments.parts[i]) continue;
    cached.parts[i].keep(*arguments.parts[i], parts[i]);
    cached.has_parts = true;
  }
  cached.is_plain = !arguments.own_types && !arguments.own_operator && !arguments.size_hint && !sampled &&
                    !decision.quiet[0] && !decision.quiet[1];
  return place;
}

void PlanCache::keep_native(const Arguments& arguments, const Decision& decision, Counter& passed) {
  auto* const place = place_of(arguments.signature);
  if (!place) return;
  if (*place) count(**place);
  *place = std::make_shared<Cached>(
      Cached{.signature = arguments.signature, .work = {}, .served = &passed, .quiet = decision.quiet});
}

}  // namespace stretto::mpi
