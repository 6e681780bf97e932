// SPDX-License-Identifier: BSD-3-Clause
//
// The unexpected-message buffer of a channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transport/shm/format.hpp"

namespace stretto::transport::shm {

/// Fragments whose operations have not asked for them yet. They may come by the hundred thousand, from a sender that is
/// far ahead, while another operation looks for its own at every poll: finding one takes the same time however many
/// there are.
class UnexpectedFragments {
 public:
  struct Entry {
    std::vector<std::byte> data;
    bool last;  ///< of its message
  };

  bool empty() const { return by_key_.empty(); }
  void add(std::uint64_t key, bool last, std::vector<std::byte> data) {
    by_key_[key].push_back({std::move(data), last});
  }
  /// The next one of an operation, where it stays until it is dropped; null if there is none.
  const Entry* find(std::uint64_t key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : &found->second.front();
  }
  /// What find() gave.
  void drop(std::uint64_t key) {
    const auto found = by_key_.find(key);
    found->second.pop_front();
    if (found->second.empty()) by_key_.erase(found);
  }
  void forget(std::uint32_t communicator) {
    std::erase_if(by_key_, [&](const auto& entry) { return communicator_of(entry.first) == communicator; });
  }

 private:
  std::unordered_map<std::uint64_t, std::list<Entry>> by_key_;  // by key, in the order they came; no queue is empty
};

}  // namespace stretto::transport::shm
