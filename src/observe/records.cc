// SPDX-License-Identifier: BSD-3-Clause
#include "observe/records.hpp"

#include <atomic>
#include <mutex>

#include "mpi/native.hpp"
#include "mpi/queries.hpp"
#include "observe/pending.hpp"

namespace stretto::mpi::observe {
namespace {

std::mutex of_ledger;  // guards what follows; never destroyed, like all that a program may use at its very end
Ledger& all() {
  static auto& ledger = *new Ledger;
  return ledger;
}

std::atomic<Nanoseconds> first{0};

std::mutex of_pending;  // guards what calls that are not blocking add

/// "0-3,8"; ranks that the world does not have are question marks. A rank alone is "itself", for every rank has such
/// communicators.
std::string intervals(const std::vector<Rank>& ranks) {
  if (ranks.size() == 1) return "itself";
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[i] >= 0 && ranks[end] == ranks[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += ranks[i] < 0 ? "?" : std::to_string(ranks[i]);
    if (end > i + 1) text += '-' + std::to_string(ranks[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace

std::string_view name_of(Form form) {
  constexpr std::string_view names[] = {"blocking", "nonblocking", "persistent"};
  return names[static_cast<std::size_t>(form)];
}

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
  Group& group = all()[{name_, intervals(world_ranks_)}];
  ++group.communicators;
  for (const Table* table : {&table_, &pending_})
    for (const auto& [key, record] : *table) group.table[key] += record;
}

const Ledger& ledger() { return all(); }

}  // namespace stretto::mpi::observe
