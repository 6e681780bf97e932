// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>

#include "support/memory.hpp"

namespace stretto::transport::shm {

/// Writes parts of messages into a room, by stores through the cache or past it: whichever is faster here and now, for
/// parts of that size. Lines that another core has read must be taken away from it before they can be written, which on
/// some machines costs eight times as much as to go past the cache, and on others less; and where the cores of a
/// virtual machine lie changes from minute to minute. So now and then both are timed.
class Stores {
 public:
  template <typename Write>
  void write(Bytes bytes, Write write) {
    if (bytes < least) {
      write(false);
      return;
    }
    Size& size = sizes_[std::min<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes / least)), classes) - 1];
    const std::uint32_t turn = size.turn++;
    const bool probes = turn < first_probes || turn % probe_every == 0;  // of the other way
    const bool streaming = turn < first_probes ? turn % 2 == 1 : size.streaming() != probes;
    if (!probes && turn % time_every != 0) {
      write(streaming);
      return;
    }
    const auto begin = std::chrono::steady_clock::now();
    write(streaming);
    const std::chrono::duration<float> took = std::chrono::steady_clock::now() - begin;
    size.note(streaming, took.count() / static_cast<float>(bytes));
  }

 private:
  static constexpr Bytes least = 1024;
  static constexpr std::size_t classes = 8;  // sizes that differ by a factor of two
  static constexpr std::uint32_t first_probes = 8, probe_every = 256, time_every = 8;

  struct Size {
    std::uint32_t turn = 0;
    float seconds_per_byte[2] = {0, 0};  // through the cache, past it

    /// The reader then has to fetch it from memory, which is not seen here.
    bool streaming() const { return seconds_per_byte[1] < seconds_per_byte[0] * 0.6f; }
    void note(bool streams, float sample) {
      float& now = seconds_per_byte[streams ? 1 : 0];
      now = now == 0 ? sample : now + (std::min(sample, 8 * now) - now) / 4;  // an interrupt is no measurement
    }
  };
  std::array<Size, classes> sizes_;
};

}  // namespace stretto::transport::shm
