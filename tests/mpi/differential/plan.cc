// SPDX-License-Identifier: BSD-3-Clause
#include "plan.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace stretto::differential {
namespace {

Bytes bytes_of(const Signature& signature) {
  Bytes bytes = 0;
  for (const Basic* b : signature) bytes += b->size;
  return bytes;
}

int random_count(Random& random, int ranks, int most) {
  static const std::vector<int> primes{11, 13, 31, 101, 257, 997, 1009, 4099};
  const int kind = random.below(1000);
  int count = 0;
  if (kind >= 80) count = 1;
  if (kind >= 200) count = random.between(2, 9);
  if (kind >= 500) count = std::max(0, ranks * random.between(1, 3) + random.between(-1, 1));
  if (kind >= 750) count = random.pick(primes);
  if (kind >= 900) count = random.between(1, 3000);
  if (kind >= 980) count = random.between(1, 30000);
  if (kind >= 997) count = most;
  return std::min(count, most);
}

/// A type of a signature, or of a part of it, and how many of them make one.
struct Choice {
  int of_one = 1;
  std::function<ModelPointer(int elements)> make;  // fit for so many elements
};

/// The draws do not depend on whether all counts are zero.
Choice choose(Random& random, const Signature& signature, bool nothing) {
  const Basic& basic = *signature[0];
  const bool empty = random.percent(30);
  const bool plain = random.percent(30);
  Random own(random.next());
  if (nothing && empty) return {1, [&basic](int) { return empty_model(basic); }};
  if (plain && is_uniform(signature))
    return {static_cast<int>(signature.size()), [&basic](int) { return plain_model(basic); }};
  return {1, [own, &signature](int elements) mutable { return random_model(own, signature, elements, false); }};
}

std::vector<int> scaled(std::vector<int> list, int factor) {
  for (int& n : list) n *= factor;
  return list;
}

/// `types` is the same on all ranks if they are to pass the same types; `places` differs.
Side one_type_side(const Form& form, const SideForm& side_form, const Signature& signature, std::vector<int> counts,
                   Random& types, Random& places) {
  Side side;
  side.significant = true;
  const bool nothing = std::all_of(counts.begin(), counts.end(), [](int n) { return n == 0; });
  const Choice choice = choose(types, signature, nothing);
  side.counts = scaled(std::move(counts), choice.of_one);
  side.displacements = form.displaced() && side_form.part_for_each_rank ? random_places(side.counts, places)
                                                                        : regular_places(side.counts);
  std::ptrdiff_t low = 0;
  std::ptrdiff_t high = 0;
  for (std::size_t i = 0; i < side.counts.size(); ++i) {
    low = std::min(low, side.displacements[i]);
    high = std::max(high, side.displacements[i] + side.counts[i]);
  }
  const ModelPointer model = choice.make(static_cast<int>(high - low));
  if (model->places().empty()) std::fill(side.counts.begin(), side.counts.end(), 3);
  side.models = {model};
  return side;
}

Side many_types_side(const std::vector<Signature>& signatures, const std::vector<int>& counts, bool rows,
                     Random& random) {
  Side side;
  side.significant = side.type_for_each_part = true;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Choice choice = choose(random, signatures[i], counts[i] == 0);
    const int elements = counts[i] * choice.of_one;
    side.models.push_back(rows ? row_model(*signatures[i][0], static_cast<int>(signatures[i].size()) / choice.of_one)
                               : choice.make(elements));
    side.counts.push_back(side.models.back()->places().empty() ? 3 : elements);
  }
  side.displacements = random_places(side.models, side.counts, random);
  return side;
}

std::string list_text(const std::vector<int>& counts) {
  std::string text;
  for (const int n : counts) text += (text.empty() ? "" : ":") + std::to_string(n);
  return text;
}

}  // namespace

std::string Side::text() const {
  if (!significant) return "nothing";
  if (counts.empty()) return "no parts";
  const bool alike = std::all_of(counts.begin(), counts.end(), [&](int n) { return n == counts[0]; });
  std::string text = alike ? std::to_string(counts[0]) : list_text(counts);
  if (counts.size() > 1) {
    text += " at ";
    for (const std::ptrdiff_t d : displacements) text += std::to_string(d) + ':';
    text.pop_back();
  }
  for (const ModelPointer& model : models) text += (models.size() > 1 ? "\n  x " : " x ") + model->text();
  return text;
}

std::string Plan::text() const {
  std::string text = "call " + std::to_string(number) + ": " + name_of(form->function, kind) +
                     (large ? " (large count)" : "") + " on communicator '" + member.text + "' of " +
                     std::to_string(member.ranks) + " ranks";
  if (form->rooted()) text += ", root " + std::to_string(root);
  text += ", send " + send.text() + ", receive " + receive.text();
  if (op) text += ", operator " + op->name;
  if (in_place) text += ", in place";
  if (starts != 1) text += ", " + std::to_string(starts) + " times";
  return text + ", offsets " + std::to_string(send_offset) + " and " + std::to_string(receive_offset) +
         (native_trusted ? "" : ", expected result computed by the test");
}

int Plan::parts(bool sends) const {
  if (!form->neighbourhood()) return member.ranks;
  const Neighbours& near = member.graph->of(member.rank);
  return static_cast<int>((sends ? near.destinations : near.sources).size());
}

Plan::Way Plan::way(bool sends, int part) const {
  if (!form->neighbourhood()) return sends ? Way{member.rank, part} : Way{part, member.rank};
  if (sends) return {member.rank, part};
  const Graph::Part source = member.graph->source(member.rank, part);
  return {source.rank, static_cast<int>(source.slot)};
}

int Plan::own_count() const { return receive.counts[static_cast<std::size_t>(member.rank) % receive.counts.size()]; }

int Plan::count_before() const {
  if (!form->has_parts()) return 0;
  if (receive.counts.size() == 1) return receive.counts[0] * member.rank;
  return std::accumulate(receive.counts.begin(), receive.counts.begin() + member.rank, 0);
}

int Plan::whole_count() const {
  if (receive.counts.size() == 1) return receive.counts[0] * (form->has_parts() ? member.ranks : 1);
  return std::accumulate(receive.counts.begin(), receive.counts.end(), 0);
}

int Planner::count_of(const Plan& plan, const Signature& signature, Random& random) const {
  const Bytes parts = plan.form->neighbourhood() ? std::max<Bytes>(plan.member.graph->slots(), 1)
                      : plan.form->has_parts()   ? plan.member.ranks
                                                 : 1;
  const Bytes most = options_.most_bytes / (bytes_of(signature) * parts);
  return random_count(random, plan.member.ranks, static_cast<int>(std::max<Bytes>(most, 1)));
}

bool Planner::native_can(const Model& model) const {
  if (options_.distrust && model.is_derived()) return false;
  return model.low(1) == 0 && model.high(1) <= model.extent();
}

bool Planner::native_can(const Form& form, const Side& side) const {
  const bool gathers = facts(form.function).collective == Collective::gather;
  return std::all_of(side.models.begin(), side.models.end(), [&](const ModelPointer& m) {
    // MPICH 5.0.2's scatter and Open MPI 5.0.11's allgatherv, for example, wait for a message if the count is not zero,
    // though the type is of no bytes. MPICH's gather takes a long message of pairs, or of
    // basic types of several sizes, for one of another type.
    if (m->places().empty() && form.has_parts()) return false;
    const bool mixed = std::any_of(m->places().begin(), m->places().end(), [&](auto& p) {
      return p.basic->group == Group::pair || p.basic->size != m->places()[0].basic->size;
    });
    return !(gathers && mixed) && native_can(*m);
  });
}

Plan Planner::plan(std::int64_t number, const Form& form, const Member& member, Random& random) const {
  Plan plan;
  plan.number = number;
  plan.member = member;
  plan.form = &form;
  plan.root = random.below(member.ranks);
  plan.large = random.percent(30);
  plan.in_place = random.percent(30) && plan.form->in_place != Who::nobody;
  plan.send_offset = random.below(4);
  plan.receive_offset = random.below(4);
  if (plan.form->reduces())
    plan_reduction(plan, random);
  else if (plan.form->receive.who != Who::nobody)
    plan_move(plan, random);
  plan.in_place = plan.in_place && plan.takes_part(plan.form->in_place);
  if (plan.in_place) (plan.form->keeps_own_part() ? plan.receive : plan.send).significant = false;
  return plan;
}

Signature Planner::signature_of(Random& random) const {
  Signature signature(static_cast<std::size_t>(random.between(1, 5)), &random.pick(basics_));
  if (random.percent(30))
    for (const Basic*& b : signature) b = &random.pick(basics_);
  return signature;
}

void Planner::plan_move(Plan& plan, Random& random) const {
  const Form& form = *plan.form;
  const int me = plan.member.rank;
  const int ranks = plan.member.ranks;
  const Signature signature = signature_of(random);
  const int base = count_of(plan, signature, random);
  const int columns = form.neighbourhood() ? std::max(static_cast<int>(plan.member.graph->slots()), 1) : ranks;
  const PartCounts counts(form, ranks, columns, plan.in_place, base, random);
  // Ranks may describe the same values by different types. Open MPI's own segments do not fit together then.
  const bool alike = form.type_for_each_part || random.percent(70);
  const bool rows = random.percent(50);  // types for each part that all native libraries can
  const std::uint64_t common = random.next();
  Random places(common + 1 + static_cast<std::uint64_t>(me));
  Random types(alike && !form.type_for_each_part ? common : places.next());
  const auto side = [&](const SideForm& side_form, bool sends) {
    if (!plan.takes_part(side_form.who)) return Side{};
    std::vector<int> own;
    std::vector<Signature> signatures;
    for (int i = 0; i < (side_form.part_for_each_rank ? plan.parts(sends) : 1); ++i) {
      auto [from, to] =
          side_form.part_for_each_rank ? plan.way(sends, i) : Plan::Way{me, form.neighbourhood() ? 0 : me};
      if (from == no_rank) from = me;  // it has arguments nevertheless
      own.push_back(counts.at(from, to));
      const int pair = plan.in_place ? std::min(from, to) * columns + std::max(from, to) : from * columns + to;
      Random its(common + 100 + static_cast<std::uint64_t>(pair));
      if (!form.type_for_each_part) continue;
      signatures.push_back(its.percent(50) ? signature : signature_of(its));
      if (rows) signatures.back().assign(signatures.back().size(), signatures.back()[0]);
    }
    if (form.type_for_each_part) return many_types_side(signatures, own, rows, types);
    const bool none = own.empty();
    if (none) own = {base};
    Side made = one_type_side(form, side_form, signature, own, types, places);
    if (!none) return made;
    // Open MPI 5.0.11 sends nothing where the call says that it receives parts of nothing.
    made.each = made.counts[0];
    made.counts.clear();
    made.displacements.clear();
    return made;
  };
  plan.send = side(form.send, true);
  plan.receive = side(form.receive, false);
  // Open MPI 5.0.11 does not look at the displacements of an alltoallw on one rank.
  const bool alone = form.type_for_each_part && ranks == 1;
  plan.native_trusted = alike && !alone && native_can(form, plan.send) && native_can(form, plan.receive);
}

Signature Planner::signature_of(const Operator& op, Random& random) const {
  const auto fits = [&](const Basic& b) {
    return !op.arithmetic || (b.group == Group::c_integer && (b.size == 4 || b.size == 8));
  };
  const auto one = [&] {
    const Basic* basic = nullptr;
    do basic = &random.pick(basics_);
    while (!fits(*basic));
    return basic;
  };
  Signature signature(static_cast<std::size_t>(op.length > 0 ? op.length : random.between(1, 5)), one());
  if (random.percent(30))
    for (const Basic*& b : signature) b = one();
  return signature;
}

ModelPointer Planner::operand_of(const Plan& plan, Signature signature, int elements, Random& random) const {
  // Such calls Stretto may leave to the native library. MPICH 5.0.2's writes past the end of a temporary buffer if the
  // type has holes.
  const bool row_only = plan.form->has_parts() && !plan.op->commutative;
  if (row_only) signature.assign(signature.size(), signature[0]->group == Group::pair ? &basics_[0] : signature[0]);
  const auto length = static_cast<int>(signature.size());
  if (length == 1 && (plan.op->predefined || row_only || random.percent(30))) return plain_model(*signature[0]);
  if (row_only || (is_uniform(signature) && random.percent(25))) return row_model(*signature[0], length);
  return random_model(random, signature, elements, true);
}

void Planner::plan_reduction(Plan& plan, Random& random) const {
  Signature signature;
  if (random.percent(60)) {
    const Basic* basic = nullptr;
    do basic = &random.pick(basics_);
    while (operators_.of(basic->group).empty());
    plan.op = &random.pick(operators_.of(basic->group));
    signature = {basic};
  } else {
    plan.op = &random.pick(operators_.users());
    signature = signature_of(*plan.op, random);
  }
  plan.numbers = plan.op->numbers;
  // MPICH 5.0.2 moves the result to the beginning with a memcpy that overlaps.
  const bool overlaps = plan.in_place && plan.form->irregular();
  if (overlaps && !plan.op->commutative) plan.in_place = false;  // may be left to the native library, as below
  const int base = count_of(plan, signature, random);
  const PartCounts counts(*plan.form, plan.member.ranks, plan.member.ranks, plan.in_place, base, random);
  Side& receive = plan.receive;
  receive.significant = true;
  for (int r = 0; r < (plan.form->irregular() ? plan.member.ranks : 1); ++r) receive.counts.push_back(counts.at(r, r));
  receive.displacements = regular_places(receive.counts);
  receive.models = {operand_of(plan, signature, plan.whole_count(), random)};
  plan.send = {true, false, receive.models, {plan.whole_count()}, {0}};
  plan.native_trusted = !overlaps && native_can(*plan.form, receive);
}

}  // namespace stretto::differential
