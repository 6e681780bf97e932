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
    Size& size = sizes_[class_of(bytes)];
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

  /// For a byte of fragments like this one, the second way; 0: not known.
  float seconds_of_second(Bytes bytes) const { return sizes_[class_of(std::max(bytes, least))].seconds_per_byte[1]; }
  /// Has the first way taken so many times as long?
  bool is_slower(Bytes bytes, float times) const {
    const float second = seconds_of_second(bytes);
    return second > 0 && sizes_[class_of(std::max(bytes, least))].seconds_per_byte[0] > times * second;
  }

 private:
  static constexpr std::size_t classes = 8;  // sizes that differ by a factor of two

  std::size_t class_of(Bytes bytes) const {
    return std::min<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes / least)), classes) - 1;
  }

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

/// How messages are written into a staging ring. Mostly it begins again as soon as all has been read, for what was just
/// used is in the caches. But where it takes long to get a cache line back from the reader's, messages of some length
/// go around a ring that is longer than that cache, written by ordinary stores: they then come and go by the cache that
/// the cores share. On an AMD EPYC with 1 MiB of its own for each core, 48 KiB take 23 µs to write and read the one
/// way, 4.2 if written by non-temporal stores, and 2.4 the other way.
class Stores {
 public:
  /// Is a message to go around that takes so many bytes, and is written in fragments of so many?
  bool goes_around(Bytes bytes, Bytes fragment) const {
    return bytes >= least_around && bytes <= most_around && !in_vain_ && again_.is_slower(fragment, slow);
  }
  template <typename Access>
  void run(Bytes bytes, bool new_pages, bool around, Access access) {
    if (!around) {
      if (in_vain_) in_vain_ = (passed_ += bytes) < until_next_try;
      return again_.run(bytes, new_pages, access);
    }
    gone_ += bytes;
    if (new_pages || ++turn_ % time_every != 0) return access(false);
    around_ = updated(around_, seconds_of([&] { access(false); }) / static_cast<float>(bytes));
    if (gone_ < enough || around_ < worth_it * again_.seconds_of_second(bytes)) return;
    in_vain_ = true;
    passed_ = gone_ = 0;
    around_ = 0;
  }

 private:
  static constexpr Bytes least_around = 8 << 10;  // shorter ones would need a page of their own each
  static constexpr Bytes most_around = 512 << 10;
  static constexpr Bytes enough = 16 << 20;  // to judge by: the first times around find what the readers still hold
  static constexpr Bytes until_next_try = Bytes{2} << 30;
  // Ordinary stores, in times of non-temporal ones. Those that go around may take longer, for it spares the reader as
  // much.
  static constexpr float slow = 3;
  static constexpr float worth_it = 2.5;
  static constexpr std::uint32_t time_every = 9;

  StoreSelector again_;  ///< of messages where the ring begins again
  float around_ = 0;     ///< seconds for a byte
  std::uint32_t turn_ = 0;
  Bytes gone_ = 0;    ///< around, since the last time that it was in vain
  Bytes passed_ = 0;  ///< not gone since then
  bool in_vain_ = false;
};

/// By lines (copy_lines) or as memcpy does it, which may read each line twice. Long fragments go by memcpy unless it
/// takes 1.15 times as long: whole calls gain more by it than these copies show (AMD EPYC, memcpy by string
/// instructions).
using LoadSelector = AccessSelector<16 << 10, 115, 33>;

/// Of one thread.
struct AccessSelectors {
  Stores stores;
  LoadSelector loads;
};

}  // namespace stretto::transport::shm
