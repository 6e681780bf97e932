// SPDX-License-Identifier: BSD-3-Clause
#include "batch.hpp"

#include <algorithm>

#include "difference.hpp"

namespace stretto::differential {
namespace {

void expect_success(int code, const char* function) {
  if (code != MPI_SUCCESS) throw Difference{std::string(function) + " returned error " + std::to_string(code)};
}

bool is_persistent(const Comparison& call) { return call.plan().kind == Kind::persistent; }

}  // namespace

Batch::Batch(std::vector<Plan> plans, Run& run, const Library& stretto, const Member& world, Random common)
    : stretto_(stretto),
      own_(common.next() + static_cast<std::uint64_t>(world.rank)) {
  for (Plan& plan : plans) {
    if (!settle(plan, run)) continue;
    // On a communicator that is not set up, Stretto would hand a nonblocking call to the native library.
    if (!plan.native_trusted && plan.kind == Kind::nonblocking) stretto.functions.Barrier({}, plan.member.comm);
    calls_.emplace_back(std::move(plan), run, stretto);
  }
  std::vector<const Model*> operands;
  for (const Comparison& call : calls_)
    if (call.plan().op) operands.push_back(call.plan().receive.models[0].get());
  set_operands(std::move(operands));
  if (stretto.requests.Wait) send_messages(world, common);
}

/// Beside collectives, in a ring and to itself.
void Batch::send_messages(const Member& world, Random& common) {
  static const std::vector<int> sizes{1, 1000, 100000};
  if (const int bytes = common.pick(sizes); common.percent(10)) {
    const int next = (world.rank + 1) % world.ranks;
    const int last = (world.rank + world.ranks - 1) % world.ranks;
    messages_.emplace_back(world.comm, next, last, bytes, 3);
  }
  for (int tag = own_.percent(20) ? own_.between(1, 2) : 0; tag > 0; --tag)
    messages_.emplace_back(mpi::constants().self, 0, 0, own_.pick(sizes), tag);
}

void Batch::make() {
  // Before Stretto's, or after it.
  const auto call_native = [&](int when) {
    for (Comparison& call : calls_)
      if (call.plan().number % 2 == when) call.call_native();
  };
  call_native(0);
  int rounds = 1;
  for (const Comparison& call : calls_) rounds = std::max(rounds, call.plan().starts);
  for (int round = 1; round <= rounds; ++round) {
    start_all(round);
    complete(round);
  }
  call_native(1);
  for (Comparison& call : calls_) {
    if (calls_.size() > 1 && call.turns() > 0) call.check();  // nothing came late
    if (is_persistent(call)) release(call);
  }
}

/// No rank waits in a round for what another one starts in the next, whatever it waits for first.
void Batch::start_all(int round) {
  std::vector<Comparison*> later;
  for (Comparison& call : calls_) {
    if (is_persistent(call) && round == 1) call.initialize();
    if (call.plan().starts < round || call.turns() == round) continue;
    if (!is_persistent(call))
      call.call();
    else if (own_.percent(50))
      later.push_back(&call);
    else
      start(call);
    if (call.plan().kind == Kind::blocking) call.check();
  }
  start_together(std::move(later));
}

void Batch::start(Comparison& call) {
  call.prepare();
  expect_success(stretto_.requests.Start(&call.request()), "MPI_Start");
  call.started(stretto_.last_algorithm());
}

void Batch::start_together(std::vector<Comparison*> calls) {
  for (std::size_t i = calls.size(); i > 1; --i)
    std::swap(calls[i - 1], calls[static_cast<std::size_t>(own_.below(static_cast<int>(i)))]);
  while (!calls.empty()) {
    const int n = own_.between(1, static_cast<int>(calls.size()));
    const auto rest = calls.end() - n;
    if (!stretto_.requests.Startall || own_.percent(20)) {
      std::for_each(rest, calls.end(), [&](Comparison* call) { start(*call); });
    } else {
      std::vector<MPI_Request> requests;
      std::for_each(rest, calls.end(), [&](Comparison* call) {
        call->prepare();
        requests.push_back(call->request());
      });
      expect_success(stretto_.requests.Startall(n, requests.data()), "MPI_Startall");
      for (int i = 0; i < n; ++i) {
        rest[i]->request() = requests[static_cast<std::size_t>(i)];
        rest[i]->started(n == 1 ? stretto_.last_algorithm() : Counts::together);
      }
    }
    calls.erase(rest, calls.end());
  }
}

void Batch::complete(int round) {
  std::vector<Pending> pending;
  for (Comparison& call : calls_) {
    if (call.plan().kind == Kind::blocking) continue;
    const bool active = call.turns() == round;
    pending.push_back({&call.request(), active, is_persistent(call), call.may_be_native(), {}, [this, &call] {
                         return completed(call);
                       }});
  }
  if (round == 1)
    for (Message& message : messages_) message.add_to(pending);
  if (pending.empty()) return;
  std::vector<MPI_Request> nulls(static_cast<std::size_t>(own_.below(3)), mpi::constants().request_null);
  for (MPI_Request& null : nulls) pending.push_back({&null, false});
  differential::complete(stretto_.requests, std::move(pending), own_);
}

/// Is it under way again?
bool Batch::completed(Comparison& call) {
  call.check();
  if (!is_persistent(call) || own_.percent(70)) return false;
  const bool again = call.turns() < call.plan().starts;
  if (again)
    start(call);
  else
    release(call);
  return again;
}

void Batch::release(Comparison& call) {
  if (call.request() == mpi::constants().request_null) return;
  expect_success(stretto_.requests.Request_free(&call.request()), "MPI_Request_free");
  if (call.request() != mpi::constants().request_null)
    throw Difference{"MPI_Request_free leaves a handle that is not MPI_REQUEST_NULL"};
}

}  // namespace stretto::differential
