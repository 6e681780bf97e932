// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "stretto/types.hpp"

namespace stretto::mpi {

/// How large the calls of a function have been, of which a rank knows its own part only. Now and then, at the same
/// calls on all ranks, they tell each other how large, and choose by that until they do again.
class SizeHint {
 public:
  /// Is the coming call one in which they do?
  bool due() const { return calls_ == next_; }
  void note(Bytes mine) {
    largest_ = std::max(largest_, mine);
    ++calls_;
  }

  /// Of my calls since all agreed.
  Bytes largest() const { return largest_; }
  /// What they agreed on.
  Bytes agreed() const { return agreed_; }
  /// In the call that was noted last.
  void agree(Bytes bytes) {
    // Nothing was agreed before the first call.
    const bool stay = calls_ > 1 && bytes <= longest_short && magnitude(bytes) == magnitude(agreed_);
    agreed_ = bytes;
    largest_ = 0;
    const Bytes calls = std::clamp<Bytes>(between / std::max<Bytes>(agreed_, 1), 1, stay ? rarest_if_short : rarest);
    next_ = calls_ - 1 + static_cast<std::uint64_t>(calls);
  }

 private:
  static int magnitude(Bytes bytes) { return std::bit_width(static_cast<std::uint64_t>(bytes)); }

  // The larger the calls, the less it matters what telling takes: once in so many bytes, or in so many calls. In more
  // if short calls stay as large as they were: telling takes as long as one of them.
  static constexpr Bytes between = Bytes{1} << 20;
  static constexpr Bytes rarest = 16, rarest_if_short = 64;
  static constexpr Bytes longest_short = 4096;

  std::uint64_t calls_ = 0, next_ = 0;
  Bytes largest_ = 0, agreed_ = 0;
};

}  // namespace stretto::mpi
