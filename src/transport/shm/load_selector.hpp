// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>

#include "stretto/types.hpp"
#include "transport/shm/probes.hpp"

namespace stretto::transport::shm {

/// How fragments of a staging ring are copied: by lines (copy_lines), or as memcpy does it, which may read each line
/// twice. Long ones go by memcpy unless it takes 1.15 times as long: whole calls gain more by it than these copies show
/// (AMD EPYC, memcpy by string instructions). Now and then both are timed. Of one thread.
class LoadSelector {
 public:
  /// `load(as_memcpy)` does it.
  template <typename Clock = std::chrono::steady_clock, typename Load>
  void run(Bytes bytes, Load load) {
    if (bytes < least) return load(false);
    const auto doublings = std::bit_width(static_cast<std::uint64_t>(bytes / least));
    Size& size = sizes_[std::min<std::size_t>(doublings, sizes_.size()) - 1];
    const bool as_memcpy = size.probes.second(size.memcpy < size.lines * 1.15f);
    if (!size.probes.probes() && size.probes.turn() % time_every != 0) return load(as_memcpy);
    float& now = as_memcpy ? size.memcpy : size.lines;
    now = updated(now, seconds_of<Clock>([&] { load(as_memcpy); }) / static_cast<float>(bytes));
  }

 private:
  static constexpr Bytes least = 16 << 10;
  static constexpr std::uint32_t time_every = 33;  // odd, for messages may alternate

  struct Size {
    Probes<255> probes;
    float lines = 0, memcpy = 0;  ///< seconds for a byte
  };
  std::array<Size, 8> sizes_;  // that differ by a factor of two
};

}  // namespace stretto::transport::shm
