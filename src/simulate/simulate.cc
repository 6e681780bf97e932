// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/simulate.hpp"

#include "simulate/trace.hpp"
#include "stretto/error.hpp"

namespace stretto {
namespace {

constexpr std::size_t most_traced_rounds = std::size_t{1} << 20;

void check_load(const Load& load) {
  if (load.bytes < 0) throw Error("a vector of " + std::to_string(load.bytes) + " bytes", "give 0 bytes or more");
  if (load.depth < 1) throw Error("no segment in flight", "depth is 1 or more");
}

}  // namespace

std::string_view name_of(Activity activity) {
  switch (activity) {
    case Activity::send: return "send";
    case Activity::receive: return "receive";
    case Activity::reduce: return "reduce";
    case Activity::copy: return "copy";
    case Activity::wait: return "wait";
  }
  return "?";
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
  for (Rank r = 0; r < shape_.ranks; ++r)
    simulation::trace_rank(build_schedule(*algorithm_, shape_, r, params_), *graph_, run, times, events);
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
