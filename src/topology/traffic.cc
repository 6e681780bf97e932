// SPDX-License-Identifier: BSD-3-Clause
//
// When each message of a schedule is under way, and what it shares with others then.
#include <algorithm>
#include <tuple>

#include "stretto/check.hpp"
#include "stretto/error.hpp"
#include "stretto/topology.hpp"

namespace stretto {
namespace {

constexpr std::size_t most_messages = std::size_t{1} << 21;  // more take gigabytes; a ring of 1024 ranks

/// How much of one step is on each way; only the ways that it uses are looked at.
struct Step {
  const Topology& topology;
  Traffic& traffic;
  StepTraffic now = {};
  std::vector<std::int64_t> messages = std::vector<std::int64_t>(topology.ways());
  std::vector<Block> blocks = std::vector<Block>(topology.ways());
  std::vector<std::size_t> used = {}, path = {};

  void add(const Transfer& t) {
    ++now.messages;
    now.latency = std::max(now.latency, topology.latency(t.from, t.to));
    if (t.blocks == 0) return;  // it takes no room on a link
    if (topology.machine_of(t.from) != topology.machine_of(t.to)) now.largest = std::max(now.largest, t.blocks);
    topology.path(t.from, t.to, path);
    for (const std::size_t w : path) {
      if (messages[w]++ == 0) used.push_back(w);
      blocks[w] += t.blocks;
    }
  }

  void finish() {
    for (const std::size_t w : used) {
      now.shared += messages[w] > 1 ? 1 : 0;
      if (messages[w] > now.most || (messages[w] == now.most && w < now.where)) {
        now.most = messages[w];
        now.where = w;
      }
      if (const double speed = topology.bandwidth(w); speed > 0)
        now.per_block = std::max(now.per_block, static_cast<double>(blocks[w]) / speed);
      traffic.most[w] = std::max(traffic.most[w], messages[w]);
      traffic.blocks[w] += blocks[w];
      messages[w] = 0;
      blocks[w] = 0;
    }
    used.clear();
    traffic.latency += now.latency;
    traffic.per_block += now.per_block;
    traffic.steps.push_back(now);
    now = {};
  }
};

}  // namespace

std::vector<Transfer> transfers(std::span<const Schedule> schedules) {
  std::vector<Transfer> found;
  for (const Delivery& m : deliveries(schedules)) found.push_back({m.step, m.from, m.to, Block{m.blocks.count}});
  std::stable_sort(found.begin(), found.end(), [](const Transfer& a, const Transfer& b) {
    return std::tie(a.step, a.from, a.to) < std::tie(b.step, b.from, b.to);
  });
  return found;
}

std::vector<Transfer> transfers(const Algorithm& algorithm, const Shape& shape, const Params& params) {
  std::vector<Schedule> schedules;
  std::size_t sends = 0;
  for (Rank r = 0; r < shape.ranks; ++r) {
    schedules.push_back(build_schedule(algorithm, shape, r, params));
    sends += schedules.back().sends.size();
    if (sends > most_messages)
      throw Error(std::string(algorithm.id) + " on " + std::to_string(shape.ranks) +
                      " ranks sends too many messages to look at",
                  "take fewer ranks");
  }
  return transfers(schedules);
}

bool Traffic::contention_free() const {
  return std::ranges::all_of(steps, [](const StepTraffic& s) { return s.shared == 0; });
}

Traffic traffic(const Topology& topology, std::span<const Transfer> transfers) {
  Traffic found;
  found.most.resize(topology.ways());
  found.blocks.resize(topology.ways());
  Step step{topology, found};
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    step.add(transfers[i]);
    if (i + 1 == transfers.size() || transfers[i + 1].step != transfers[i].step) step.finish();
  }
  for (std::size_t w = 0; w < topology.ways(); ++w)
    if (const double speed = topology.bandwidth(w); speed > 0)
      found.busiest = std::max(found.busiest, static_cast<double>(found.blocks[w]) / speed);
  return found;
}

std::vector<Transfer> sharing(const Topology& topology, std::span<const Transfer> transfers, std::int64_t step,
                              std::size_t way) {
  std::vector<Transfer> found;
  std::vector<std::size_t> path;
  for (const Transfer& t : transfers) {
    if (t.step != step || t.blocks == 0) continue;
    topology.path(t.from, t.to, path);
    if (std::ranges::find(path, way) != path.end()) found.push_back(t);
  }
  return found;
}

TreeTime time_on_tree(const Traffic& traffic, Block blocks, Bytes bytes) {
  constexpr std::int64_t most_segments = 1 << 12;
  const double block = static_cast<double>(bytes) / static_cast<double>(std::max<Block>(blocks, 1));
  double pause = 0;
  for (const StepTraffic& step : traffic.steps) pause = std::max(pause, step.latency);
  TreeTime best{traffic.latency + traffic.per_block * block, 1};
  for (std::int64_t n = 2; n <= most_segments && n <= bytes; n *= 2) {
    const double part = block / static_cast<double>(n);
    const double seconds =
        traffic.latency + traffic.per_block * part + static_cast<double>(n - 1) * (traffic.busiest * part + pause);
    if (seconds < best.seconds) best = {seconds, n};
  }
  return best;
}

}  // namespace stretto
