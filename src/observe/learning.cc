// SPDX-License-Identifier: BSD-3-Clause
#include "observe/learning.hpp"

#include <mutex>

#include "support/json.hpp"

namespace stretto::mpi::observe {
namespace {

using json::number;
using json::quoted;

std::mutex learning_mutex;

/// Guarded by `learning_mutex`; never destroyed, like all that a program may use at its very end.
LearnedClasses& mine() {
  static auto& classes = *new LearnedClasses;
  return classes;
}

/// What was found last counts; calls add up.
void add(LearnedClass& known, const LearnedClass& more) {
  known.form = more.form;
  known.settled = more.settled;
  known.choice = more.choice;
  known.spent += more.spent;
  for (const auto& [words, tried] : more.tried) {
    Tried& one = known.tried[words];
    if (tried.seconds > 0) one.seconds = tried.seconds;
    one.timed += tried.timed;
    one.calls += tried.calls;
  }
}

}  // namespace

void add_learned(const std::string& conditions, const LearnedClass& learned) {
  const std::lock_guard lock(learning_mutex);
  add(mine()[conditions], learned);
}

void put_learned(Packet& packet) {
  const std::lock_guard lock(learning_mutex);
  packet.put(mine().size());
  for (const auto& [conditions, learned] : mine()) {
    packet.put(conditions, learned.form, learned.settled, learned.choice, learned.spent, learned.tried.size());
    for (const auto& [words, tried] : learned.tried) packet.put(words, tried);
  }
}

void get_learned(Packet& packet, LearnedClasses& all) {
  for (auto classes = packet.get<std::size_t>(); classes > 0; --classes) {
    std::string conditions;
    LearnedClass learned;
    packet.get(conditions, learned.form, learned.settled, learned.choice, learned.spent);
    for (auto tried = packet.get<std::size_t>(); tried > 0; --tried) {
      const auto words = packet.get<std::string>();
      learned.tried[words] = packet.get<Tried>();
    }
    add(all[conditions], learned);
  }
}

std::string text_of(const std::string& conditions, const LearnedClass& learned) {
  std::string all;
  for (const auto& [words, tried] : learned.tried)
    all += std::string(all.empty() ? "" : ",") + "{\"choice\":" + quoted(words) +
           ",\"seconds\":" + (tried.seconds > 0 ? number(tried.seconds) : "null") +
           ",\"timed\":" + std::to_string(tried.timed) + ",\"calls\":" + std::to_string(tried.calls) + '}';
  return "{\"class\":" + quoted(conditions) + ",\"form\":" + quoted(learned.form) +
         ",\"choice\":" + quoted(learned.choice) + ",\"settled\":" + (learned.settled ? "true" : "false") +
         ",\"spent_seconds\":" + number(learned.spent) + ",\"tried\":[" + all + "]}";
}

}  // namespace stretto::mpi::observe
