// SPDX-License-Identifier: BSD-3-Clause
#include "observe/records.hpp"

#include <atomic>
#include <mutex>

#include "mpi/native.hpp"
#include "mpi/queries.hpp"
#include "observe/pending.hpp"
#include "support/text.hpp"

namespace stretto::mpi::observe {
namespace {

std::mutex of_ledger;  // guards what follows; never destroyed, like all that a program may use at its very end
Ledger& all() {
  static auto& ledger = *new Ledger;
  return ledger;
}

std::atomic<Nanoseconds> first{0};

std::mutex of_pending;  // guards what calls that are not blocking add

}  // namespace

Record& Record::operator+=(const Record& other) {
  calls += other.calls;
  timed += other.timed;
  bytes += other.bytes;
  time += other.time;
  waiting += other.waiting;
  posting += other.posting;
  completing += other.completing;
  under_way += other.under_way;
  overlapped += other.overlapped;
  return *this;
}

Records::Records(MPI_Comm comm)
    : comm_(comm),
      name_(communicator_name(comm)),
      world_ranks_(translate(comm, constants().world)) {
  Nanoseconds never = 0;
  first.compare_exchange_strong(never, execute::now());
}

Nanoseconds first_use() { return first; }

ServedCalls& Records::served(const Key& key, bool always) {
  const auto found = served_.find(key);
  if (found != served_.end()) return found->second;
  Record& record = of(key);
  return served_.emplace(key, ServedCalls{0, &record, {record, world_ranks_, key.function, 0, *key.algorithm, always}})
      .first->second;
}

void Records::add(const Key& key, const Record& record) {
  const std::lock_guard lock(of_pending);
  if (!last_ || last_->first != key) last_ = &*pending_.try_emplace(key).first;
  last_->second += record;
}

Records::~Records() {
  for (auto& [key, served] : served_) served.sampled.finish(served.calls);
  forget_natives(*this);
  if (table_.empty() && pending_.empty()) return;
  if (name_.empty()) name_ = communicator_name(comm_);  // one with a topology is set up before it can have a name
  const std::lock_guard lock(of_ledger);
  // Every rank has communicators of itself alone.
  Group& group = all()[{name_, world_ranks_.size() == 1 ? "itself" : runs_of(world_ranks_)}];
  ++group.communicators;
  for (const Table* table : {&table_, &pending_})
    for (const auto& [key, record] : *table) group.table[key] += record;
}

const Ledger& ledger() { return all(); }

}  // namespace stretto::mpi::observe
