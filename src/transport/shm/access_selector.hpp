// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>

#include "support/memory.hpp"
#include "transport/shm/probes.hpp"

namespace stretto::transport::shm {

/// Fragments in a staging ring, written or read in one of two ways: the second is taken for those of a size if it takes
/// less than `percent` of the time of the first; with more than 100 it is preferred. One in `time_every` of the better
/// way is timed, which is odd, for messages may alternate. Where the cores of a virtual machine lie changes from minute
/// to minute, and with it what their caches do to each other. So now and then both are timed. Those of less than
/// `least` bytes go the first way.
template <Bytes least, int percent, std::uint32_t time_every>
class AccessSelector {
 public:
  /// `access(second)` does it.
  template <typename Access>
  void run(Bytes bytes, Access access) {
    run(bytes, false, access);
  }
  /// New pages are slow in either way, which says nothing of others.
  template <typename Access>
  void run(Bytes bytes, bool new_pages, Access access) {
    if (bytes < least || new_pages) {
      access(false);
      return;
    }
    Size& size = sizes_[std::min<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes / least)), classes) - 1];
    const bool second = size.probes.second(size.second());
    if (!size.probes.probes() && size.probes.turn() % time_every != 0) {
      access(second);
      return;
    }
    const auto begin = std::chrono::steady_clock::now();
    access(second);
    const std::chrono::duration<float> took = std::chrono::steady_clock::now() - begin;
    size.note(second, took.count() / static_cast<float>(bytes));
  }

 private:
  static constexpr std::size_t classes = 8;  // sizes that differ by a factor of two

  struct Size {
    Probes<255> probes;
    float seconds_per_byte[2] = {0, 0};

    bool second() const { return seconds_per_byte[1] * 100 < seconds_per_byte[0] * percent; }
    void note(bool is_second, float sample) {
      float& now = seconds_per_byte[is_second ? 1 : 0];
      now = updated(now, sample);
    }
  };
  std::array<Size, classes> sizes_;
};

/// Ordinary or non-temporal stores. An ordinary store to a cache line that another core has read needs a transfer of
/// its ownership, which on some machines costs eight times as much as a non-temporal store, on others less.
/// Non-temporal ones have to be much faster: the reader then fetches the data from memory, which is not timed here.
using StoreSelector = AccessSelector<1024, 60, 9>;

/// By lines (copy_lines) or as memcpy does it, which may read each line twice. Long fragments go by memcpy unless it
/// takes 1.15 times as long: whole calls gain more by it than these copies show (AMD EPYC, memcpy by string
/// instructions).
using LoadSelector = AccessSelector<16 << 10, 115, 33>;

/// Of one thread.
struct AccessSelectors {
  StoreSelector stores;
  LoadSelector loads;
};

}  // namespace stretto::transport::shm
