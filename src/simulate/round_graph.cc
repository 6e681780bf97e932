// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/round_graph.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <unordered_map>

#include "stretto/error.hpp"

namespace stretto::simulation {
namespace {

constexpr std::size_t most_messages = std::size_t{1} << 27;  // 5 GiB with their rounds

std::uint32_t index(std::size_t n) { return static_cast<std::uint32_t>(n); }

/// How large ranges are, in blocks of the mean size.
class Scale {
 public:
  Scale(const Algorithm& algorithm, const Shape& shape) {
    const CollectiveFacts& collective = facts(algorithm.collective);
    if (collective.per_rank && !collective.pairwise && !collective.neighbourhood) counts_ = shape.counts;
  }

  double blocks(const Schedule& s, Slice slice) {
    if (counts_.empty()) return static_cast<double>(blocks_in(s.at(slice)));
    if (until_.empty()) add_up(s.parts, s.blocks);
    double sum = 0;
    for (const Range& r : s.at(slice)) {
      if (r.buffer != Buffer::scratch) {
        sum += until(r.first + r.count) - until(r.first);
        continue;
      }
      for (Block slot = r.first; slot < r.first + r.count; ++slot) {
        const Block b = s.scratch[static_cast<std::size_t>(slot)];
        sum += until(b + 1) - until(b);
      }
    }
    return sum;
  }

 private:
  double until(Block b) const { return until_[static_cast<std::size_t>(b)]; }

  void add_up(const Parts& parts, Block blocks) {
    const auto all = static_cast<double>(std::accumulate(counts_.begin(), counts_.end(), Count{0}));
    until_.assign(static_cast<std::size_t>(blocks) + 1, 0);
    for (std::size_t r = 0; r < counts_.size(); ++r) {
      const Block first = parts.begin(static_cast<Rank>(r)), end = parts.end(static_cast<Rank>(r));
      for (Block b = first; b < end; ++b)
        until_[static_cast<std::size_t>(b) + 1] =
            until(b) + (all > 0 ? static_cast<double>(counts_[r]) / all * static_cast<double>(blocks) /
                                      static_cast<double>(end - first)
                                : 0);
    }
  }

  std::vector<Count> counts_;
  std::vector<double> until_;
};

void add(std::vector<Lot>& lots, Level level, double blocks) {
  if (!lots.empty() && lots.back().level == level && lots.back().blocks == blocks)
    ++lots.back().messages;
  else
    lots.push_back({level, blocks, 1});
}

class Maker {
 public:
  Maker(const Algorithm& algorithm, const Shape& shape, const Placement& placement)
      : algorithm_(algorithm),
        shape_(shape),
        scale_(algorithm, shape) {
    graph_.placement = placement;
    graph_.first_round.push_back(0);
    first_send_.push_back(0);
  }

  RoundGraph make(const Params& params, bool all_ranks, const Budget& budget) {
    const Rank p = shape_.ranks;
    graph_.symmetry = all_ranks ? Symmetry{Symmetry::Kind::none, p, p}
                                : find_symmetry(algorithm_, shape_, params, graph_.placement, budget);
    const Params filled = resolved(algorithm_, shape_, params);
    graph_.blocks = static_cast<double>(std::max<Block>(algorithm_.blocks(shape_, filled), 1));
    double begin = 0;
    for (Rank r = 0; r < graph_.symmetry.period; ++r) {
      if (r == 1) begin = Budget::worked();  // the first one may prepare what the others share
      add(build_schedule(algorithm_, shape_, r, params));
      if (r == 8 || r == 100) check_pace((Budget::worked() - begin) / r, (r == 8 ? 10 : 1) * budget.seconds());
      if (sends_.size() + graph_.receives.size() + graph_.rounds.size() > most_messages)
        too_large(algorithm_, shape_, "more than " + std::to_string(most_messages >> 20) + " Mi messages and rounds");
    }
    for (std::uint32_t r = 0; r < graph_.ranks(); ++r) find_senders(r);
    return std::move(graph_);
  }

 private:
  struct Sent {  // in the order of labels and rounds
    std::uint32_t label, round, place;
  };

  void check_pace(double each, double longest) const {
    const double all = each * graph_.symmetry.period;
    if (all > longest)
      too_large(algorithm_, shape_,
                "to build all schedules would take some " +
                    (all < 120 ? std::to_string(std::llround(all)) + " s"
                               : std::to_string(std::llround(all / 60)) + " minutes"));
  }

  void add(const Schedule& s) {
    const auto& symmetry = graph_.symmetry;
    std::uint32_t number = 0;
    for (const Round& round : s.rounds) {
      form_.sends.clear();
      form_.receives.clear();
      form_.combined = form_.copied = 0;
      std::uint32_t place = 0;
      for (const Send& send : s.sends_of(round)) {
        simulation::add(form_.sends, graph_.placement.level(s.rank, send.peer), scale_.blocks(s, send.blocks));
        sends_.push_back({index(static_cast<std::size_t>(symmetry.distance(s.rank, send.peer))), number, place++});
      }
      for (const Action& a : s.actions_of(round)) add(s, a);
      graph_.rounds.push_back({known_form(), index(graph_.receives.size())});
      ++number;
    }
    // From one sender the messages of one peer keep their order.
    std::stable_sort(sends_.begin() + first_send_.back(), sends_.end(),
                     [](const Sent& a, const Sent& b) { return a.label < b.label; });
    first_send_.push_back(index(sends_.size()));
    count_receives();
    graph_.first_round.push_back(index(graph_.rounds.size()));
  }

  void add(const Schedule& s, const Action& a) {
    const double blocks = scale_.blocks(s, a.target);
    if (is_receive(a.kind)) {
      simulation::add(form_.receives, graph_.placement.level(s.rank, a.peer), blocks);
      graph_.receives.push_back({static_cast<std::uint32_t>(a.peer), 0, 0});
    }
    if (a.kind == ActionKind::receive_reduce || a.kind == ActionKind::reduce) form_.combined += blocks;
    if (a.kind == ActionKind::copy) form_.copied += blocks;
  }

  /// The how-manyth of its peer each receive of the last rank is, in `round`.
  void count_receives() {
    const auto first = first_receive_;
    first_receive_ = graph_.receives.size();
    order_.resize(first_receive_ - first);
    std::iota(order_.begin(), order_.end(), first);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return graph_.receives[a].from < graph_.receives[b].from; });
    for (std::size_t i = 1; i < order_.size(); ++i) {
      const RoundGraph::Receive& before = graph_.receives[order_[i - 1]];
      RoundGraph::Receive& now = graph_.receives[order_[i]];
      if (now.from == before.from) now.round = before.round + 1;
    }
  }

  void find_senders(std::uint32_t rank) {
    const auto& symmetry = graph_.symmetry;
    const auto me = static_cast<Rank>(rank);
    const std::uint32_t end = graph_.first_round[rank + 1];
    if (graph_.first_round[rank] == end) return;
    for (std::uint32_t i = graph_.first_receive(graph_.first_round[rank]); i < graph_.first_receive(end); ++i) {
      RoundGraph::Receive& receive = graph_.receives[i];
      const auto peer = static_cast<Rank>(receive.from);
      receive.from = static_cast<std::uint32_t>(symmetry.stand_in(peer));
      const auto label = static_cast<std::uint32_t>(symmetry.distance(peer, me));
      const auto first = sends_.begin() + first_send_[receive.from];
      const auto last = sends_.begin() + first_send_[receive.from + 1];
      const auto sent =
          std::lower_bound(first, last, label, [](const Sent& s, std::uint32_t l) { return s.label < l; });
      const auto found = sent + receive.round;
      if (last - sent <= static_cast<std::ptrdiff_t>(receive.round) || found->label != label)
        throw Error(std::string(algorithm_.id) + ": rank " + std::to_string(me) + " awaits a message that rank " +
                        std::to_string(peer) + " never sends",
                    "`stretto check` proves schedules");
      receive.round = found->round;
      receive.place = found->place;
    }
  }

  struct Hash {
    std::size_t operator()(const Form& form) const {
      std::size_t hash = form.sends.size();
      const auto add = [&](double value) {
        hash = (hash ^ std::hash<double>()(value)) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
      };
      for (const auto* lots : {&form.sends, &form.receives})
        for (const Lot& lot : *lots) {
          add(lot.blocks);
          add(2.0 * lot.messages + (lot.level == Level::node ? 0 : 1));
        }
      add(form.combined);
      add(form.copied);
      return hash;
    }
  };

  std::uint32_t known_form() {
    const auto [at, fresh] = known_.try_emplace(form_, index(graph_.forms.size()));
    if (fresh) graph_.forms.push_back(form_);
    return at->second;
  }

  const Algorithm& algorithm_;
  const Shape& shape_;
  Scale scale_;
  RoundGraph graph_;
  std::vector<Sent> sends_;
  std::vector<std::uint32_t> first_send_;  // of each simulated rank, and the end
  std::size_t first_receive_ = 0;          // of the last rank that was added
  std::vector<std::size_t> order_;
  Form form_;
  std::unordered_map<Form, std::uint32_t, Hash> known_;  // irregular rounds may all have forms of their own
};

}  // namespace

RoundGraph make_round_graph(const Algorithm& algorithm, const Shape& shape, const Params& params,
                            const Placement& placement, bool all_ranks, double most_seconds) {
  return Maker(algorithm, shape, placement).make(params, all_ranks, Budget(most_seconds));
}

}  // namespace stretto::simulation
