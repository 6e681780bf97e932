// SPDX-License-Identifier: BSD-3-Clause
//
// All ranks in the order of time: needed where segments of a rank want the same port or core, and ranks of a node the
// same wire or cores.
#include <algorithm>
#include <queue>

#include "simulate/run.hpp"
#include "simulate/shared.hpp"

namespace stretto::simulation {
class Run::Clockwork {
  enum Resource : std::uint8_t { out = 1, in = 2, core = 4 };  // of a rank: what a segment needs
  enum class Stage : std::uint8_t { before, network, node, compute };

 public:
  Clockwork(Run& run, std::vector<Times>* times)
      : run_(run),
        times_(times),
        ranks_(run.graph_.ranks()),
        stages_(run.instances_.size(), Stage::before) {
    const RoundGraph& graph = run.graph_;
    const auto k = static_cast<std::size_t>(std::min<Rank>(graph.placement.ranks_per_node, graph.symmetry.ranks));
    const Machine& machine = run.machine_;
    const auto nodes = (graph.ranks() + k - 1) / k;
    const auto on_node = static_cast<double>(k);
    if (!run.shares_) return;
    if (machine.network.slowdown(on_node) > 1)
      shared_[0].assign(nodes, Shared([&machine](double n) { return machine.network.slowdown(n); }));
    if (machine.node.slowdown(on_node) > 1)
      shared_[1].assign(nodes, Shared([&machine](double n) { return machine.node.slowdown(n); }));
    if (oversubscribed(machine, static_cast<Rank>(k)))
      shared_[2].assign(nodes, Shared([cores = machine.cores](double n) { return std::max(1.0, n / cores); }));
  }

  void run() {
    for (std::uint32_t id = 0; id < run_.instances_.size(); ++id) begin_round(id, 0);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      if (event.of == whole) {
        step(event.id, event.time);
        continue;
      }
      Shared& shared = shared_[event.of][event.id];
      if (shared.version() != event.version) continue;
      const std::uint32_t job = shared.leave(event.time);
      announce(event.of, event.id);
      step(job, event.time);
    }
    run_.check_end();
  }

 private:
  static constexpr std::uint8_t whole = 3;  // of an event: an instance, not what is shared

  struct Event {
    double time;
    std::uint64_t number;
    std::uint32_t id;  // an instance, or a node
    std::uint32_t version;
    std::uint8_t of;
    bool operator>(const Event& e) const { return time != e.time ? time > e.time : number > e.number; }
  };
  struct Port {
    std::uint8_t busy = 0;
    double sends_until = 0;  // as far as it is known
    std::vector<std::uint32_t> queue;
  };

  const Price& price(const Instance& i) const { return run_.price(i.segment, i.rank, i.round); }
  Times* times(const Instance& i) { return times_ ? &(*times_)[run_.slot(i.segment, i.rank, i.round)] : nullptr; }

  void at(double time, std::uint32_t id) { events_.push({time, number_++, id, 0, whole}); }

  void announce(std::uint8_t what, std::uint32_t node) {
    const Shared& shared = shared_[what][node];
    if (shared.busy()) events_.push({shared.next_end(), number_++, node, shared.version(), what});
  }

  void begin_round(std::uint32_t id, double now) {
    Instance& i = run_.instances_[id];
    const bool active = run_.enter_round(i, now);
    stages_[id] = Stage::before;
    if (active && !run_.delays_.empty()) reserve(i, now);
    run_.wake(i.rank, [&](std::uint32_t other) { awake_.push_back(other); });
    if (active) awake_.push_back(id);
    for (const std::uint32_t each : std::exchange(awake_, {})) receive(each);
  }

  /// What the rank's other segments are to send goes first: the receivers know by this when the messages can leave.
  void reserve(const Instance& i, double now) {
    const Price& p = price(i);
    if (!p.out) return;
    double& free = ranks_[i.rank].sends_until;
    const double could = now + p.latency + p.wait;
    run_.delays_[run_.slot(i.segment, i.rank, i.round)] = std::max(0.0, free - could);
    free = std::max(free, could) + p.out_port;
  }

  void receive(std::uint32_t id) {
    if (!run_.receive_all(id)) return;
    const Instance& i = run_.instances_[id];
    if (Times* t = times(i)) t->ready = i.ready;
    at(i.ready + price(i).latency + price(i).wait, id);
  }

  std::uint8_t needs(std::uint32_t id) const {
    if (stages_[id] == Stage::compute) return core;
    const Price& p = price(run_.instances_[id]);
    return static_cast<std::uint8_t>((p.out ? out : 0) | (p.in ? in : 0));
  }

  /// The instance has done what it was at.
  void step(std::uint32_t id, double now) {
    Instance& i = run_.instances_[id];
    const Price& p = price(i);
    switch (stages_[id]) {
      case Stage::before:
        stages_[id] = Stage::network;
        if (p.out || p.in) return request(id, now);
        return compute(id, now);
      case Stage::network: stages_[id] = Stage::node; return work(id, now, 1, p.port * (1 - p.network));
      case Stage::node:
        if (Times* t = times(i)) t->end_of_port = now;
        release(id, now);
        return compute(id, now);
      case Stage::compute:
        if (Times* t = times(i)) t->end_of_core = now;
        release(id, now);
        return end_round(id, now);
    }
  }

  void compute(std::uint32_t id, double now) {
    stages_[id] = Stage::compute;
    if (price(run_.instances_[id]).core() > 0) return request(id, now);
    end_round(id, now);
  }

  void end_round(std::uint32_t id, double now) {
    ++run_.instances_[id].round;
    begin_round(id, now);
  }

  void request(std::uint32_t id, double now) {
    Port& port = ranks_[run_.instances_[id].rank];
    std::uint8_t taken = port.busy;
    for (const std::uint32_t other : port.queue) taken |= needs(other);
    if (taken & needs(id))
      port.queue.push_back(id);
    else
      start(id, now);
  }

  void start(std::uint32_t id, double now) {
    Instance& i = run_.instances_[id];
    const Price& p = price(i);
    ranks_[i.rank].busy |= needs(id);
    Times* t = times(i);
    if (stages_[id] == Stage::compute) {
      if (t) t->core = now;
      return work(id, now, 2, p.core());
    }
    if (t) t->port = now;
    work(id, now, 0, p.port * p.network);
  }

  void work(std::uint32_t id, double now, std::uint8_t what, double seconds) {
    if (seconds == 0 || shared_[what].empty()) return at(now + seconds, id);
    const Rank k = run_.graph_.placement.ranks_per_node;
    const auto node = run_.instances_[id].rank / static_cast<std::uint32_t>(k);
    shared_[what][node].join(now, id, seconds);
    announce(what, node);
  }

  /// Those that came first go first; who wants nothing of what they wait for overtakes them.
  void release(std::uint32_t id, double now) {
    Port& port = ranks_[run_.instances_[id].rank];
    port.busy &= static_cast<std::uint8_t>(~needs(id));
    if (port.queue.empty()) return;
    std::uint8_t taken = port.busy;
    std::vector<std::uint32_t> left, granted;
    for (const std::uint32_t other : port.queue) {
      (taken & needs(other) ? left : granted).push_back(other);
      taken |= needs(other);
    }
    port.queue = std::move(left);
    for (const std::uint32_t other : granted) start(other, now);
  }

  Run& run_;
  std::vector<Times>* times_;
  std::vector<Port> ranks_;
  std::vector<Stage> stages_;
  std::vector<Shared> shared_[3];  // network, node, cores: of every node; empty: nothing to share
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t number_ = 0;
  std::vector<std::uint32_t> awake_;
};

void Run::run_in_time(std::vector<Times>* times) {
  if (times) times->assign(begins_.size(), {});
  if (depth_ > 1) delays_.assign(begins_.size(), 0);
  Clockwork(*this, times).run();
}

}  // namespace stretto::simulation
