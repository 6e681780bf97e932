// SPDX-License-Identifier: BSD-3-Clause
//
// Calls as STRETTO_PROFILE and STRETTO_TRACE see them. Nothing here is reached unless one of the two is set, but for
// the questions whether it is.
#pragma once

#include <vector>

#include "observe/records.hpp"

namespace stretto::mpi::observe {

/// A call from usable() on: it is looked at closely until it is known what becomes of it.
struct Call {
  Function function{};
  Records* records = nullptr;  ///< null: there is no such call
  Bytes bytes = 0;
  ServedCalls* served = nullptr;  ///< null: the native library's
  Passed why{};
  Nanoseconds begin = 0;
};

namespace detail {
[[gnu::tls_model("initial-exec")]] extern constinit thread_local Call call;
}  // namespace detail

void begin_call(Function function, Records* records, Bytes bytes, Nanoseconds begin);
inline void passed(Passed why) { detail::call.why = why; }
/// `always`: such calls do not tell by themselves when they wait long.
void served(const Algorithm& algorithm, bool always);
inline bool call_is_open() { return detail::call.records != nullptr; }
inline Bytes bytes_of_call() { return detail::call.bytes; }
void end_call();

/// Of all threads there have been.
std::vector<const execute::Timeline*> timelines();

/// What the events call an algorithm.
std::uint16_t number_of(const Algorithm& algorithm);
inline constexpr std::uint16_t no_algorithm = 0;  ///< the native library, or the ranks tell each other sizes
std::string_view name_of(std::uint16_t number);

}  // namespace stretto::mpi::observe
