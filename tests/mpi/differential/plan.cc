// SPDX-License-Identifier: BSD-3-Clause
#include "plan.hpp"

#include <algorithm>

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
  if (kind >= 180) count = random.between(2, 9);
  if (kind >= 380) count = std::max(0, ranks * random.between(1, 3) + random.between(-1, 1));
  if (kind >= 580) count = random.pick(primes);
  if (kind >= 780) count = random.between(1, 3000);
  if (kind >= 930) count = random.between(1, 30000);
  if (kind >= 992) count = most;
  return std::min(count, most);
}

/// A type of `signature`, or of a part of it, and how many of them make `count` signatures.
std::pair<ModelPointer, int> side(Random& random, const Signature& signature, int count, int blocks) {
  const Basic& basic = *signature[0];
  if (count == 0 && random.percent(30)) return {empty_model(basic), 3};
  const bool uniform = std::all_of(signature.begin(), signature.end(), [&](const Basic* b) { return b == &basic; });
  if (uniform && random.percent(30)) return {plain_model(basic), count * static_cast<int>(signature.size())};
  return {random_model(random, signature, count * blocks, false), count};
}

}  // namespace

std::string Plan::text() const {
  std::string text = "call " + std::to_string(number) + ": " + std::string(facts(collective).name) +
                     (large ? " (large count)" : "") + " on communicator '" + member.text + "' of " +
                     std::to_string(member.ranks) + " ranks";
  if (facts(collective).rooted) text += ", root " + std::to_string(root);
  if (send) text += ", send " + std::to_string(send_count) + " x " + send->text();
  if (receive) text += ", receive " + std::to_string(receive_count) + " x " + receive->text();
  if (op) text += ", operator " + op->name;
  if (in_place) text += ", in place";
  return text + ", offsets " + std::to_string(send_offset) + " and " + std::to_string(receive_offset) +
         (native_trusted ? "" : ", expected result computed by the test");
}

int Planner::count_of(const Plan& plan, const Signature& signature, Random& random) const {
  const Bytes parts = facts(plan.collective).per_rank ? plan.member.ranks : 1;
  const Bytes most = options_.most_bytes / (bytes_of(signature) * parts);
  return random_count(random, plan.member.ranks, static_cast<int>(std::max<Bytes>(most, 1)));
}

bool Planner::native_can(const Model& model) const {
  if (options_.distrust && model.is_derived()) return false;
  return model.low(1) == 0 && model.high(1) <= model.extent();
}

Plan Planner::plan(std::int64_t number, const Member& member, Random& random) const {
  Plan plan;
  plan.number = number;
  plan.member = member;
  plan.collective = random.pick(options_.collectives);
  plan.root = random.below(member.ranks);
  plan.large = random.percent(30);
  plan.in_place = random.percent(30);
  if (plan.collective == Collective::barrier) return plan;
  plan.send_offset = random.below(4);
  plan.receive_offset = random.below(4);
  if (facts(plan.collective).reduces)
    plan_reduction(plan, random);
  else
    plan_move(plan, random);
  return plan;
}

void Planner::plan_move(Plan& plan, Random& random) const {
  Signature signature(static_cast<std::size_t>(random.between(1, 5)), &random.pick(basics_));
  if (random.percent(30))
    for (const Basic*& b : signature) b = &random.pick(basics_);
  const int count = count_of(plan, signature, random);
  const bool allgather = plan.collective == Collective::allgather;
  plan.in_place = plan.in_place && allgather;
  // Ranks may describe the same values by different types. Open MPI's own segments do not fit together then.
  const bool alike = random.percent(70);
  Random own(random.next() + (alike ? 0 : static_cast<std::uint64_t>(plan.member.rank)));
  std::tie(plan.receive, plan.receive_count) = side(own, signature, count, allgather ? plan.member.ranks : 1);
  if (allgather && !plan.in_place) std::tie(plan.send, plan.send_count) = side(own, signature, count, 1);
  plan.native_trusted = alike && native_can(*plan.receive) && (!plan.send || native_can(*plan.send));
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
  const int count = count_of(plan, signature, random);
  const bool block_wise = plan.collective == Collective::reduce_scatter_block;
  // Such calls Stretto leaves to the native library. MPICH 5.0.2's writes past the end of a temporary buffer if the
  // type has holes.
  const bool row_only = block_wise && !plan.op->commutative;
  if (row_only) signature.assign(signature.size(), signature[0]->group == Group::pair ? &basics_[0] : signature[0]);
  const bool one_basic = std::all_of(signature.begin(), signature.end(), [&](auto* b) { return b == signature[0]; });
  if (signature.size() == 1 && (plan.op->predefined || row_only || random.percent(30)))
    plan.receive = plain_model(*signature[0]);
  else if (row_only || (one_basic && random.percent(25)))
    plan.receive = row_model(*signature[0], static_cast<int>(signature.size()));
  else
    plan.receive = random_model(random, signature, count * (block_wise ? plan.member.ranks : 1), true);
  plan.native_trusted = native_can(*plan.receive);
  plan.numbers = plan.op->numbers;
  plan.receive_count = count;
  if (plan.collective == Collective::reduce) plan.in_place = plan.in_place && plan.member.rank == plan.root;
  if (plan.in_place) return;
  plan.send = plan.receive;
  plan.send_count = block_wise ? count * plan.member.ranks : count;
}

}  // namespace stretto::differential
