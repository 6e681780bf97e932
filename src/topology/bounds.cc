// SPDX-License-Identifier: BSD-3-Clause
//
// Lower bounds. Of every link, what must cross it whatever the algorithm; of allreduce moreover Lemma 1 of Patarasuk
// and Yuan (2007), for groups of ranks instead of ranks: if the tree falls into g subtrees that hold all ranks, at
// least 2(g-1) vectors leave these through their links upwards.
#include <algorithm>

#include "stretto/topology.hpp"

namespace stretto {
namespace {

/// The ranks on one side of a link.
struct Side {
  Rank count = 0;
  bool root = false;
  Rank lowest = no_rank, highest = no_rank;

  void add(Rank rank, bool is_root) {
    ++count;
    root = root || is_root;
    if (lowest == no_rank) lowest = rank;
    highest = rank;
  }
};

/// Of a rooted collective: does its root receive?
bool to_root(const CollectiveFacts& of) { return of.reduces || of.parts_out; }

/// How many vectors must go from the ranks of one side to those of the other.
double crossing(Collective collective, const Side& from, const Side& to, Rank ranks) {
  const CollectiveFacts& of = facts(collective);
  const auto share = [&](Rank n) { return static_cast<double>(n) / ranks; };
  if (collective == Collective::barrier) return 0;
  if (of.neighbourhood) return 0;  // the bound does not know the graph
  if (of.prefix) return from.lowest < to.highest ? 1 : 0;
  if (of.rooted && !(to_root(of) ? to.root : from.root)) return 0;
  if (of.pairwise) return share(from.count) * to.count;
  return of.parts_out ? share(from.count) : of.parts_in ? share(to.count) : 1;
}

/// Must `to` hear of `from`?
bool depends(Collective collective, Rank root, Rank from, Rank to) {
  const CollectiveFacts& of = facts(collective);
  if (of.neighbourhood) return false;
  if (of.prefix) return from < to;
  if (!of.rooted) return true;
  return to_root(of) ? to == root : from == root;
}

/// Numbers the vertices so that those below a vertex follow it.
struct Intervals {
  std::vector<std::size_t> order, first, end;

  explicit Intervals(const Topology& t) : first(t.vertices().size()), end(t.vertices().size()) {
    std::vector<int> stack{t.top()};
    while (!stack.empty()) {
      const auto v = static_cast<std::size_t>(stack.back());
      stack.pop_back();
      first[v] = order.size();
      order.push_back(v);
      stack.insert(stack.end(), t.below()[v].rbegin(), t.below()[v].rend());
    }
    for (auto v = order.rbegin(); v != order.rend(); ++v) {
      end[*v] = first[*v] + 1;
      for (const int child : t.below()[*v]) end[*v] = std::max(end[*v], end[static_cast<std::size_t>(child)]);
    }
  }
  bool holds(std::size_t vertex, int machine) const {
    const std::size_t at = first[static_cast<std::size_t>(machine)];
    return at >= first[vertex] && at < end[vertex];
  }
};

struct Finder {
  const Topology& topology;
  Collective collective;
  Rank root;
  double bytes;
  Intervals intervals{topology};
  Bound bound{0, "nothing on the way takes time"};

  Bound find() {
    by_latency();
    for (std::size_t v = 0; v < topology.vertices().size(); ++v) by_link(v);
    if (collective == Collective::allreduce) by_groups();
    return bound;
  }

  void offer(double seconds, const std::string& reason) {
    if (seconds > bound.seconds * (1 + 1e-12)) bound = {seconds, reason};
  }

  void by_latency() {
    double most = 0;
    std::pair<Rank, Rank> ends;
    for (Rank from = 0; from < topology.ranks(); ++from)
      for (Rank to = 0; to < topology.ranks(); ++to)
        if (depends(collective, root, from, to) && topology.latency(from, to) > most * (1 + 1e-12)) {
          most = topology.latency(from, to);
          ends = {from, to};
        }
    offer(most, "latency from rank " + std::to_string(ends.first) + " to rank " + std::to_string(ends.second));
  }

  void by_link(std::size_t v) {
    const double speed = topology.vertices()[v].bandwidth;
    if (speed == 0 || topology.top() == static_cast<int>(v)) return;
    Side low, high;
    for (Rank r = 0; r < topology.ranks(); ++r)
      (intervals.holds(v, topology.machine_of(r)) ? low : high).add(r, r == root);
    if (low.count == 0 || high.count == 0) return;
    const auto words = [&](std::size_t way) { return "what must go from " + topology.name_of(way); };
    offer(crossing(collective, low, high, topology.ranks()) * bytes / speed, words(2 * v));
    offer(crossing(collective, high, low, topology.ranks()) * bytes / speed, words(2 * v + 1));
  }

  /// The subtrees that gain most if each has two vectors and its link takes `price` for each byte per second.
  struct Groups {
    double gain = 0;
    double bandwidth = 0;
    std::int64_t count = 0;
    bool possible = true;
  };
  Groups groups_at(double price) const {
    std::vector<Groups> best(intervals.order.size());
    for (auto at = intervals.order.rbegin(); at != intervals.order.rend(); ++at) {
      Groups split;
      const std::size_t v = *at;
      for (const int child : topology.below()[v]) {
        const Groups& g = best[static_cast<std::size_t>(child)];
        split.gain += g.gain;
        split.bandwidth += g.bandwidth;
        split.count += g.count;
        split.possible = split.possible && g.possible;
      }
      const bool has_ranks = split.count > 0 || !split.possible || topology.ranks_on(static_cast<int>(v)) > 0;
      if (topology.vertices()[v].machine) split.possible = !has_ranks;
      const double speed = topology.vertices()[v].bandwidth;
      const bool whole = has_ranks && speed > 0 && static_cast<int>(v) != topology.top();
      const Groups one{2 * bytes - price * speed, speed, 1, true};
      best[v] = whole && (!split.possible || one.gain > split.gain) ? one : split;
    }
    return best[static_cast<std::size_t>(topology.top())];
  }

  /// Dinkelbach's method: the ratio of the best groups at a price is the next price, until none is better.
  void by_groups() {
    double seconds = 0;
    for (;;) {
      const Groups found = groups_at(seconds);
      if (!found.possible || found.count < 2) return;
      const double next = 2 * static_cast<double>(found.count - 1) * bytes / found.bandwidth;
      if (next <= seconds * (1 + 1e-12)) return;
      seconds = next;
      offer(seconds, "2(g-1) vectors through the links of g = " + std::to_string(found.count) + " parts of the tree");
    }
  }
};

}  // namespace

Bound lower_bound(const Topology& topology, Collective collective, Rank root, Bytes bytes) {
  return Finder{topology, collective, root, static_cast<double>(bytes)}.find();
}

}  // namespace stretto
