// SPDX-License-Identifier: BSD-3-Clause
//
// What every transport must do. Each check is called by all ranks together and leaves nothing behind.
#pragma once

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include "execute/operation.hpp"
#include "support/test.hpp"
#include "transport/transport.hpp"

namespace stretto::test {

using transport::Outcome;
using transport::Ticket;
using transport::Transport;

struct Session {
  Transport& transport;
  Rank rank;
  Rank ranks;
  const transport::shm::Neighbours* node = nullptr;  // if there is any

  Rank next() const { return (rank + 1) % ranks; }
  Rank previous() const { return (rank + ranks - 1) % ranks; }
  execute::Paths paths() const {
    const bool one_node = node && std::ranges::count(node->connections, nullptr) == 1;
    return {one_node ? nullptr : &transport, node};
  }
};

using Message = std::vector<unsigned char>;

/// What `from` sends to `to` as message `number`: another pattern for every message.
inline Message pattern(Rank from, Rank to, int number, std::size_t bytes) {
  Message message(bytes);
  auto x = static_cast<std::uint32_t>(from * 7919 + to * 104729 + number * 1299709 + 1);
  for (unsigned char& byte : message) {
    x = x * 1664525 + 1013904223;
    byte = static_cast<unsigned char>(x >> 24);
  }
  return message;
}

/// Operations under way, with the memory that belongs to them.
class Exchange {
 public:
  explicit Exchange(const Session& session) : s_(session) {}

  Ticket send(Rank to, int channel, int number, std::size_t bytes) {
    Message& data = sent_.emplace_back(pattern(s_.rank, to, number, bytes));
    s_.transport.send(to, {.channel = channel}, bytes > 0 ? data.data() : nullptr, static_cast<Bytes>(bytes),
                      new_ticket());
    return last_;
  }

  Ticket receive(Rank from, int channel, int number, std::size_t bytes) {
    Arriving& arriving = arriving_.emplace_back(Arriving{from, number, Message(bytes + guard, 0xee)});
    s_.transport.receive(from, {.channel = channel}, bytes > 0 ? arriving.data.data() : nullptr,
                         static_cast<Bytes>(bytes), new_ticket());
    return last_;
  }

  /// Waits until `ticket` is back.
  void wait_for(Ticket ticket) {
    while (open_.contains(ticket)) wait();
  }
  /// Waits for everything, then looks at what arrived.
  void finish() {
    while (!open_.empty()) wait();
    for (const Arriving& a : arriving_) {
      const std::size_t bytes = a.data.size() - guard;
      Message expected = pattern(a.from, s_.rank, a.number, bytes);
      expected.resize(bytes + guard, 0xee);
      CHECK(a.data == expected);
    }
    arriving_.clear();
    sent_.clear();
  }
  bool open(Ticket ticket) const { return open_.contains(ticket); }
  /// One wait that may expire.
  Outcome wait(const Deadline& deadline = Deadline::in(std::chrono::seconds(60))) {
    std::vector<Ticket> done{mark};
    const Outcome outcome = s_.transport.wait(done, deadline);
    CHECK_EQ(done.at(0), mark);  // tickets are appended
    for (std::size_t i = 1; i < done.size(); ++i) CHECK_EQ(open_.erase(done[i]), 1);
    if (outcome == Outcome::ok && !open_.empty()) CHECK(done.size() > 1);
    if (outcome == Outcome::failed || (outcome == Outcome::expired && Deadline::Clock::now() > give_up_))
      throw std::runtime_error("nothing comes any more");
    return outcome;
  }

 private:
  static constexpr std::size_t guard = 16;
  static constexpr Ticket mark = 0xfffffffe;
  struct Arriving {
    Rank from;
    int number;
    Message data;
  };

  // Tickets of all magnitudes, in no order: a transport may read nothing into them.
  Ticket new_ticket() {
    last_ = count_ == 0 ? 0 : count_ * 2654435761u % 0x7fffffffu;
    ++count_;
    CHECK(open_.insert(last_).second);
    return last_;
  }

  const Session& s_;
  std::vector<Message> sent_;  // the messages' own memory does not move
  std::vector<Arriving> arriving_;
  std::set<Ticket> open_;
  Ticket count_ = 0;
  Ticket last_ = 0;
  Deadline::Clock::time_point give_up_ = Deadline::Clock::now() + std::chrono::seconds(50);
};

namespace conformance {

inline void nothing_posted(const Session& s) {
  std::vector<Ticket> done;
  CHECK_EQ(s.transport.wait(done, Deadline()), Outcome::ok);
  CHECK_EQ(s.transport.wait(done, Deadline::in(std::chrono::seconds(0))), Outcome::ok);
  CHECK(done.empty());
}

inline void order_within_a_tag(const Session& s) {
  Exchange x(s);
  for (int i = 0; i < 100; ++i) x.send(s.next(), 0, i, static_cast<std::size_t>(i % 7 * 50));
  for (int i = 0; i < 100; ++i) x.receive(s.previous(), 0, i, static_cast<std::size_t>(i % 7 * 50));
  x.finish();
}

/// Sends go round robin through the channels; receives are posted channel by channel, the last first.
inline void channels_are_independent(const Session& s) {
  constexpr int channels = 6;
  Exchange x(s);
  for (int i = 0; i < 20; ++i)
    for (int c = 0; c < channels; ++c) x.send(s.next(), c, i * channels + c, 64);
  for (int c = channels - 1; c >= 0; --c)
    for (int i = 0; i < 20; ++i) x.receive(s.previous(), c, i * channels + c, 64);
  x.finish();
}

/// A message that overtakes on another channel.
inline void a_channel_does_not_wait_for_another(const Session& s) {
  Exchange x(s);
  x.send(s.next(), 0, 0, 300000);
  x.send(s.next(), 63, 1, 10);
  x.wait_for(x.receive(s.previous(), 63, 1, 10));
  x.receive(s.previous(), 0, 0, 300000);
  x.finish();
}

inline void empty_messages(const Session& s) {
  const std::size_t sizes[] = {0, 5, 0, 0, 70000, 0};
  Exchange x(s);
  for (int i = 0; i < 6; ++i) x.receive(s.previous(), 1, i, sizes[i]);
  for (int i = 0; i < 6; ++i) x.send(s.next(), 1, i, sizes[i]);
  x.finish();
  for (int i = 0; i < 20; ++i) x.send(s.next(), 1, i, 0);
  for (int i = 0; i < 20; ++i) x.receive(s.previous(), 1, i, 0);
  x.finish();
}

inline void big_messages(const Session& s) {
  constexpr std::size_t bytes = (std::size_t{3} << 20) + 5;
  Exchange x(s);
  x.receive(s.previous(), 2, 0, bytes);
  x.send(s.next(), 2, 0, bytes);
  x.send(s.next(), 2, 1, bytes / 3);
  x.receive(s.previous(), 2, 1, bytes / 3);
  x.finish();
}

/// The sender begins only when it has heard that the receive is posted.
inline void receive_before_send(const Session& s) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{200000}}) {
    Exchange x(s);
    x.receive(s.previous(), 0, 0, bytes);
    x.send(s.previous(), 1, 1, 0);
    x.wait_for(x.receive(s.next(), 1, 1, 0));
    x.send(s.next(), 0, 0, bytes);
    x.finish();
  }
}

/// The receiver begins only when it has heard that the send is posted.
inline void send_before_receive(const Session& s) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{200000}}) {
    Exchange x(s);
    x.send(s.next(), 0, 0, bytes);
    x.send(s.next(), 1, 1, 0);
    x.wait_for(x.receive(s.previous(), 1, 1, 0));
    x.receive(s.previous(), 0, 0, bytes);
    x.finish();
  }
}

inline void many_outstanding(const Session& s) {
  Exchange x(s);
  for (int i = 0; i < 600; ++i) {
    x.receive(s.previous(), i % 5, i, static_cast<std::size_t>(i % 90));
    x.receive(s.next(), 5 + i % 5, 1000 + i, static_cast<std::size_t>(i % 30));
  }
  for (int i = 0; i < 600; ++i) {
    x.send(s.previous(), 5 + i % 5, 1000 + i, static_cast<std::size_t>(i % 30));
    x.send(s.next(), i % 5, i, static_cast<std::size_t>(i % 90));
  }
  x.finish();
}

/// What was sent may be overwritten as soon as the ticket is back.
inline void memory_comes_back_with_the_ticket(const Session& s) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{150000}}) {
    Message data = pattern(s.rank, s.next(), 0, bytes);
    Message arrived(bytes);
    s.transport.send(s.next(), {}, data.data(), static_cast<Bytes>(bytes), 1);
    bool received = false;
    s.transport.receive(s.previous(), {}, arrived.data(), static_cast<Bytes>(bytes), 2);
    for (int open = 2; open > 0;) {
      std::vector<Ticket> done;
      if (s.transport.wait(done, Deadline::in(std::chrono::seconds(60))) != Outcome::ok)
        throw std::runtime_error("nothing comes any more");
      for (const Ticket t : done) {
        --open;
        if (t == 1) std::fill(data.begin(), data.end(), static_cast<unsigned char>(0));
        if (t == 2) received = true;
      }
    }
    CHECK(received);
    CHECK(arrived == pattern(s.previous(), s.rank, 0, bytes));
  }
}

/// Every rank in turn waits in vain for the next one, which sends only after it has been told of the expiry.
inline void a_deadline_expires(const Session& s) {
  using std::chrono::milliseconds;
  for (Rank turn = 0; turn < s.ranks; ++turn) {
    Exchange x(s);
    if (s.rank == turn) {
      const Ticket awaited = x.receive(s.next(), 3, 0, 1000);
      const auto begin = Deadline::Clock::now();
      CHECK_EQ(x.wait(Deadline::in(milliseconds(10))), Outcome::expired);
      const auto waited = Deadline::Clock::now() - begin;
      CHECK(waited >= milliseconds(10) && waited < std::chrono::seconds(20));
      CHECK(x.open(awaited));
      x.send(s.next(), 4, 1, 0);
    }
    if (s.previous() == turn) {
      x.wait_for(x.receive(turn, 4, 1, 0));
      x.send(turn, 3, 0, 1000);
    }
    x.finish();
  }
}

inline void all_peers_at_once(const Session& s) {
  const auto bytes = [](Rank from, Rank to, int i) {
    return static_cast<std::size_t>((from * 31 + to * 17 + i) % 5 * 400);
  };
  Exchange x(s);
  for (int i = 0; i < 12; ++i)
    for (Rank shift = 1; shift < s.ranks; ++shift) {
      const Rank to = (s.rank + shift) % s.ranks;
      const Rank from = (s.rank + s.ranks - shift) % s.ranks;
      x.receive(from, i % 3, i, bytes(from, s.rank, i));
      x.send(to, i % 3, i, bytes(s.rank, to, i));
    }
  x.finish();
}

/// Rank 0 hears from all, who then hear from it: no rank has more than one peer but one has all.
inline void one_with_all(const Session& s) {
  Exchange x(s);
  if (s.rank == 0) {
    for (Rank r = 1; r < s.ranks; ++r) x.receive(r, 0, 0, 5000);
    x.finish();
    for (Rank r = 1; r < s.ranks; ++r) x.send(r, 0, 1, 5000);
  } else {
    x.send(0, 0, 0, 5000);
    x.receive(0, 0, 1, 5000);
  }
  x.finish();
}

struct Check {
  std::string_view name;
  void (*run)(const Session&);
  Rank least_ranks;
};

inline constexpr Check checks[] = {
    {"nothing_posted", nothing_posted, 1},
    {"order_within_a_tag", order_within_a_tag, 2},
    {"channels_are_independent", channels_are_independent, 2},
    {"a_channel_does_not_wait_for_another", a_channel_does_not_wait_for_another, 2},
    {"empty_messages", empty_messages, 2},
    {"big_messages", big_messages, 2},
    {"receive_before_send", receive_before_send, 2},
    {"send_before_receive", send_before_receive, 2},
    {"many_outstanding", many_outstanding, 2},
    {"memory_comes_back_with_the_ticket", memory_comes_back_with_the_ticket, 2},
    {"a_deadline_expires", a_deadline_expires, 2},
    {"all_peers_at_once", all_peers_at_once, 2},
    {"one_with_all", one_with_all, 2},
};

/// All checks, one after the other, on all ranks of the transport.
inline void run_checks(const Session& s) {
  for (const Check& check : checks)
    if (s.ranks >= check.least_ranks) check.run(s);
}

}  // namespace conformance
}  // namespace stretto::test
