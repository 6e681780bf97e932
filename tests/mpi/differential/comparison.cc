// SPDX-License-Identifier: BSD-3-Clause
#include "comparison.hpp"

#include <algorithm>
#include <cstdio>

#include "stretto/algorithm.hpp"

namespace stretto::differential {
namespace {

std::vector<Area> areas_of(const Side& side) {
  std::vector<Area> areas;
  if (!side.significant) return areas;
  for (std::size_t i = 0; i < side.counts.size(); ++i) areas.push_back({side.model(i), side.place(i), side.counts[i]});
  return areas;
}

bool has_algorithm(const Form& form) {
  return std::ranges::any_of(all_algorithms(),
                             [&](const Algorithm* a) { return a->collective == facts(form.function).collective; });
}

}  // namespace

/// The values that `from` sends to `to`, or to all.
std::uint64_t Comparison::stream(const Plan& plan, int from, int to) const {
  const auto ranks = static_cast<std::uint64_t>(from) * 256 + static_cast<std::uint64_t>(to);
  return mix(options_.seed + mix(static_cast<std::uint64_t>(plan.number) * 65536 + ranks));
}

Buffer Comparison::send_buffer(const Plan& plan) const {
  Buffer buffer(areas_of(plan.send), plan.send_offset);
  const bool one_each = plan.form->send.part_for_each_rank && !plan.form->reduces();
  for (std::size_t i = 0; i < buffer.areas(); ++i)
    buffer.fill(i, plan.numbers, stream(plan, plan.member.rank, one_each ? static_cast<int>(i) : 0));
  return buffer;
}

Buffer Comparison::receive_buffer(const Plan& plan) const {
  const int me = plan.member.rank;
  if (plan.form->reduces()) {
    if (!plan.takes_part(plan.form->receive.who)) return Buffer({}, plan.receive_offset);
    const int own = plan.own_count();
    const int all = plan.in_place ? plan.whole_count() : own;
    Buffer buffer({{plan.receive.models[0], 0, all}}, plan.receive_offset);
    if (plan.in_place) buffer.fill(0, plan.numbers, stream(plan, me));
    return buffer;
  }
  Buffer buffer(areas_of(plan.receive), plan.receive_offset);
  if (plan.form->function == Function::bcast && plan.is_root()) buffer.fill(0, plan.numbers, stream(plan, me));
  if (!plan.in_place || plan.form->keeps_own_part()) return buffer;
  for (std::size_t i = 0; i < buffer.areas(); ++i)
    if (plan.form->pairwise())
      buffer.fill(i, plan.numbers, stream(plan, me, static_cast<int>(i)));
    else if (static_cast<int>(i) == me)
      buffer.fill(i, plan.numbers, stream(plan, me));
  return buffer;
}

void Comparison::compute_move(const Plan& plan, Buffer& expected) const {
  const Form& form = *plan.form;
  const int to = form.send.part_for_each_rank ? plan.member.rank : 0;
  for (std::size_t i = 0; i < expected.areas(); ++i)
    expected.fill(i, plan.numbers, stream(plan, form.receive.part_for_each_rank ? static_cast<int>(i) : plan.root, to));
}

void Comparison::compute_reduction(const Plan& plan, Buffer& expected) const {
  int last = plan.member.ranks - 1;
  if (plan.form->over == Over::up_to_me) last = plan.member.rank;
  if (plan.form->over == Over::before_me) last = plan.member.rank - 1;
  if (last < 0 || expected.areas() == 0) return;
  const int n = plan.own_count();
  const int first = plan.count_before();
  const ModelPointer& model = plan.receive.models[0];
  expected.fill(0, n, plan.numbers, stream(plan, last), first);
  Buffer operand({{model, 0, n}}, 0);
  for (int rank = last - 1; rank >= 0; --rank) {
    operand.fill(0, n, plan.numbers, stream(plan, rank), first);
    plan.op->combine(operand.address(), expected.address(), n, model->type());
  }
}

/// Where there is a native result it is compared as well: it must be clear who is wrong.
void Comparison::compute(const Plan& plan, Buffer& expected) {
  Buffer computed = receive_buffer(plan);
  if (plan.op)
    compute_reduction(plan, computed);
  else
    compute_move(plan, computed);
  if (!plan.native_trusted) {
    if (plan.member.rank == 0) ++computed_;
  } else if (const auto wrong = expected.difference(computed)) {
    ++native_wrong_;
    if (native_wrong_ == 1 || options_.verbose)
      std::fprintf(stderr, "native result: %s: %s\n", plan.text().c_str(), wrong->c_str());
  }
  expected = computed;
}

std::optional<std::string> Comparison::run_stretto(const Plan& plan, const Library& stretto, Buffer& input,
                                                   Buffer& output) {
  const int code = plan.large ? call(stretto.large_functions, plan, input.address(), output.address())
                              : call(stretto.functions, plan, input.address(), output.address());
  const std::string algorithm = stretto.last_algorithm();
  // One of its ranks counts a call.
  if (plan.member.rank == 0)
    ++served_[std::string(facts(plan.form->function).name) + '/' + algorithm.substr(algorithm.find('/') + 1)];
  if (options_.plant && !planted_ && 2 * plan.number >= options_.calls) planted_ = output.damage();
  if (code != MPI_SUCCESS) return "Stretto returned error " + std::to_string(code);
  return std::nullopt;
}

/// On all ranks, or some would wait in the native call for the others.
bool Comparison::all_trust_native(const Plan& plan) const {
  int mine = plan.native_trusted ? 1 : 0;
  int all = 0;
  native_.Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, plan.member.comm);
  return all == 1;
}

std::optional<std::string> Comparison::run(Plan plan, const Library& stretto) {
  plan.native_trusted = all_trust_native(plan);
  if (!plan.native_trusted && !has_algorithm(*plan.form)) return std::nullopt;  // Stretto would call the native one
  Buffer input = send_buffer(plan);
  const Buffer input_before = input;
  Buffer output = receive_buffer(plan);
  Buffer expected = output;
  if (plan.op) set_operand(*plan.receive.models[0]);
  const auto call_native = [&] {
    if (plan.native_trusted) call(native_, plan, input.address(), expected.address());
  };
  const bool native_first = plan.number % 2 == 0;
  if (native_first) call_native();
  auto wrong = run_stretto(plan, stretto, input, output);
  if (!native_first) call_native();
  compute(plan, expected);
  if (!wrong) wrong = output.difference(expected);
  if (!wrong)
    if ((wrong = input.change(input_before))) *wrong = "input buffer: " + *wrong;
  // The same call, as it is kept from the first time, in other memory.
  if (constexpr int every = 3; !wrong && plan.number % every == 0) {
    Buffer other_input = send_buffer(plan);
    Buffer other_output = receive_buffer(plan);
    wrong = run_stretto(plan, stretto, other_input, other_output);
    if (!wrong) wrong = other_output.difference(expected);
    if (wrong) *wrong = "when called again: " + *wrong;
  }
  if (wrong) {
    *wrong += "; served by " + std::string(stretto.last_algorithm());
    if (!stretto.settings.empty()) *wrong += " with " + stretto.settings;
  }
  return wrong;
}

}  // namespace stretto::differential
