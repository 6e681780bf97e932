// SPDX-License-Identifier: BSD-3-Clause
#include "learn/candidates.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "stretto/cost.hpp"

namespace stretto::learn {
namespace {

/// Of usual nodes and a usual network, to tell which algorithms are worth a try: what is best there, and what is not
/// much worse. How much better one is than another on this machine, the calls themselves tell.
Machine usual_machine() {
  Machine machine;
  machine.network = {.alpha = 1.5e-6, .beta = 9e-11};
  machine.node = {.alpha = 4e-7, .beta = 9e-11};
  machine.gamma = 1.5e-10;
  machine.copy = 8e-11;
  return machine;
}

class Finder {
 public:
  Finder(const Rules& rules, const Call& call, std::size_t most) : rules_(rules), call_(call), most_(most) {}

  std::vector<Candidate> find() {
    found_.emplace_back();
    add_from(rules_, call_.bytes);
    if (call_.kernel_copy != KernelCopy::refused && call_.per_node > 1 &&
        call_.bytes >= lends_from(call_.function, call_.kernel_copy, call_.oversubscribed))
      add_with_other_copies();
    add_from(shipped_rules(), call_.bytes);
    add_with_lists();
    add_predicted(4);
    if (facts(call_.function).bytes_known && facts(call_.function).collective != Collective::barrier)
      for (const Bytes factor : {4, 16, 64})
        for (const Bytes bytes : {call_.bytes / factor, call_.bytes * factor})
          if (bytes > 0) add_from(rules_, bytes);
    return std::move(found_);
  }

 private:
  void add(Candidate one) {
    one.params = normalized(std::move(one.params), call_.bytes);
    if (found_.size() >= most_ || !one.algorithm || !serves(one, call_)) return;
    if (std::ranges::find(found_, one) == found_.end()) found_.push_back(std::move(one));
  }

  void add_from(const Rules& rules, Bytes bytes) {
    Call other = call_;
    other.bytes = bytes;
    const Choice choice = choose(rules, other);
    add({choice.algorithm, choice.params});
  }

  void add_with_other_copies() {
    for (Candidate one : std::vector(found_)) {
      one.params.copy = one.params.copy == Copy::staged ? Copy::measured : Copy::staged;
      add(std::move(one));
    }
  }

  /// Lists that the rules give as many ranks, for whatever function and size: nodes, or an order.
  void add_with_lists() {
    constexpr std::size_t most_lists = 2;
    std::set<std::pair<std::string_view, std::vector<Rank>>> seen;
    std::size_t used = 0;
    for (const Rule& rule : rules_.rules) {
      if (used >= most_lists) return;
      if (!rule.algorithm || rule.params.list.empty() || !rule.ranks.holds(call_.shape.ranks)) continue;
      if (rule.algorithm->list != "nodes" && rule.algorithm->list != "order") continue;
      if (!seen.emplace(rule.algorithm->list, rule.params.list).second) continue;
      const std::size_t before = found_.size();
      for (const Algorithm* a : all_algorithms())
        if (a->collective == facts(call_.function).collective && a->list == rule.algorithm->list && !a->needs.counts)
          add_with_list(*a, rule.params.list);
      used += found_.size() > before;
    }
  }

  void add_with_list(const Algorithm& algorithm, const std::vector<Rank>& list) {
    Candidate one{&algorithm, {.list = list}};
    if (serves(one, call_) && resolved(algorithm, call_.shape, one.params) != resolved(algorithm, call_.shape, {}))
      add(std::move(one));
  }

  /// Of its own parameter: the usual one, and larger ones.
  std::vector<std::int64_t> values(const Algorithm& algorithm) const {
    std::vector<std::int64_t> all{0};
    if (!algorithm.parameter.default_value || algorithm.needs.counts) return all;
    const std::int64_t usual = algorithm.parameter.default_value(call_.shape);
    for (const std::int64_t value : {2 * usual, 4 * usual})
      if (value <= std::min<std::int64_t>(algorithm.parameter.most, call_.shape.ranks)) all.push_back(value);
    return all;
  }

  void add_predicted(std::size_t how_many) {
    std::multimap<double, Candidate> by_seconds;
    const Machine machine = usual_machine();
    for (const Algorithm* a : all_algorithms()) {
      if (a->collective != facts(call_.function).collective || a->needs.counts) continue;
      for (const std::int64_t value : values(*a)) {
        Candidate one{a, {.value = value, .list = {}}};
        if (!serves(one, call_)) continue;
        const Load load{.bytes = call_.bytes};
        const double seconds = formula(*a, call_.shape, one.params, load, machine, {call_.per_node}).seconds;
        by_seconds.emplace(seconds, std::move(one));
      }
    }
    const std::size_t before = found_.size();
    for (auto& predicted : by_seconds) {
      Candidate& one = predicted.second;
      // One of each algorithm: others of the same one differ less.
      const bool there = std::ranges::any_of(
          found_, [&](const Candidate& c) { return c.algorithm == one.algorithm && c.params.list.empty(); });
      if (!there) add(std::move(one));
      if (found_.size() >= before + how_many) return;
    }
  }

  const Rules& rules_;
  const Call& call_;
  std::size_t most_;
  std::vector<Candidate> found_;
};

}  // namespace

bool learns(Function function) { return !facts(facts(function).collective).neighbourhood; }

Between class_of(Function function, Bytes bytes) {
  if (facts(function).collective == Collective::barrier) return {};
  if (bytes <= 0) return facts(function).bytes_known ? Between{0, 0} : Between{};
  const auto low = static_cast<Bytes>(std::bit_floor(static_cast<std::uint64_t>(bytes)));
  return {low, 2 * low - 1};
}

std::string conditions(const Call& call, const Between& bytes) {
  std::string text(facts(call.function).name);
  text += " ranks=" + std::to_string(call.shape.ranks);
  if (call.shape.ranks == 1 || call.one_node())
    text += call.one_node() ? " nodes=1" : "";
  else
    text += " per-node=" + std::to_string(call.per_node) + (call.even_nodes ? " nodes=even" : " nodes>1");
  text += call.oversubscribed ? " cores=shared" : " cores=own";
  if (facts(facts(call.function).collective).reduces)
    text += !call.commutative ? " operator=not-commutative"
            : call.predefined ? " operator=predefined"
                              : " operator=user";
  if (!bytes.all()) text += " bytes>=" + written_size(bytes.low) + " bytes<" + written_size(bytes.high + 1);
  return text;
}

Params normalized(Params params, Bytes bytes) {
  if (bytes > 0 && params.segment >= bytes) params.segment = 0;
  if (params.segment == 0) params.depth = Params{}.depth;
  return params;
}

bool serves(const Candidate& candidate, const Call& call) {
  if (!candidate.algorithm) return true;
  if (candidate.params.copy != Copy::staged && call.kernel_copy == KernelCopy::refused) return false;
  return unsuitable(*candidate.algorithm, call.function, call.shape, call.commutative, candidate.params).empty();
}

std::vector<Candidate> candidates(const Rules& rules, const Call& call, std::size_t most) {
  return Finder(rules, call, most).find();
}

}  // namespace stretto::learn
