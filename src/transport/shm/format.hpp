// SPDX-License-Identifier: BSD-3-Clause
//
// What processes of one node share: the layout of memory that both sides of a connection see.
//
// Every flag has one writer, grows and is never reset; writers release, readers acquire.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "stretto/types.hpp"

namespace stretto::transport::shm {

inline constexpr std::size_t cache_line = 64;
inline constexpr int lanes = 4;              ///< of a connection: so many segments of a call are in flight
inline constexpr std::uint64_t ring = 16;    ///< lines of a lane
inline constexpr std::uint64_t group = 4;    ///< so many inlined parts are given back at once
inline constexpr Bytes inline_payload = 48;  ///< a message of so few bytes travels in its line

/// One part of a message: the part itself, or where it lies in the sender's segment.
struct alignas(cache_line) Line {
  std::atomic<std::uint64_t> key{0};  ///< key_of() the operation and the part's number in its lane: written last
  std::uint32_t bytes = 0;
  std::uint16_t inlined = 0;
  std::uint16_t last = 0;  ///< of its message
  union {
    std::byte payload[inline_payload];
    Bytes at;
  };

  void refer(Bytes offset, Bytes count, bool is_last) {
    bytes = static_cast<std::uint32_t>(count);
    inlined = 0;
    last = is_last;
    at = offset;
  }
};
static_assert(sizeof(Line) == cache_line);

/// Of an operation, to which the number of a part is added. One comparison tells whether a line holds what is awaited.
inline std::uint64_t key_of(std::uint32_t communicator, std::uint32_t sequence) {
  return std::uint64_t{communicator} << 32 | (sequence & 0xffff) << 16;
}
inline std::uint32_t communicator_of(std::uint64_t key) { return static_cast<std::uint32_t>(key >> 32); }
inline constexpr std::uint64_t number_bits = 0xffff;  ///< of a key: more than a lane has lines

/// The way from one rank to another, in the sender's segment.
struct Lane {
  Line lines[ring];
  alignas(cache_line) std::atomic<std::uint64_t> taken{0};  ///< parts that the receiver has given back
};

/// On which the threads of a process sleep.
struct alignas(cache_line) Bell {
  std::atomic<std::uint32_t> sleepers{0};
  std::atomic<std::uint32_t> rings{0};  ///< the futex
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace stretto::transport::shm
