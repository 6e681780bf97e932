// SPDX-License-Identifier: BSD-3-Clause
#include "observe/records.hpp"

#include <mutex>

#include "mpi/native.hpp"
#include "mpi/translate.hpp"

namespace stretto::intercept::observe {
namespace {

std::mutex of_ledger;  // guards what follows; never destroyed, like all that a program may use at its very end
Ledger& all() {
  static auto& ledger = *new Ledger;
  return ledger;
}

std::string program_name_of(MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME + 1] = {};
  int length = 0;
  native().Comm_get_name(comm, name, &length);
  return name;
}

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

Record& Record::operator+=(const Record& other) {
  calls += other.calls;
  timed += other.timed;
  bytes += other.bytes;
  time += other.time;
  waiting += other.waiting;
  return *this;
}

Records::Records(MPI_Comm comm) : name_(program_name_of(comm)), world_ranks_(translate(comm, constants().world)) {}

ServedCalls& Records::served(const Key& key, bool always) {
  const auto found = served_.find(key);
  if (found != served_.end()) return found->second;
  Record& record = of(key);
  return served_.emplace(key, ServedCalls{0, &record, {record, world_ranks_, key.function, 0, *key.algorithm, always}})
      .first->second;
}

Records::~Records() {
  for (auto& [key, served] : served_) served.sampled.finish(served.calls);
  if (table_.empty()) return;
  const std::lock_guard lock(of_ledger);
  Group& group = all()[{name_, intervals(world_ranks_)}];
  ++group.communicators;
  for (const auto& [key, record] : table_) group.table[key] += record;
}

const Ledger& ledger() { return all(); }

}  // namespace stretto::intercept::observe
