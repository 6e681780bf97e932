// SPDX-License-Identifier: BSD-3-Clause
//
// How messages are written into a staging ring: by ordinary stores or by non-temporal ones into memory that was just
// used, or by ordinary stores into memory that the caches of readers do not hold any more. Which is best depends on
// how far one core is from the other, and where the cores of a virtual machine lie changes from minute to minute. What
// is fast to write may be slow to read, so both ends time the same fragments.
#pragma once

#include <algorithm>
#include <array>

#include "support/memory.hpp"
#include "transport/shm/reading_costs.hpp"

namespace stretto::transport::shm {

/// Of one thread.
class StoreSelector {
 public:
  /// Is a message that takes so many bytes, in fragments of so many, to go around a ring that is longer than a core's
  /// own cache? It then comes and goes by the cache that the cores share. On an AMD EPYC with 1 MiB of its own for each
  /// core, 48 KiB take 23 µs to write and read by ordinary stores into memory that was just used, for its lines must
  /// come back from the reader's core; 4.2 by non-temporal ones, and 2.4 around the ring.
  bool goes_around(Bytes bytes, Bytes fragment) {
    if (bytes < least_around || bytes > most_around) return false;
    Size& size = sizes_[fragment_class(fragment)];
    size.may_go_around = true;
    return size.around;
  }

  /// Is it being found out whether fragments of this size are to go around?
  bool on_trial(Bytes fragment) const { return on_trial(sizes_[fragment_class(fragment)]); }

  /// Writes a fragment by `write(storing)`. New pages are slow in any way, which says nothing of others. `told`: by the
  /// receiver, or one of them; null: it is not to be asked.
  template <typename Write>
  Storing run(Bytes bytes, bool new_pages, bool around, const ReadingCosts* told, Write write) {
    if (bytes < least || new_pages) {
      const Storing storing{.typical = !new_pages};
      write(storing);
      return storing;
    }
    passed_ += bytes;
    Size& size = sizes_[fragment_class(bytes)];
    Storing storing = around ? next_around(size) : size.next();
    if (storing.timed == Stored::not_timed) {
      write(storing);
      return storing;
    }
    float& cost = size.of(size.writing, storing.timed);
    cost = updated(cost, seconds_of([&] { write(storing); }) / static_cast<float>(bytes));
    if (told)
      size.hear(*told, bytes);
    else
      storing.timed = Stored::not_timed;
    if (is_time_to_change(size)) {
      size.around = !size.around;
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
    Bytes since = 0;          // passed_
    std::uint32_t turns = 0;  // around

    static float& of(Costs& costs, Stored way) { return costs[static_cast<std::size_t>(way) - 1]; }
    float cost(Stored way) { return of(writing, way) + of(reading, way); }
    float cost_again() { return std::min(cost(Stored::ordinary), cost(Stored::non_temporal)); }
    /// If nothing is known of reading it has to be much faster: the reader then fetches the data from memory.
    bool non_temporal_is_better() {
      const bool known = of(reading, Stored::ordinary) > 0 && of(reading, Stored::non_temporal) > 0;
      return cost(Stored::non_temporal) < cost(Stored::ordinary) * (known ? 1 : 0.6f);
    }
    Storing next() {
      const bool non_temporal = probes.second(non_temporal_is_better());
      const bool timed = probes.probes() || probes.turn() % time_every == 0;
      const Stored way = non_temporal ? Stored::non_temporal : Stored::ordinary;
      return {non_temporal, timed ? way : Stored::not_timed, !probes.probes()};
    }
    void hear(const ReadingCosts& told, Bytes bytes) {
      for (const Stored way : {Stored::ordinary, Stored::non_temporal, Stored::around})
        of(reading, way) = told.of(way, bytes);
    }
  };

  Storing next_around(Size& size) const {
    const bool timed = ++size.turns % time_every == 0;
    return {false, timed ? Stored::around : Stored::not_timed, !on_trial(size)};
  }
  /// The first times around find what the readers still hold.
  bool on_trial(const Size& size) const { return size.around && passed_ - size.since < 8 * own_cache(); }

  /// Is it time to go around, or to stop that?
  bool is_time_to_change(Size& size) const {
    if (on_trial(size)) return false;
    const bool long_ago = passed_ - size.since > until_next_try;
    if (size.around) return long_ago || size.cost(Stored::around) > size.cost_again();
    if (!size.may_go_around || !size.probes.settled()) return false;
    constexpr float clearly = 1.1f, worth_a_trial = 1.5f;
    if (!long_ago && size.of(size.writing, Stored::around) > 0)
      return size.cost_again() > clearly * size.cost(Stored::around);
    // At best it is written as fast as by non-temporal stores, and read as fast as what ordinary ones have written.
    const float at_best = size.of(size.writing, Stored::non_temporal) + size.of(size.reading, Stored::ordinary);
    return size.cost_again() > worth_a_trial * at_best;
  }

  std::array<Size, fragment_classes> sizes_;
  Bytes passed_ = 0;
};

}  // namespace stretto::transport::shm
