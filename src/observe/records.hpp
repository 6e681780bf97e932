// SPDX-License-Identifier: BSD-3-Clause
//
// What STRETTO_PROFILE counts: calls, bytes and time, by communicator, function, size and algorithm; and which calls of
// a kind are timed.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "execute/observer.hpp"
#include "mpi/mpi_header.hpp"
#include "observe/statistics.hpp"
#include "stretto/function.hpp"

namespace stretto::mpi::observe {

using execute::Nanoseconds;

struct Key {
  Function function;
  std::uint8_t size_class;     ///< bits of the number of bytes: k has 2^(k-1) bytes and more, below 2^k
  const Algorithm* algorithm;  ///< null: the native library
  Passed why;                  ///< ... for this reason
  Form form = Form::blocking;

  auto operator<=>(const Key&) const = default;
};

constexpr std::uint8_t size_class(Bytes bytes) {
  return static_cast<std::uint8_t>(std::bit_width(static_cast<std::uint64_t>(bytes < 0 ? 0 : bytes)));
}

struct Record {
  std::uint64_t calls = 0;
  std::uint64_t timed = 0;  ///< of `calls`: the others are taken to be like them
  Bytes bytes = 0;
  Nanoseconds time = 0;
  Nanoseconds waiting = 0;  ///< of a blocking call, for other ranks
  // Of other calls: `time` in what posts them and in waits and tests, how long they were under way, and how much of
  // that the program was in neither.
  Nanoseconds posting = 0, completing = 0;
  Nanoseconds under_way = 0, overlapped = 0;

  Record& operator+=(const Record& other);
};

namespace detail {
[[gnu::tls_model("initial-exec")]] extern constinit thread_local execute::Observer observer;
}  // namespace detail

/// What operations tell of this thread's calls.
inline execute::Observer& observer() { return detail::observer; }

/// Calls can be shorter than two looks at the clock take: of those of a kind only some are looked at closely, so that
/// this costs a hundredth of their time, and each stands for those since the last one. What comes after the moment when
/// a call yields its core is always seen, so that no long wait is missed or stands for others.
class Sampled {
 public:
  Sampled() = default;
  /// Of calls that are added to `record`, which outlives this as `numbers` do: ranks in the world. `bytes` of each, or
  /// 0 if somebody else adds them.
  Sampled(Record& record, const std::vector<Rank>& numbers, Function function, Bytes bytes, const Algorithm& algorithm,
          bool always);

  explicit operator bool() const { return record_ != nullptr; }
  /// Call number `call` (from 1 on) begins.
  void begin(std::uint64_t call) {
    if (call >= next_) [[unlikely]]
      look(call);
  }
  /// The same, of one of so many bytes that began at `began` and has been looked at until now.
  void goes_on(std::uint64_t call, Nanoseconds began, Bytes bytes);
  void end(std::uint64_t call) {
    if (observer().touched()) [[unlikely]]
      note(call);
  }
  /// No more than these `calls`.
  void finish(std::uint64_t calls);

 private:
  void look(std::uint64_t call);
  void note(std::uint64_t call);
  void take(Nanoseconds time, Nanoseconds waiting, Nanoseconds n);
  std::uint64_t pause();

  Record* record_ = nullptr;
  const std::vector<Rank>* numbers_ = nullptr;
  Bytes bytes_ = 0;
  Function function_{};
  std::uint16_t algorithm_ = 0;
  bool always_ = false;
  std::uint32_t random_ = 1;
  std::uint64_t next_ = 1, now_ = 0, last_ = 0;  // calls that are looked at
  Nanoseconds begin_ = 0;
  Bytes bytes_now_ = 0;
  Nanoseconds time_ = 0, waiting_ = 0;  // of one, on average lately
};

using Table = std::map<Key, Record>;

/// Calls of a kind whose plan is not cached.
struct ServedCalls {
  std::uint64_t calls = 0;  ///< not yet in the record
  Record* record;
  Sampled sampled;
};

/// Of one communicator: used by one thread at a time, as that is. What it holds goes to ledger() in the end.
class Records {
 public:
  explicit Records(MPI_Comm comm);
  ~Records();
  Records& operator=(Records&&) = delete;

  Record& of(const Key& key) { return table_[key]; }
  ServedCalls& served(const Key& key, bool always);
  /// Of a call that is not blocking: in any thread.
  void add(const Key& key, const Record& record);
  const std::vector<Rank>& world_ranks() const { return world_ranks_; }
  /// What it holds is nobody's.
  void drop() { table_.clear(); }

 private:
  MPI_Comm comm_;
  std::string name_;
  std::vector<Rank> world_ranks_;
  Table table_;
  std::map<Key, ServedCalls> served_;
  Table pending_;                      // of calls that are not blocking
  Table::value_type* last_ = nullptr;  // of these: programs repeat their calls
};

/// When the first of all records was made, and so the first collective called; 0: never.
Nanoseconds first_use();

/// Communicators of the same name and the same ranks.
struct Group {
  std::uint64_t communicators = 0;
  Table table;
};

/// By name and ranks of the world ("0-3,8", "itself").
using Ledger = std::map<std::pair<std::string, std::string>, Group>;

/// Of the communicators that are freed: all of them, after free_communicators().
const Ledger& ledger();

}  // namespace stretto::mpi::observe
