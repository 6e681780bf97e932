// SPDX-License-Identifier: BSD-3-Clause
//
// Which calls of a kind are timed, and what they stand for.
#pragma once

#include <cstdint>
#include <vector>

#include "execute/observer.hpp"
#include "stretto/algorithm.hpp"
#include "stretto/function.hpp"

namespace stretto::mpi::observe {

using execute::Nanoseconds;

struct Record;

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
  /// The same, of one that began at `began` and has been looked at until now.
  void goes_on(std::uint64_t call, Nanoseconds began);
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
  Nanoseconds time_ = 0, waiting_ = 0;  // of one, on average lately
};

}  // namespace stretto::mpi::observe
