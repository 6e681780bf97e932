// SPDX-License-Identifier: BSD-3-Clause
//
// Is a long message lent, to be copied once by the kernel, or staged, to be copied twice? That depends on what a call
// of the kernel and the transfer of a cache line cost, and on the size of caches; and where the cores of a virtual
// machine lie changes from minute to minute. So both ends time their copies, the receiver tells the sender what its own
// take, and the sender chooses, message by message: a receiver takes them as they come.
#pragma once

#include <array>
#include <chrono>

#include "transport/shm/copy_costs.hpp"

namespace stretto::transport::shm {

/// At the sender's end of a connection.
class CopySelector {
 public:
  static constexpr Bytes fragments = 4;  ///< of a staged message, if it is `shared`

  /// Is this message to be lent? `shared`: both ends copy a lent one, and a staged one goes in fragments, so that both
  /// copy at the same time as well: only the first of them is waited for. Else each end has messages of its own to
  /// take. Messages of both kinds have the same times: mostly calls of one size are of one kind. `handicap`: of the
  /// kernel, so many times as fast it must be.
  bool lends(Bytes message, bool shared, const TakingCosts& taking, float handicap = 1) {
    const std::size_t its_class = size_class(message);
    const float pack = packing_[its_class], unpack = taking.staged.of(its_class);
    const float staged = unpack + (shared ? pack / float{fragments} : pack);
    return !probes_[its_class].second(staged < taking.lent.of(its_class) * handicap);
  }
  /// A byte of such a message took so long on its way into the staging ring.
  void packed(Bytes message, float seconds) {
    float& now = packing_[size_class(message)];
    now = updated(now, seconds);
  }

 private:
  std::array<float, size_classes> packing_{};
  std::array<Probes<61>, size_classes> probes_{};
};

template <typename Copying>
float seconds_of(Copying copying) {
  const auto begin = std::chrono::steady_clock::now();
  copying();
  return std::chrono::duration<float>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace stretto::transport::shm
