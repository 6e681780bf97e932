// SPDX-License-Identifier: BSD-3-Clause
#include "oracle.hpp"

namespace stretto::differential {
namespace {

std::vector<Area> areas_of(const Side& side) {
  std::vector<Area> areas;
  if (!side.significant) return areas;
  for (std::size_t i = 0; i < side.counts.size(); ++i) areas.push_back({side.model(i), side.place(i), side.counts[i]});
  return areas;
}

}  // namespace

/// The values that `from` sends to `to`, or to all.
std::uint64_t Oracle::stream(const Plan& plan, int turn, int from, int to) const {
  const auto ranks = static_cast<std::uint64_t>(from) * 256 + static_cast<std::uint64_t>(to);
  const auto call = static_cast<std::uint64_t>(plan.number) + (static_cast<std::uint64_t>(turn) << 40);
  return mix(seed_ + mix(call * 65536 + ranks));
}

Buffer Oracle::send_buffer(const Plan& plan, int turn) const {
  Buffer buffer(areas_of(plan.send), plan.send_offset);
  const bool one_each = plan.form->send.part_for_each_rank && !plan.form->reduces();
  for (std::size_t i = 0; i < buffer.areas(); ++i)
    buffer.fill(i, plan.numbers, stream(plan, turn, plan.member.rank, one_each ? static_cast<int>(i) : 0));
  return buffer;
}

Buffer Oracle::receive_buffer(const Plan& plan, int turn) const {
  const int me = plan.member.rank;
  if (plan.form->reduces()) {
    if (!plan.takes_part(plan.form->receive.who)) return Buffer({}, plan.receive_offset);
    const int own = plan.own_count();
    const int all = plan.in_place ? plan.whole_count() : own;
    Buffer buffer({{plan.receive.models[0], 0, all}}, plan.receive_offset);
    if (plan.in_place) buffer.fill(0, plan.numbers, stream(plan, turn, me));
    return buffer;
  }
  Buffer buffer(areas_of(plan.receive), plan.receive_offset);
  if (plan.form->function == Function::bcast && plan.is_root()) buffer.fill(0, plan.numbers, stream(plan, turn, me));
  if (!plan.in_place || plan.form->keeps_own_part()) return buffer;
  for (std::size_t i = 0; i < buffer.areas(); ++i)
    if (plan.form->pairwise())
      buffer.fill(i, plan.numbers, stream(plan, turn, me, static_cast<int>(i)));
    else if (static_cast<int>(i) == me)
      buffer.fill(i, plan.numbers, stream(plan, turn, me));
  return buffer;
}

Buffer Oracle::expected(const Plan& plan, int turn) const {
  Buffer buffer = receive_buffer(plan, turn);
  if (plan.op)
    reduce(plan, turn, buffer);
  else
    move(plan, turn, buffer);
  return buffer;
}

void Oracle::move(const Plan& plan, int turn, Buffer& expected) const {
  const Form& form = *plan.form;
  for (std::size_t i = 0; i < expected.areas(); ++i) {
    const bool parts = form.receive.part_for_each_rank;
    const auto [from, to] = parts ? plan.way(false, static_cast<int>(i)) : Plan::Way{plan.root, plan.member.rank};
    if (from == no_rank) continue;  // nobody sends it
    expected.fill(i, plan.numbers, stream(plan, turn, from, form.send.part_for_each_rank ? to : 0));
  }
}

void Oracle::reduce(const Plan& plan, int turn, Buffer& expected) const {
  int last = plan.member.ranks - 1;
  if (plan.form->over == Over::up_to_me) last = plan.member.rank;
  if (plan.form->over == Over::before_me) last = plan.member.rank - 1;
  if (last < 0 || expected.areas() == 0) return;
  const int n = plan.own_count();
  const int first = plan.count_before();
  const ModelPointer& model = plan.receive.models[0];
  expected.fill(0, n, plan.numbers, stream(plan, turn, last), first);
  Buffer operand({{model, 0, n}}, 0);
  for (int rank = last - 1; rank >= 0; --rank) {
    operand.fill(0, n, plan.numbers, stream(plan, turn, rank), first);
    plan.op->combine(operand.address(), expected.address(), n, model->type());
  }
}

}  // namespace stretto::differential
