// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/prices.hpp"

#include <algorithm>

namespace stretto::simulation {
namespace {

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

}  // namespace

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

double head_start(const Form& form, std::uint32_t place, const Machine& machine, double block_bytes) {
  double seconds = 0;
  for (const Lot& lot : form.sends) {
    const Link& link = machine.link(lot.level);
    const std::uint32_t before = std::min(place, lot.messages);
    const double share = form.receives.empty() ? link.f_beta : 1;
    seconds += before * (link.transfer(lot.blocks * block_bytes) * share + link.send_overhead);
    if (place <= lot.messages) break;
    place -= lot.messages;
  }
  return seconds;
}

}  // namespace stretto::simulation
