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
    return !probes_[its_class].second(staged < taking.lent.of(its_class) * handicap);
  }
  /// In an exchange, such a message has come from the receiver of mine.
  void came(Bytes message, bool lent) { came_[size_class(message)] = {lent, still_typical}; }
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
  static constexpr int still_typical = 4;  // messages

  struct Came {
    bool lent = false;
    int uses = 0;  // that are left
  };
  std::array<Came, size_classes> came_{};
  std::array<float, size_classes> packing_{};
  std::array<Probes<121, 2>, size_classes> probes_{};
};

}  // namespace stretto::transport::shm
