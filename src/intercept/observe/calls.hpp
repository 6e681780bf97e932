// SPDX-License-Identifier: BSD-3-Clause
//
// Calls as STRETTO_PROFILE and STRETTO_TRACE see them. Nothing here is reached unless one of the two is set, but for
// the questions whether it is.
#pragma once

#include <vector>

#include "intercept/observe/records.hpp"

namespace stretto::intercept::observe {

/// A call from usable() on: it is looked at closely, whatever becomes of it.
struct Call {
  bool open = false;
  Function function{};
  Records* records = nullptr;
  Bytes bytes = 0;
  const Algorithm* algorithm = nullptr;
  Passed why{};
  Nanoseconds begin = 0;
};

namespace detail {
[[gnu::tls_model("initial-exec")]] extern constinit thread_local Call call;
[[gnu::tls_model("initial-exec")]] extern constinit thread_local execute::Observer observer;
}  // namespace detail

void begin_call(Function function, Records* records, Bytes bytes, Nanoseconds begin);
inline void passed(Passed why) { detail::call.why = why; }
void served(const Algorithm& algorithm);
inline bool call_is_open() { return detail::call.open; }
inline Bytes bytes_of_call() { return detail::call.bytes; }
void end_call();

/// What the engine tells of this thread's calls.
inline execute::Observer& observer() { return detail::observer; }

/// Of all threads there have been.
std::vector<const execute::Timeline*> timelines();

/// What the events call an algorithm.
std::uint16_t number_of(const Algorithm& algorithm);
inline constexpr std::uint16_t no_algorithm = 0;  ///< the native library, or the ranks tell each other sizes
std::string_view name_of(std::uint16_t number);

/// Calls that are replayed can be shorter than two looks at the clock take: only some of them are looked at closely,
/// so that this costs a hundredth of their time, and each stands for those since the last one. What comes after the
/// moment when a call gives its core away is always seen, so that no long wait is missed or stands for others.
class Sampled {
 public:
  Sampled() = default;
  Sampled(Records& records, Function function, Bytes bytes, const Algorithm& algorithm, bool always);

  explicit operator bool() const { return record_ != nullptr; }
  /// Call number `call` (from 1 on) begins.
  void begin(std::uint64_t call) {
    if (call >= next_) [[unlikely]]
      look(call);
  }
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
  std::uint16_t algorithm_ = no_algorithm;
  bool always_ = false;
  std::uint32_t random_ = 1;
  std::uint64_t next_ = 1, now_ = 0, last_ = 0;  // calls that are looked at
  Nanoseconds begin_ = 0;
  Nanoseconds time_ = 0, waiting_ = 0;  // of one, on average lately
};

}  // namespace stretto::intercept::observe
