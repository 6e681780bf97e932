// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/run.hpp"

#include <algorithm>

#include "stretto/error.hpp"

namespace stretto::simulation {
namespace {

constexpr std::size_t most_slots = std::size_t{1} << 28;  // 3 GiB
constexpr Count most_depth = 64;                          // as in an operation

Count segments_of(const Load& load) {
  if (load.segment <= 0 || load.segment >= load.bytes) return 1;
  return (load.bytes + load.segment - 1) / load.segment;
}

/// Do ranks of a node slow each other down?
bool ranks_share(const RoundGraph& graph, const Machine& machine) {
  const Rank on_node = std::min(graph.placement.ranks_per_node, graph.symmetry.ranks);
  if (oversubscribed(machine, on_node)) return true;
  return machine.node.slowdown(on_node) > 1 || machine.network.slowdown(on_node) > 1;
}

/// The messages of one direction.
struct Way {
  double latency = 0;
  double network = 0, node = 0;         // seconds of the bytes
  double overhead = 0, on_network = 0;  // the second is that part of the first

  Way(const std::vector<Lot>& lots, const Machine& machine, double block_bytes, bool alone,
      double Link::* overhead_of) {
    for (const Lot& lot : lots) {
      const Link& link = machine.link(lot.level);
      latency = std::max(latency, link.latency() * (alone ? link.f_alpha : 1));
      (lot.level == Level::node ? node : network) +=
          lot.messages * (link.transfer(lot.blocks * block_bytes) * (alone ? link.f_beta : 1));
      overhead += lot.messages * (link.*overhead_of);
      if (lot.level == Level::network) on_network += lot.messages * (link.*overhead_of);
    }
  }
  double bytes() const { return network + node; }
};

Price price(const Form& form, const Machine& machine, double block_bytes, double gamma, double wait) {
  const bool alone = form.sends.empty() || form.receives.empty();
  const Way out(form.sends, machine, block_bytes, alone, &Link::send_overhead);
  const Way in(form.receives, machine, block_bytes, alone, &Link::receive_overhead);
  Price p;
  p.latency = std::max(out.latency, in.latency);
  p.overhead = out.overhead + in.overhead;
  p.port = std::max(out.bytes(), in.bytes()) + p.overhead;
  p.out_port = out.bytes() + out.overhead;
  const double all = out.bytes() + in.bytes();
  if (all > 0)
    p.network = (out.network + in.network) / all;
  else if (p.overhead > 0)  // empty messages
    p.network = (out.on_network + in.on_network) / p.overhead;
  p.out = !form.sends.empty();
  p.in = !form.receives.empty();
  p.reduction = form.combined * block_bytes * gamma;
  p.copy = form.copied * block_bytes * machine.copy;
  if (p.in) p.wait = wait;
  return p;
}

/// Of every form of the graph.
std::vector<Price> prices(const RoundGraph& graph, const Machine& machine, double bytes, const Operation& operation) {
  const Rank on_node = std::min(graph.placement.ranks_per_node, graph.symmetry.ranks);
  const double wait =
      oversubscribed(machine, on_node) ? machine.wait * (static_cast<double>(on_node) / machine.cores - 1) : 0;
  const double gamma = machine.gamma_of(operation);
  std::vector<Price> all;
  all.reserve(graph.forms.size());
  for (const Form& form : graph.forms) all.push_back(price(form, machine, bytes / graph.blocks, gamma, wait));
  return all;
}

}  // namespace

Run::Run(const RoundGraph& graph, const Machine& machine, const Load& load)
    : graph_(graph),
      machine_(machine),
      segments_(segments_of(load)),
      depth_(std::clamp<Count>(load.depth, 1, std::min(segments_, most_depth))),
      shares_(ranks_share(graph, machine)),
      per_segment_(graph.rounds.size() + graph.ranks()) {
  if (per_segment_ > most_slots / static_cast<std::size_t>(segments_))
    throw Error("too large to simulate: " + std::to_string(segments_) + " segments of " +
                    std::to_string(graph.rounds.size()) + " rounds",
                "take fewer ranks or larger segments");
  const auto all = static_cast<double>(load.bytes);
  bytes_[0] = segments_ > 1 ? static_cast<double>(load.segment) : all;
  bytes_[1] = all - static_cast<double>(segments_ - 1) * bytes_[0];
  for (int i = segments_ > 1 ? 0 : 1; i < 2; ++i) prices_[i] = prices(graph, machine, bytes_[i], load.operation);
  instances_.resize(graph.ranks() * static_cast<std::size_t>(depth_));
  for (std::size_t i = 0; i < instances_.size(); ++i) {
    instances_[i].rank = static_cast<std::uint32_t>(i / static_cast<std::size_t>(depth_));
    instances_[i].segment = static_cast<Count>(i) % depth_;
  }
  waiting_.assign(graph.ranks(), nobody);
  begins_.assign(per_segment_ * static_cast<std::size_t>(segments_), -1);
  causes_.assign(begins_.size(), no_cause);
}

bool Run::enter_round(Instance& in, double now) {
  begins_[slot(in.segment, in.rank, in.round)] = now;
  while (in.round == graph_.rounds_of(in.rank)) {
    if (in.segment + depth_ >= segments_) return false;
    in.segment += depth_;
    in.round = 0;
    begins_[slot(in.segment, in.rank, 0)] = now;
  }
  in.receive = graph_.first_receive(graph_.first_round[in.rank] + in.round);
  in.ready = now;
  return true;
}

double Run::head_start(const RoundGraph::Receive& receive, Count segment) const {
  if (!machine_.in_turn) return 0;
  const Form& form = graph_.forms[graph_.rounds[graph_.first_round[receive.from] + receive.round].form];
  double seconds = 0;
  std::uint32_t left = receive.place;
  for (const Lot& lot : form.sends) {
    if (left == 0) break;
    const Link& link = machine_.link(lot.level);
    const std::uint32_t before = std::min(left, lot.messages);
    const double share = form.receives.empty() ? link.f_beta : 1;
    seconds += before * (link.transfer(lot.blocks * block_bytes(segment)) * share + link.send_overhead);
    left -= before;
  }
  return seconds;
}

bool Run::receive_all(std::uint32_t id) {
  Instance& in = instances_[id];
  const std::uint32_t end = graph_.rounds[graph_.first_round[in.rank] + in.round].end_of_receives;
  for (; in.receive < end; ++in.receive) {
    const RoundGraph::Receive& receive = graph_.receives[in.receive];
    const std::size_t from = slot(in.segment, receive.from, receive.round);
    if (begins_[from] < 0) {
      in.awaits = from;
      in.next_waiting = waiting_[receive.from];
      waiting_[receive.from] = id;
      return false;
    }
    const double at = sent(from) + head_start(receive, in.segment);
    if (at > in.ready) {
      in.ready = at;
      causes_[slot(in.segment, in.rank, in.round)] = in.receive;
    }
  }
  return true;
}

void Run::run_simply() {
  std::vector<std::uint32_t> can_go_on;
  for (auto id = static_cast<std::uint32_t>(instances_.size()); id-- > 0;) can_go_on.push_back(id);
  const auto go_on = [&](std::uint32_t id) { can_go_on.push_back(id); };
  while (!can_go_on.empty()) {
    const std::uint32_t id = can_go_on.back();
    can_go_on.pop_back();
    Instance& in = instances_[id];
    bool active = true;
    if (begins_[slot(in.segment, in.rank, in.round)] < 0) {
      active = enter_round(in, 0);
      wake(in.rank, go_on);
    }
    while (active && receive_all(id)) {
      const double end = in.ready + price(in.segment, in.rank, in.round).all();
      ++in.round;
      active = enter_round(in, end);
      wake(in.rank, go_on);
    }
  }
  check_end();
}

void Run::check_end() const {
  for (std::size_t rank = 0; rank < graph_.ranks(); ++rank)
    if (begins_[slot(segments_ - 1, rank, graph_.rounds_of(rank))] < 0)
      throw Error("rank " + std::to_string(rank) + " waits forever", "`stretto check` proves schedules");
}

Prediction Run::prediction() const {
  Prediction p;
  std::size_t rank = 0;
  Count segment = segments_ - 1;
  for (Count s = std::max<Count>(0, segments_ - depth_); s < segments_; ++s)
    for (std::size_t r = 0; r < graph_.ranks(); ++r)
      if (const double end = begins_[slot(s, r, graph_.rounds_of(r))]; end > p.seconds) {
        p.seconds = end;
        rank = r;
        segment = s;
      }
  std::uint32_t round = graph_.rounds_of(rank);
  for (;;) {
    while (round == 0 && segment >= depth_) {
      segment -= depth_;
      round = graph_.rounds_of(rank);
    }
    if (round == 0) break;
    --round;
    const std::size_t here = slot(segment, rank, round);
    const Price& cost = price(segment, rank, round);
    const double end = begins_[here + 1];
    double since = begins_[here];
    double left_before = 0;
    if (causes_[here] != no_cause) {
      const RoundGraph::Receive& receive = graph_.receives[causes_[here]];
      left_before = head_start(receive, segment);
      rank = receive.from;
      round = receive.round;
      since = begins_[slot(segment, rank, round)];
    }
    p.waiting += std::max(0.0, end - since - left_before - cost.all());
    p.waiting += cost.wait;
    p.latency += cost.latency + cost.overhead;
    p.bandwidth += cost.port - cost.overhead + cost.copy + left_before;
    p.reduction += cost.reduction;
  }
  return p;
}

}  // namespace stretto::simulation
