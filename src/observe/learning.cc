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

std::string seconds_or_null(double seconds) { return seconds > 0 ? number(seconds) : "null"; }

}  // namespace

void add_learned(const std::string& conditions, const LearnedClass& learned) {
  const std::lock_guard lock(learning_mutex);
  add(mine()[conditions], learned);
}

void put_learned(Packet& packet) {
  const std::lock_guard lock(learning_mutex);
  packet.put(mine().size());
  for (const auto& [conditions, learned] : mine()) {
    packet.put_text(conditions);
    packet.put_text(learned.form);
    packet.put(learned.settled);
    packet.put_text(learned.choice);
    packet.put(learned.spent);
    packet.put(learned.tried.size());
    for (const auto& [words, tried] : learned.tried) {
      packet.put_text(words);
      packet.put(tried);
    }
  }
}

void get_learned(Packet& packet, LearnedClasses& all) {
  for (auto classes = packet.get<std::size_t>(); classes > 0; --classes) {
    const std::string conditions = packet.get_text();
    LearnedClass learned;
    learned.form = packet.get_text();
    learned.settled = packet.get<bool>();
    learned.choice = packet.get_text();
    learned.spent = packet.get<double>();
    for (auto tried = packet.get<std::size_t>(); tried > 0; --tried) {
      const std::string words = packet.get_text();
      learned.tried[words] = packet.get<Tried>();
    }
    add(all[conditions], learned);
  }
}

std::string text_of(const std::string& conditions, const LearnedClass& learned) {
  std::string text = "{\"class\":" + quoted(conditions) + ",\"form\":" + quoted(learned.form) +
                     ",\"choice\":" + quoted(learned.choice) + ",\"settled\":" + (learned.settled ? "true" : "false") +
                     ",\"spent_seconds\":" + number(learned.spent) + ",\"tried\":[";
  bool first = true;
  for (const auto& [words, tried] : learned.tried) {
    text += std::string(first ? "" : ",") + "{\"choice\":" + quoted(words) +
            ",\"seconds\":" + seconds_or_null(tried.seconds) + ",\"timed\":" + std::to_string(tried.timed) +
            ",\"calls\":" + std::to_string(tried.calls) + '}';
    first = false;
  }
  return text + "]}";
}

}  // namespace stretto::mpi::observe
