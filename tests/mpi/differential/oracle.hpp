// SPDX-License-Identifier: BSD-3-Clause
//
// What the buffers of a planned call hold before it, and what it must leave in them. A call that is made several times
// has other values in every turn, so that nothing is right that was left over.
#pragma once

#include "buffer.hpp"
#include "plan.hpp"

namespace stretto::differential {

class Oracle {
 public:
  explicit Oracle(std::uint64_t seed) : seed_(seed) {}

  Buffer send_buffer(const Plan& plan, int turn) const;
  Buffer receive_buffer(const Plan& plan, int turn) const;
  /// The receive buffer afterwards.
  Buffer expected(const Plan& plan, int turn) const;

 private:
  std::uint64_t stream(const Plan& plan, int turn, int from, int to = 0) const;
  void move(const Plan& plan, int turn, Buffer& expected) const;
  void reduce(const Plan& plan, int turn, Buffer& expected) const;

  std::uint64_t seed_;
};

}  // namespace stretto::differential
