// SPDX-License-Identifier: BSD-3-Clause
#include "draws.hpp"

#include <algorithm>
#include <cstdio>

namespace stretto::differential {
namespace {

bool native_can([[maybe_unused]] const Plan& plan, [[maybe_unused]] Kind kind) {
#ifdef STRETTO_OPENMPI
  // Open MPI 5.0.11 counts such a call only on ranks that move anything: later requests of the communicator do not
  // meet.
  const bool in_place_of_any_size = plan.form->pairwise() && plan.form->irregular() && plan.in_place;
  return kind == Kind::blocking || !in_place_of_any_size;
#else
  return true;
#endif
}

/// What is sent one way on a grid whose dimension is a ring of one or two ranks arrives from the other: so not where
/// Intel MPI 2021.18 does an alltoall, nor where Open MPI 5.0.11 does one that is not blocking.
bool mixes_up_ways(const Plan& plan, [[maybe_unused]] const Options& options) {
  if (!plan.form->neighbourhood() || !plan.form->pairwise() || !plan.member.graph->is_grid()) return false;
#ifdef STRETTO_OPENMPI
  return plan.kind != Kind::blocking;
#else
  return options.distrust;
#endif
}

}  // namespace

/// A library makes communicators of its own, so that it has many calls in a row; but all get their turn twice.
std::int64_t Draws::in_a_row() const {
  const auto turns = 2 * static_cast<std::int64_t>(libraries_.size());
  return std::clamp<std::int64_t>(options_.calls / turns, 1, 64);
}

const Library& Draws::library(std::int64_t number) const {
  return libraries_[static_cast<std::size_t>(number / in_a_row()) % libraries_.size()];
}

Random Draws::common(std::int64_t number) const {
  return Random(mix(mix(options_.seed) + static_cast<std::uint64_t>(number)));
}

Drawn Draws::batch(std::int64_t first, Communicators& communicators) const {
  Random shape = common(first);
  const bool alone = shape.percent(85);
  const std::int64_t size = alone ? 1 : shape.between(2, 16);
  const std::int64_t end = std::min({first + size, options_.calls, (first / in_a_row() + 1) * in_a_row()});
  Drawn drawn;
  for (drawn.end = first; drawn.end < end; ++drawn.end) {
    Random random(mix(options_.seed) + static_cast<std::uint64_t>(drawn.end));
    const bool exchanges = random.percent(3);
    if (exchanges && drawn.end > first) break;
    if (exchanges) communicators.exchange_one(random);
    const Form& form = form_of(random.pick(options_.functions));
    const Member& member = form.neighbourhood() ? communicators.pick_with_topology(random) : communicators.pick(random);
    if (member.comm == mpi::constants().comm_null) continue;
    Plan plan = planner_.plan(drawn.end, form, member, random);
    if (!draw_kind(plan, alone)) continue;
    if (options_.verbose)
      std::fprintf(stderr, "rank %d of the world, %d here: %s\n", communicators.world().rank, member.rank,
                   plan.text().c_str());
    drawn.plans.push_back(std::move(plan));
  }
  return drawn;
}

/// False where the library lacks the function in all kinds. Its draws are not those of the plan, so that the same calls
/// are made whatever kinds there are.
bool Draws::draw_kind(Plan& plan, bool alone) const {
  Random random(common(plan.number).next());
  std::vector<Kind> kinds;
  for (const Kind kind : options_.kinds)
    if (library(plan.number).has(plan.form->function, kind) && native_can(plan, kind)) kinds.push_back(kind);
  if (kinds.empty()) return false;
  plan.kind = random.pick(kinds);
  const bool mostly_blocking = std::ranges::find(kinds, Kind::blocking) != kinds.end();
  if (alone && mostly_blocking && random.percent(80)) plan.kind = Kind::blocking;
  if (mixes_up_ways(plan, options_)) plan.native_trusted = false;
  // Also as it is kept from the first time.
  plan.starts = plan.number % 3 == 0 ? 2 : 1;
  if (plan.kind == Kind::persistent) plan.starts = random.percent(5) ? 0 : random.between(1, 3);
  return true;
}

}  // namespace stretto::differential
