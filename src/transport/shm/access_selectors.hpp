// SPDX-License-Identifier: BSD-3-Clause
//
// How staging rings are written and read.
#pragma once

#include <algorithm>
#include <array>

#include "support/memory.hpp"
#include "transport/shm/costs.hpp"

namespace stretto::transport::shm {

/// How messages are written into a staging ring: by ordinary stores or by non-temporal ones into memory that was just
/// used, or by ordinary stores into memory that the caches of readers do not hold any more. Which is best depends on
/// how far one core is from the other, and where the cores of a virtual machine lie changes from minute to minute. What
/// is fast to write may be slow to read, so both ends time the same fragments. Of one thread.
class StoreSelector {
 public:
  /// Is a message that takes so many bytes, in fragments of so many, to go around a ring that is longer than a core's
  /// own cache? It then comes and goes by the cache that the cores share. On an AMD EPYC with 1 MiB of its own for each
  /// core, 48 KiB take 23 µs to write and read by ordinary stores into memory that was just used, for its lines must
  /// come back from the reader's core; 4.2 by non-temporal ones, and 2.4 around the ring.
  bool goes_around(Bytes bytes, Bytes fragment) {
    if (bytes < least_around || bytes > most_around) return false;
    Size& size = sizes_[fragment_class(fragment)];
    size.may_go_around = true;  // none is tried before
    return size.around;
  }

  /// Is it being found out whether messages of this size, in one fragment, are to go around?
  bool on_trial(Bytes bytes) const { return bytes <= most_around && on_trial(sizes_[fragment_class(bytes)]); }

  /// Writes a fragment by `write(storing)`. New pages are slow in any way, which says nothing of others. `receivers`:
  /// what the receiver, or one of them, has told; null: it is not to be asked.
  template <typename Clock = std::chrono::steady_clock, typename Write>
  Storing run(Bytes bytes, bool new_pages, bool around, const ReadingCosts* receivers, Write write) {
    if (bytes < least || new_pages) {
      const Storing storing{.typical = !new_pages};
      write(storing);
      return storing;
    }
    passed_ += bytes;
    Size& size = sizes_[fragment_class(bytes)];
    Storing storing = around ? next_around(size) : size.next();
    if (storing.timed == StoreMode::not_timed) {
      write(storing);
      return storing;
    }
    float& cost = size.of(size.writing, storing.timed);
    cost = updated(cost, seconds_of<Clock>([&] { write(storing); }) / static_cast<float>(bytes));
    if (receivers)
      size.note_reading(*receivers, bytes);
    else
      storing.timed = StoreMode::not_timed;
    if (is_time_to_change(size)) {
      size.around = !size.around;
      if (size.around) size.of(size.writing, StoreMode::around) = size.of(size.reading, StoreMode::around) = 0;
      size.since = passed_;
      size.probes = {};
    }
    return storing;
  }

 private:
  static constexpr Bytes least = 1 << 10;
  static constexpr Bytes least_around = 8 << 10;  // shorter ones would need a page of their own each
  static constexpr Bytes most_around = 512 << 10;
  static constexpr std::uint32_t time_every = 33;  // odd, for messages may alternate; costs transfers between cores
  static constexpr Bytes until_next_try = Bytes{1} << 30;

  using Costs = std::array<float, 3>;  // seconds for a byte, by the way; 0: not known

  /// Fragments of a size.
  struct Size {
    Probes<255> probes;  // of the first two ways
    Costs writing{}, reading{};
    bool may_go_around = false;  // some of them
    bool around = false;
    Bytes since = 0;          // passed_ when that was decided
    std::uint32_t turns = 0;  // around

    static float& of(Costs& costs, StoreMode mode) { return costs[static_cast<std::size_t>(mode) - 1]; }
    float cost(StoreMode mode) { return of(writing, mode) + of(reading, mode); }
    /// Of memory that was just used.
    float least_cost() { return std::min(cost(StoreMode::ordinary), cost(StoreMode::non_temporal)); }
    bool is_known(StoreMode mode) { return of(writing, mode) > 0 && of(reading, mode) > 0; }
    bool both_are_known() { return is_known(StoreMode::ordinary) && is_known(StoreMode::non_temporal); }
    /// If nothing is known of reading it has to be much faster: the reader then fetches the data from memory.
    bool non_temporal_is_better() {
      if (both_are_known()) return cost(StoreMode::non_temporal) < cost(StoreMode::ordinary);
      return of(writing, StoreMode::non_temporal) < 0.6f * of(writing, StoreMode::ordinary);
    }
    Storing next() {
      const bool non_temporal = probes.second(non_temporal_is_better());
      const bool timed = probes.probes() || probes.turn() % time_every == 0;
      const StoreMode mode = non_temporal ? StoreMode::non_temporal : StoreMode::ordinary;
      return {non_temporal, timed ? mode : StoreMode::not_timed, !probes.probes()};
    }
    /// Receivers may be nearer or farther than others, and know more or less.
    void note_reading(const ReadingCosts& receiver, Bytes bytes) {
      for (const StoreMode mode : {StoreMode::ordinary, StoreMode::non_temporal, StoreMode::around}) {
        const float cost = receiver.of(mode, bytes);
        float& mean = of(reading, mode);
        if (cost > 0) mean = mean == 0 ? cost : mean + (cost - mean) / 4;
      }
    }
  };

  Storing next_around(Size& size) const {
    const bool timed = ++size.turns % time_every == 0;
    return {false, timed ? StoreMode::around : StoreMode::not_timed, !on_trial(size)};
  }
  /// The first times around find what the readers still hold.
  bool on_trial(const Size& size) const { return size.around && passed_ - size.since < 8 * own_cache(); }

  /// Is it time to go around, or to stop that?
  bool is_time_to_change(Size& size) const {
    constexpr float clearly = 1.1f, worth_a_trial = 1.5f;
    if (on_trial(size)) return false;
    const bool long_ago = passed_ - size.since > until_next_try;
    const bool tried = size.is_known(StoreMode::around);
    if (size.around) return long_ago || (tried && size.cost(StoreMode::around) > size.least_cost());
    if (!size.may_go_around || !size.probes.settled() || !size.both_are_known()) return false;
    if (tried && size.least_cost() > clearly * size.cost(StoreMode::around)) return true;
    // At best it is written as fast as by non-temporal stores, and read as fast as what ordinary ones have written.
    const float at_best = size.of(size.writing, StoreMode::non_temporal) + size.of(size.reading, StoreMode::ordinary);
    return (!tried || long_ago) && size.least_cost() > worth_a_trial * at_best;
  }

  std::array<Size, fragment_classes> sizes_;
  Bytes passed_ = 0;
};

/// How fragments of a staging ring are copied: by lines (copy_lines), or as memcpy does it, which may read each line
/// twice. Long ones go by memcpy unless it takes 1.15 times as long: whole calls gain more by it than these copies show
/// (AMD EPYC, memcpy by string instructions). Now and then both are timed. Of one thread.
class LoadSelector {
 public:
  /// `load(as_memcpy)` does it.
  template <typename Clock = std::chrono::steady_clock, typename Load>
  void run(Bytes bytes, Load load) {
    if (bytes < least) return load(false);
    Size& size = sizes_[class_of(bytes, 2 * least, sizes_.size())];
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

/// Of one thread.
struct AccessSelectors {
  StoreSelector stores;
  LoadSelector loads;
};

}  // namespace stretto::transport::shm
