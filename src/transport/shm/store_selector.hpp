// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>

#include "support/memory.hpp"
#include "transport/shm/probes.hpp"

namespace stretto::transport::shm {

/// Writes fragments of messages into a staging ring, by ordinary or non-temporal stores, whichever is faster for
/// fragments of that size. An ordinary store to a cache line that another core has read needs a transfer of its
/// ownership. On some machines that costs eight times as much as a non-temporal store, on others less; and where the
/// cores of a virtual machine lie changes from minute to minute. So now and then both are timed.
class StoreSelector {
 public:
  /// Into new pages all stores are slow, which says nothing of others.
  template <typename Write>
  void write(Bytes bytes, bool new_pages, Write write) {
    if (bytes < least || new_pages) {
      write(false);
      return;
    }
    Size& size = sizes_[std::min<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes / least)), classes) - 1];
    const bool non_temporal = size.probes.second(size.non_temporal());
    if (!size.probes.probes() && size.probes.turn() % time_every != 0) {
      write(non_temporal);
      return;
    }
    const auto begin = std::chrono::steady_clock::now();
    write(non_temporal);
    const std::chrono::duration<float> took = std::chrono::steady_clock::now() - begin;
    size.note(non_temporal, took.count() / static_cast<float>(bytes));
  }

 private:
  static constexpr Bytes least = 1024;
  static constexpr std::size_t classes = 8;  // sizes that differ by a factor of two
  static constexpr std::uint32_t time_every = 8;

  struct Size {
    Probes<255> probes;
    float seconds_per_byte[2] = {0, 0};  // ordinary, non-temporal

    /// Only if it is much faster: the reader then has to fetch it from memory, which is not timed here.
    bool non_temporal() const { return seconds_per_byte[1] < seconds_per_byte[0] * 0.6f; }
    void note(bool is_non_temporal, float sample) {
      float& now = seconds_per_byte[is_non_temporal ? 1 : 0];
      now = updated(now, sample);
    }
  };
  std::array<Size, classes> sizes_;
};

}  // namespace stretto::transport::shm
