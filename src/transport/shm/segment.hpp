// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of one process that the others of its node read and write. It has no name: nothing is left of it when the last
// process that uses it ends, however it ends, and no /dev/shm need be large enough.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "transport/shm/format.hpp"

namespace stretto::transport::shm {

using Token = std::array<std::uint64_t, 2>;  ///< a random number that tells segments apart

/// What the others need to find a segment. Copied as bytes.
struct SegmentHandle {
  Token token{};  ///< stands at the beginning of the segment as well
  std::int64_t process = 0;
  std::int64_t file = -1;
  Bytes bytes = 0;
};

/// What a process tells its peers now and then in a long wait, in ns of the system's steady clock.
struct Wait {
  std::int64_t since;  ///< nothing has moved
  std::int64_t told;   ///< when this was last so
};

/// Where it stands in the segment of the process.
struct WaitNotice {
  std::atomic<std::int64_t> since{0};
  std::atomic<std::int64_t> told{0};  ///< written last, read first: `since` is then of that telling or a later one
};

/// Where memory of a process's program is that its peers may map. It stands in the segment of the process.
struct HeapNotice {
  SegmentHandle handle;
  std::atomic<const std::byte*> begin{nullptr};  ///< in the process; written last, null until there is any
};

class PeerHeap;

/// Also one that nobody has waited for yet.
bool has_ended(std::int64_t process);

/// My own segment: memory is taken from it and never given back. Its file ends with what has been provided, so that
/// mlockall() fills little more than that.
class Segment {
 public:
  /// `most` bytes at most. Null: `why` says what failed.
  static std::unique_ptr<Segment> create(Bytes most, std::string& why);
  ~Segment();
  Segment& operator=(Segment&&) = delete;

  /// Addresses, for which provide() is to be called before they are used: whole pages of 4 KiB aligned to one, else
  /// aligned to a cache line. Null: there are no more, but for the last `kept` bytes.
  std::byte* reserve(Bytes bytes, Bytes kept = 0);
  /// Zeroed memory for reserved addresses; what has been provided already stays as it is. False: the system has none.
  bool provide(const std::byte* at, Bytes bytes);
  /// Both. What others read when they meet this process stands together near the header, as long as there is room: they
  /// then need few pages and one page table for it, seldom two.
  std::byte* take(Bytes bytes, Bytes kept = 0);
  /// Provides so much of that room at once, for what will be taken. False: the system has none.
  bool provide_near_header(Bytes bytes);
  /// Makes the file as long as that, without any memory: the system provides it when it is touched.
  bool grow(Bytes end);
  /// From now on the end of this process is no fault.
  void depart();
  const std::byte* memory() const { return memory_; }
  Bytes offset(const void* at) const { return static_cast<const std::byte*>(at) - memory_; }
  Doorbell* doorbell() const { return doorbell_; }
  HeapNotice& heap() const;
  void tell_wait(const Wait& wait);
  const SegmentHandle& handle() const { return handle_; }
  /// Its file; -1: a program that closes what it does not know has closed it, and may have another one of that number.
  int file() const;

 private:
  Segment() = default;
  bool provide_near_end(Bytes end);

  std::mutex mutex_;
  SegmentHandle handle_;
  std::uint64_t node_ = 0, device_ = 0;  ///< of the file
  std::byte* memory_ = nullptr;
  Doorbell* doorbell_ = nullptr;
  Bytes near_taken_ = 0;     ///< of the first near_end_ bytes
  Bytes near_provided_ = 0;  ///< likewise
  Bytes near_end_ = 0;
  Bytes reserved_ = 0;
  Bytes grown_ = 0;
};

/// Another process's segment, where this process sees it.
class Mapping {
 public:
  /// Null: `why` says what failed.
  static std::unique_ptr<Mapping> open(const SegmentHandle& handle, std::string& why);
  ~Mapping();
  Mapping& operator=(Mapping&&) = delete;

  std::byte* memory() const { return memory_; }
  std::int64_t process() const { return handle_.process; }
  Doorbell* doorbell() const;
  /// Of its process. For any thread.
  PeerHeap& heap() const { return *heap_; }
  Wait wait() const;
  /// Has its process ended without depart()?
  bool died() const;

 private:
  Mapping(const SegmentHandle& handle, std::byte* memory);
  SegmentHandle handle_;
  std::byte* memory_;
  std::unique_ptr<PeerHeap> heap_;
};

}  // namespace stretto::transport::shm
