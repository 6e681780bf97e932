// SPDX-License-Identifier: BSD-3-Clause
//
// What processes of one node share: the layout of memory that both ends of a connection see.
//
// Every flag has one writer, grows and is never reset. Writers release and readers acquire, so whoever sees a flag also
// sees all that was written before it.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "stretto/types.hpp"
#include "transport/shm/costs.hpp"

namespace stretto::transport::shm {

inline constexpr std::size_t cache_line = 64;
inline constexpr int channels = 4;              ///< of a connection: so many segments of a call are in flight
inline constexpr std::uint64_t few_slots = 16;  ///< of a channel, used in turn
/// Of a connection's first one where ranks share cores: a rank then sends more short messages before another has to
/// run. Elsewhere few stay in the caches.
inline constexpr std::uint64_t many_slots = 64;
inline constexpr std::uint64_t credit_batch = 4;  ///< so many inlined fragments are credited at once
inline constexpr Bytes inline_payload = 48;       ///< a message of so few bytes travels in its slot

/// Where the bytes of a fragment are: in the slot or its room, in the sender's segment, or where the sender's program
/// has them. Of the last the receiver is lent the whole message: it reads it in place where it lies in a heap
/// (heap.hpp), copies it by the kernel elsewhere, and its credit gives the memory back.
enum class Carried : std::uint8_t { staged, inlined, lent };

/// May the sender of a lent message write a part of it into the receiver's memory?
enum class Help : std::uint8_t { none, into_heaps, anywhere };

/// A message that lies in the sender's memory. Its receiver copies it, alone or, by loan.hpp, with the sender.
struct Loan {
  const std::byte* address;  ///< in the sender's process
  Bytes bytes;
  Help helps;         ///< will the sender do a part, if it is asked?
  bool withdrawn;     ///< the sender has given up, and may use the memory for something else
  std::byte* target;  ///< in the receiver's, which writes it; null: the sender is not to help
  Bytes taken;        ///< so many bytes from the beginning one of the two has copied, or copies
  Bytes written;      ///< of these by the sender; not_written: it could not
};
inline constexpr Bytes not_written = -1;

/// One fragment of a message. A slot is one cache line, so the flag and a short message reach the receiver in one
/// transfer.
struct alignas(cache_line) Slot {
  std::atomic<std::uint64_t> key{
      0};  ///< key_of() the operation, and the fragment's number in its channel: written last
  std::uint32_t bytes = 0;
  Carried carried = Carried::staged;
  bool last = false;                       ///< of its message
  StoreMode timed = StoreMode::not_timed;  ///< staged: the receiver is to time its reading
  bool typical = true;                     ///< staged: took its sender as long as others do
  union {
    std::byte payload[inline_payload];
    Bytes at;
    Loan loan;
  };

  void refer(Bytes offset, Bytes count, bool is_last, const Storing& how) {
    bytes = static_cast<std::uint32_t>(count);
    carried = Carried::staged;
    last = is_last;
    timed = how.timed;
    typical = how.typical;
    at = offset;
  }
  void lend(const std::byte* message, Bytes count, Help helps) {
    bytes = 0;
    carried = Carried::lent;
    last = true;
    loan = {message, count, helps, false, nullptr, 0, 0};
  }
};
static_assert(sizeof(Slot) == cache_line);

/// Of an operation; the number of a fragment is added. One comparison tells whether a slot holds what is awaited: the
/// right operation, and not what was in the slot one turn before.
inline std::uint64_t key_of(std::uint32_t communicator, std::uint32_t sequence) {
  return std::uint64_t{communicator} << 32 | (sequence & 0xffff) << 16;
}
inline std::uint32_t communicator_of(std::uint64_t key) { return static_cast<std::uint32_t>(key >> 32); }
inline constexpr std::uint64_t number_bits = 0xffff;  ///< of a key: more than a channel has slots
static_assert(std::has_single_bit(few_slots) && std::has_single_bit(many_slots) && many_slots < number_bits &&
              few_slots % credit_batch == 0);

/// What the receiver writes: a cache line of its own, for it would otherwise take a slot away from the sender with
/// each. Its part of a loan is the exception: the sender does not fill that slot meanwhile.
struct alignas(cache_line) Receipts {
  std::atomic<std::uint64_t> credits{0};  ///< fragments released by the receiver, in order
  std::atomic<std::uint64_t> refused{0};  ///< of lent fragments: the first that it could not read, nor any after it
  TakingCosts taking;                     ///< of messages from the sender, which clears them for another receiver
};
static_assert(sizeof(Receipts) == cache_line);

/// Of a connection's first channel. A message that does not fit into its slot's line travels in the slot's room, if it
/// has one. The receiver knows where that is before the slot has come, so it does not wait for one cache line after the
/// other; and nothing is taken from a staging ring. On an AMD EPYC calls of 64 bytes to 1 KiB take 0.6 to 1.0 of the
/// time.
struct Capacity {
  std::uint32_t slots = few_slots;
  std::uint32_t room = 0;  ///< bytes for each slot: whole cache lines

  friend bool operator==(const Capacity&, const Capacity&) = default;
};

/// Fragments from one process to another, in the sender's segment: slots, and the receipts behind them; behind the last
/// channel what all of them share. All zeros where nothing has been sent: no constructor runs.
struct Channel {
  Slot* slots = nullptr;
  std::uint64_t count = 0;  ///< of slots: a power of two
  Receipts* receipts = nullptr;
  std::byte* rooms = nullptr;  ///< of the slots
  std::uint64_t room_bytes = 0;
  ReadingCosts* reading = nullptr;  ///< written by the receiver, cleared by the sender for another one; null: not told

  Slot& slot(std::uint64_t number) const { return slots[number & (count - 1)]; }
  std::byte* room(std::uint64_t number) const { return rooms + (number & (count - 1)) * room_bytes; }
};

/// Cache lines before channel `number` of a connection. Its first channel has so many slots, the others few.
constexpr std::uint64_t lines_before(int number, std::uint64_t slots) {
  return number == 0 ? 0 : slots + 1 + static_cast<std::uint64_t>(number - 1) * (few_slots + 1);
}
/// Of what a receiver tells of reading, for all channels. Connections without rooms do without.
constexpr std::uint64_t lines_of_reading(const Capacity& capacity) {
  return capacity.room > 0 ? (sizeof(ReadingCosts) + cache_line - 1) / cache_line : 0;
}
inline Channel channel_at(Slot* first, int number, const Capacity& capacity) {
  Slot* const begin = first + lines_before(number, capacity.slots);
  const std::uint64_t count = number == 0 ? capacity.slots : few_slots;
  Slot* const behind = first + lines_before(channels, capacity.slots);
  return {.slots = begin,
          .count = count,
          .receipts = reinterpret_cast<Receipts*>(begin + count),
          .rooms = reinterpret_cast<std::byte*>(behind + lines_of_reading(capacity)),
          .room_bytes = number == 0 ? capacity.room : 0,
          .reading = capacity.room > 0 ? reinterpret_cast<ReadingCosts*>(behind) : nullptr};
}
constexpr Bytes bytes_of_channels(const Capacity& capacity) {
  const std::uint64_t lines = lines_before(channels, capacity.slots) + lines_of_reading(capacity);
  return static_cast<Bytes>(lines * cache_line + capacity.slots * capacity.room);
}

/// What the threads of a process sleep on.
struct alignas(cache_line) Doorbell {
  std::atomic<std::uint32_t> sleepers{0};
  std::atomic<std::uint32_t> rings{0};  ///< the futex
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace stretto::transport::shm
