// SPDX-License-Identifier: BSD-3-Clause
#include "comparison.hpp"

#include <algorithm>
#include <cstdio>

#include "difference.hpp"
#include "stretto/algorithm.hpp"

namespace stretto::differential {
namespace {

bool has_algorithm(const Form& form) {
  return std::ranges::any_of(all_algorithms(),
                             [&](const Algorithm* a) { return a->collective == facts(form.function).collective; });
}

/// Of half of the buffers, on each rank as it happens: some ranks' memory is shared then, and some is not.
bool in_allocated_memory(const Plan& plan, bool receives) {
  const auto call = 2 * static_cast<std::uint64_t>(plan.number) + (receives ? 1 : 0);
  return Random(mix(call) + static_cast<std::uint64_t>(plan.member.rank)).percent(50);
}

}  // namespace

bool settle(Plan& plan, const Run& run) {
  // On all ranks, or some would wait in the native call for the others.
  int mine = plan.native_trusted ? 1 : 0;
  int all = 0;
  run.native.Allreduce({}, &mine, &all, 1, MPI_INT, MPI_MIN, plan.member.comm);
  plan.native_trusted = all == 1;
  // Intel MPI's nonblocking calls would be made where it cannot be asked to move Stretto's on.
  const bool own_operator = plan.op && !plan.op->predefined;
  if (run.options.distrust && plan.kind != Kind::blocking && (own_operator || !plan.native_trusted)) {
    plan.kind = Kind::blocking;
    plan.starts = 1;
  }
  return plan.native_trusted || has_algorithm(*plan.form);  // else Stretto would call the native one
}

Comparison::Comparison(Plan plan, Run& run, const Library& stretto)
    : plan_(std::move(plan)),
      run_(run),
      stretto_(stretto),
      memory_(stretto, run.counts.shared),
      input_(in_allocated_memory(plan_, false) ? &memory_ : std::pmr::get_default_resource()),
      output_(in_allocated_memory(plan_, true) ? &memory_ : std::pmr::get_default_resource()),
      input_before_(std::pmr::get_default_resource()),
      expected_(std::pmr::get_default_resource()) {
  if (!plan_.native_trusted && plan_.member.rank == 0) ++run_.counts.computed;
}

const Buffer& Comparison::expected(int turn) {
  if (turn != turn_of_expected_) expected_ = run_.oracle.expected(plan_, turn);
  turn_of_expected_ = turn;
  return expected_;
}

/// Its result is compared as well: it must be clear who is wrong.
void Comparison::call_native() {
  if (!plan_.native_trusted) return;
  Buffer input = run_.oracle.send_buffer(plan_, 0);
  Buffer output = run_.oracle.receive_buffer(plan_, 0);
  bind(run_.native, plan_, input.address(), output.address())({});
  const auto wrong = output.difference(expected(0));
  if (!wrong) return;
  ++run_.counts.native_wrong;
  if (run_.counts.native_wrong == 1 || run_.options.verbose)
    std::fprintf(stderr, "native result: %s: %s\n", plan_.text().c_str(), wrong->c_str());
}

Call Comparison::bind_stretto() {
  if (plan_.large && has(stretto_.large_functions, plan_.form->function, plan_.kind))
    return bind(stretto_.large_functions, plan_, input_.address(), output_.address());
  return bind(stretto_.functions, plan_, input_.address(), output_.address());
}

void Comparison::initialize() {
  // These values count for nothing: a request may not take them before it is started.
  constexpr int before = -1;
  input_ = run_.oracle.send_buffer(plan_, before);
  output_ = run_.oracle.receive_buffer(plan_, before);
  call_ = bind_stretto();
  const int code = call_({plan_.kind, &request_});
  if (code != MPI_SUCCESS) fail("Stretto returned error " + std::to_string(code));
}

void Comparison::prepare() {
  ++turn_;
  input_.take(run_.oracle.send_buffer(plan_, turn_));
  output_.take(run_.oracle.receive_buffer(plan_, turn_));
  input_before_ = input_;
}

/// In other memory each time: what was kept from the last call may not name it.
void Comparison::call() {
  ++turn_;
  input_ = run_.oracle.send_buffer(plan_, turn_);
  output_ = run_.oracle.receive_buffer(plan_, turn_);
  input_before_ = input_;
  call_ = bind_stretto();
  const int code = call_({plan_.kind, &request_});
  started(stretto_.last_algorithm());
  if (code != MPI_SUCCESS) fail("Stretto returned error " + std::to_string(code));
}

void Comparison::started(const std::string& algorithm) {
  algorithm_ = algorithm;
  if (plan_.member.rank != 0) return;
  const std::string function = name_of(plan_.form->function, plan_.kind) + '/';
  const std::string name = algorithm.substr(algorithm.find('/') + 1);
  ++run_.counts.served[function + (name.starts_with(file_prefix) ? Counts::file : name)];
}

void Comparison::check() {
  const Options& options = run_.options;
  if (options.plant && !run_.planted && 2 * plan_.number >= options.calls) run_.planted = output_.damage();
  if (const auto wrong = output_.difference(expected(turn_))) fail(*wrong);
  if (const auto wrong = input_.change(input_before_)) fail("input buffer: " + *wrong);
}

void Comparison::fail(const std::string& what) const {
  std::string text = plan_.text() + "\ndifference: rank " + std::to_string(plan_.member.rank) + " of it: ";
  if (turn_ > 0) text += "when called again: ";
  text += what + "; served by " + algorithm_;
  if (!stretto_.settings.empty()) text += " with " + stretto_.settings;
  throw Difference{text};
}

}  // namespace stretto::differential
