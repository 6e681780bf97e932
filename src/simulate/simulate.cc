// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/simulate.hpp"

#include <algorithm>

#include "simulate/run.hpp"
#include "stretto/error.hpp"

namespace stretto {
namespace simulation {
namespace {

struct Message {
  Rank peer;
  double blocks;
};

/// An event that begins within another ends with it.
void nest(std::vector<TraceEvent>& events, std::size_t first) {
  const auto begin = events.begin() + static_cast<std::ptrdiff_t>(first);
  std::stable_sort(begin, events.end(), [](const TraceEvent& a, const TraceEvent& b) {
    return a.start != b.start ? a.start < b.start : a.seconds > b.seconds;
  });
  std::vector<double> ends;
  for (auto e = begin; e != events.end(); ++e) {
    while (!ends.empty() && ends.back() <= e->start) ends.pop_back();
    if (!ends.empty()) e->seconds = std::min(e->seconds, ends.back() - e->start);
    ends.push_back(e->start + e->seconds);
  }
}

/// What one rank does in a run. Of its events no two overlap but one within the other.
struct Tracer {
  const Schedule& schedule;
  const RoundGraph& graph;
  const Run& run;
  const std::vector<Times>& times;
  std::vector<TraceEvent>& events;
  std::size_t rank = static_cast<std::size_t>(schedule.rank);
  Count segment = 0;
  std::uint32_t round_index = 0;  // which of its rounds

  void trace() {
    const std::size_t first = events.size();
    for (segment = 0; segment < run.segments(); ++segment)
      for (round_index = 0; round_index < graph.rounds_of(rank); ++round_index) add_round();
    nest(events, first);
  }

  void add_round() {
    const std::size_t slot = run.slot(segment, rank, round_index);
    const Times& t = times[slot];
    const std::uint32_t cause = run.cause(slot);
    const auto waited_for = cause == Run::no_cause ? no_rank : static_cast<Rank>(graph.receives[cause].from);
    // Of several segments only what keeps the port or the core is shown: one may wait while another is at work.
    const bool alone = run.segments() == 1;
    if (alone && t.ready > run.begin(slot))
      put(Activity::wait, waited_for, run.begin(slot), t.ready - run.begin(slot), 0);
    messages(alone ? t.ready : t.port, t.end_of_port);
    local(t);
  }

  void put(Activity activity, Rank peer, double start, double seconds, double blocks) {
    if (seconds <= 0) return;
    events.push_back(
        {activity, schedule.rank, peer, start, seconds, blocks * run.block_bytes(segment), round_index, segment});
  }

  const Round& round() const { return schedule.rounds[round_index]; }

  /// One direction fills the time, message by message; those of the other, within them.
  void messages(double start, double end) {
    std::vector<Message> out, in;
    for (const Send& send : schedule.sends_of(round()))
      out.push_back({send.peer, static_cast<double>(blocks_in(schedule.at(send.blocks)))});
    for (const Action& a : schedule.actions_of(round()))
      if (is_receive(a.kind)) in.push_back({a.peer, static_cast<double>(blocks_in(schedule.at(a.target)))});
    if (out.empty() && in.empty()) return;
    const bool sends_fill = in.empty() || (!out.empty() && total(out) >= total(in));
    const auto& outer = sends_fill ? out : in;
    const auto& inner = sends_fill ? in : out;
    const double each = (end - start) / static_cast<double>(outer.size());
    const std::size_t n = outer.size();
    for (std::size_t i = 0, k = 0; i < n; ++i) {
      const double here = start + static_cast<double>(i) * each;
      put(sends_fill ? Activity::send : Activity::receive, outer[i].peer, here, each, outer[i].blocks);
      const std::size_t next = inner.size() * (i + 1) / n;
      const double part = next > k ? each / static_cast<double>(next - k) : 0;
      for (std::size_t j = k; j < next; ++j)
        put(sends_fill ? Activity::receive : Activity::send, inner[j].peer, here + static_cast<double>(j - k) * part,
            part, inner[j].blocks);
      k = next;
    }
  }

  static double total(const std::vector<Message>& messages) {
    double sum = 0;
    for (const Message& m : messages) sum += m.blocks;
    return sum;
  }

  void local(const Times& t) {
    double copied = 0, combined = 0;
    Rank peer = no_rank;
    for (const Action& a : schedule.actions_of(round())) {
      const auto blocks = static_cast<double>(blocks_in(schedule.at(a.target)));
      if (a.kind == ActionKind::copy) copied += blocks;
      if (a.kind == ActionKind::receive_reduce || a.kind == ActionKind::reduce) combined += blocks;
      if (a.kind == ActionKind::receive_reduce) peer = a.peer;
    }
    const Price& price = run.price(segment, rank, round_index);
    if (price.core() <= 0) return;
    const double reducing = (t.end_of_core - t.core) * price.reduction / price.core();
    put(Activity::reduce, peer, t.core, reducing, combined);
    put(Activity::copy, no_rank, t.core + reducing, t.end_of_core - t.core - reducing, copied);
  }
};

}  // namespace
}  // namespace simulation

namespace {

constexpr std::size_t most_traced_rounds = std::size_t{1} << 20;

void check_load(const Load& load) {
  if (load.bytes < 0) throw Error("a vector of " + std::to_string(load.bytes) + " bytes", "give 0 bytes or more");
  if (load.depth < 1) throw Error("no segment in flight", "depth is 1 or more");
}

}  // namespace

std::string_view name_of(Activity activity) {
  constexpr std::string_view names[] = {"send", "receive", "reduce", "copy", "wait"};
  static_assert(std::size(names) == static_cast<std::size_t>(Activity::wait) + 1);
  return names[static_cast<std::size_t>(activity)];
}

Simulator::Simulator(const Algorithm& algorithm, const Shape& shape, const Params& params, const Placement& placement,
                     bool all_ranks, std::optional<Function> function, double most_seconds)
    : algorithm_(&algorithm),
      shape_(placed(algorithm, shape, params, placement)),
      params_(params),
      placement_(placement) {
  graph_ = std::make_shared<simulation::RoundGraph>(
      simulation::make_round_graph(algorithm, shape_, params, placement, all_ranks, most_seconds));
  const bool near_alike = function && !facts(*function).irregular && facts(algorithm.collective).neighbourhood;
  if (function && !facts(*function).bytes_known && !(near_alike && graph_of(shape_)->connected())) find_sizes();
}

void Simulator::find_sizes() {
  constexpr Bytes one = 8;
  const auto first = [&](const Algorithm& algorithm, const Params& params) {
    Shape shape = shape_;
    shape.counts.clear();
    sizes_ = std::make_shared<Simulator>(algorithm, shape, params, placement_);
    size_bytes_ = one * algorithm.blocks(shape, resolved(algorithm, shape, params));
  };
  if (algorithm_->padded)
    first(*find_algorithm(combines_sizes), {});
  else if (algorithm_->needs.counts)
    first(*find_algorithm(gathers_all_sizes), {});
  else if (algorithm_->forwards)
    first(*algorithm_, params_);
}

Prediction Simulator::run(const Load& load, const Machine& machine) const {
  check_load(load);
  simulation::Run run(*graph_, machine, load);
  if (run.simple())
    run.run_simply();
  else
    run.run_in_time();
  const Prediction parts = run.prediction();
  if (!sizes_) return parts;
  const Prediction sizes = sizes_->run({.bytes = size_bytes_}, machine);
  return {.seconds = sizes.seconds + parts.seconds,
          .latency = sizes.latency + parts.latency,
          .bandwidth = sizes.bandwidth + parts.bandwidth,
          .reduction = sizes.reduction + parts.reduction,
          .waiting = sizes.waiting + parts.waiting};
}

std::vector<TraceEvent> Simulator::trace(const Load& load, const Machine& machine) const {
  check_load(load);
  if (simulated_ranks() < shape_.ranks)
    return Simulator(*algorithm_, shape_, params_, placement_, true).trace(load, machine);
  simulation::Run run(*graph_, machine, load);
  if (graph_->rounds.size() > most_traced_rounds / static_cast<std::size_t>(run.segments()))
    throw Error("too much for a trace: " + std::to_string(graph_->rounds.size()) + " rounds in " +
                    std::to_string(run.segments()) + " segments",
                "take fewer ranks or larger segments");
  std::vector<simulation::Times> times;
  run.run_in_time(&times);
  std::vector<TraceEvent> events;
  for (Rank r = 0; r < shape_.ranks; ++r) {
    const Schedule schedule = build_schedule(*algorithm_, shape_, r, params_);
    simulation::Tracer{schedule, *graph_, run, times, events}.trace();
  }
  return events;
}

Rank Simulator::simulated_ranks() const { return static_cast<Rank>(graph_->ranks()); }

std::int64_t Simulator::rounds() const { return static_cast<std::int64_t>(graph_->rounds.size()); }

Prediction predict(const Algorithm& algorithm, const Shape& shape, const Params& params, Bytes bytes,
                   const Machine& machine, const Placement& placement, const Operation& operation) {
  const Load load{bytes, params.segment, params.depth, operation};
  check_load(load);
  check_placement(placement);
  if (formula_misses(algorithm, shape, load, machine, placement, params).empty())
    return formula(algorithm, shape, params, load, machine, placement);
  return Simulator(algorithm, shape, params, placement).run(load, machine);
}

}  // namespace stretto
