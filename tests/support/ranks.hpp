// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks as threads of the test, and a transport that reports completions in any order it likes.
#pragma once

#include <algorithm>
#include <exception>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/test.hpp"
#include "transport/threads/threads.hpp"

namespace stretto::test {

constexpr Bytes always_eager = Bytes{1} << 40;

/// Runs `body(transport, rank)` on a thread for each rank.
template <typename Body>
void on_threads(Rank ranks, Bytes eager, Body body) {
  transport::ThreadWorld world(ranks, eager);
  std::vector<std::thread> threads;
  for (Rank r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      transport::ThreadTransport transport(world, r);
      try {
        body(transport, r);
      } catch (const std::exception& e) {
        fail("rank", r, std::string("threw: ") + e.what());
      }
    });
  for (std::thread& t : threads) t.join();
}

/// Holds completed tickets back and hands them out in random order and number. Within the contract of a transport:
/// only the order within a tag is promised, and nothing about when completions are noticed.
class ShufflingTransport final : public transport::Transport {
 public:
  ShufflingTransport(transport::Transport& inner, std::uint32_t seed) : inner_(inner), random_(seed) {}

  void send(Rank peer, transport::Tag tag, const void* data, Bytes bytes, transport::Ticket ticket) override {
    inner_.send(peer, tag, data, bytes, ticket);
  }
  void receive(Rank peer, transport::Tag tag, void* data, Bytes bytes, transport::Ticket ticket) override {
    inner_.receive(peer, tag, data, bytes, ticket);
  }
  transport::Outcome wait(std::vector<transport::Ticket>& done, const Deadline& deadline) override {
    if (held_.empty()) {
      const auto outcome = inner_.wait(held_, deadline);
      if (outcome != transport::Outcome::ok) return outcome;
    }
    if (random_() % 4 == 0) {  // let a batch gather
      const auto outcome = inner_.wait(held_, Deadline::in(std::chrono::microseconds(100)));
      if (outcome == transport::Outcome::failed) return outcome;
    }
    std::shuffle(held_.begin(), held_.end(), random_);
    const std::size_t some = held_.empty() ? 0 : 1 + random_() % held_.size();
    done.insert(done.end(), held_.end() - static_cast<std::ptrdiff_t>(some), held_.end());
    held_.resize(held_.size() - some);
    return transport::Outcome::ok;
  }

  void abandon(std::uint32_t operation) override {
    std::erase_if(held_, [&](transport::Ticket t) { return transport::operation_of(t) == operation; });
    inner_.abandon(operation);
  }

 private:
  transport::Transport& inner_;
  std::minstd_rand random_;
  std::vector<transport::Ticket> held_;
};

}  // namespace stretto::test
