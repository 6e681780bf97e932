// SPDX-License-Identifier: BSD-3-Clause
//
// Is a long message lent, to be copied once by the kernel, or staged, to be copied twice? That depends on what a call
// of the kernel and the transfer of a cache line cost, and on the size of caches; and where the cores of a virtual
// machine lie changes from minute to minute. It also depends on the program: who lends waits for its receiver, who
// stages may be ahead of it. So both ends time messages, the receiver tells the sender what they take there, and the
// sender chooses, message by message: a receiver takes them as they come. Where two processes exchange messages one of
// them chooses, and the other does the same.
#pragma once

#include <array>
#include <optional>

#include "transport/shm/costs.hpp"

namespace stretto::transport::shm {

/// At the sender's end of a connection.
class CopySelector {
 public:
  static constexpr Bytes fragments = 4;  ///< of a staged message whose sender receives nothing meanwhile, if it is long

  /// Is this message to be lent? `one_way`: this end receives nothing meanwhile. Its receiver, which mostly has nothing
  /// else to do, then notes how long it has waited as well: for the copy into the staging ring, or for a lender to
  /// begin, but not for a sender that was ahead of it. Else each end has messages of its own to take. Messages of both
  /// kinds have the same times: mostly calls of one size are of one kind. `handicap`: of the kernel, so many times as
  /// fast it must be.
  bool lends(Bytes message, bool one_way, const TakingCosts& taking, float handicap = 1) {
    const std::size_t its_class = size_class(message);
    const float staged = taking.staged.of(its_class) + (one_way ? 0 : packing_[its_class]);
    const bool staging_is_better = staged < taking.lent.of(its_class) * handicap;
    Choice& choice = choices_[its_class];
    if (!one_way) choice.stages_exchanges = staging_is_better;
    return !choice.probes.second(staging_is_better);
  }
  /// Is this message, in an exchange, to be staged and not to be timed? Most are where staging has been better: timing
  /// each one would take longer than what it may gain. `follows`: it goes as those of the receiver come.
  bool stages_untimed(Bytes message, bool follows) {
    const std::size_t its_class = size_class(message);
    Choice& choice = choices_[its_class];
    const bool stages = follows ? came_[its_class].any && !came_[its_class].lent
                                : choice.stages_exchanges && choice.probes.settled() && !choice.probes.probes();
    return stages && ++choice.asked % one_is_timed_of != 0;
  }
  /// In an exchange, such a message has come from the receiver of mine.
  void came(Bytes message, bool lent) { came_[size_class(message)] = {true, lent, still_typical}; }
  /// How it came, if that was lately.
  std::optional<bool> as_it_came(Bytes message) {
    Came& came = came_[size_class(message)];
    if (came.uses == 0) return std::nullopt;
    --came.uses;
    return came.lent;
  }
  /// A byte of such a message took so long on its way into the staging ring.
  void packed(Bytes message, float seconds) {
    float& now = packing_[size_class(message)];
    now = updated(now, seconds);
  }

 private:
  static constexpr int still_typical = 4;              // messages
  static constexpr std::uint32_t one_is_timed_of = 7;  // odd, for messages may alternate

  struct Choice {
    Probes<121, 2> probes;
    bool stages_exchanges = false;  // as far as known
    std::uint32_t asked = 0;        // times, by stages_untimed()
  };
  struct Came {
    bool any = false;
    bool lent = false;
    int uses = 0;  // that are left
  };
  std::array<Came, size_classes> came_{};
  std::array<float, size_classes> packing_{};
  std::array<Choice, size_classes> choices_{};
};

}  // namespace stretto::transport::shm
