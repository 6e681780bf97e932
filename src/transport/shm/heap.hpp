// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of the program that its peers may map: long messages that lie in it are read, and written, in place.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "transport/shm/block_map.hpp"
#include "transport/shm/segment.hpp"

namespace stretto::transport::shm {

/// Addresses of this process that belong to its heap; asked on every long message.
class HeapRange {
 public:
  bool contains(const void* at, Bytes bytes) const {
    const std::uintptr_t begin = begin_.load(std::memory_order_acquire);
    return begin != 0 && reinterpret_cast<std::uintptr_t>(at) - begin < end_ - begin &&
           static_cast<std::uintptr_t>(bytes) <= end_ - reinterpret_cast<std::uintptr_t>(at);
  }
  bool is_open() const { return begin_.load(std::memory_order_relaxed) != 0; }
  void open(const std::byte* begin, Bytes bytes) {
    end_ = reinterpret_cast<std::uintptr_t>(begin) + static_cast<std::uintptr_t>(bytes);
    begin_.store(reinterpret_cast<std::uintptr_t>(begin), std::memory_order_release);
  }
  void close() { begin_.store(0, std::memory_order_release); }

 private:
  std::atomic<std::uintptr_t> begin_{0};  // 0: there is none
  std::uintptr_t end_ = 0;
};

/// A process has one at most. The system provides its memory as it is touched, as it does for a program's other memory.
/// For any thread.
class Heap {
 public:
  /// `most` bytes at most. Null: `why` says what failed.
  static std::unique_ptr<Heap> create(Bytes most, std::string& why);
  /// As many as the machine has, or this process's share of them where its launcher tells how many ranks are here.
  static Bytes usual_size();
  Heap& operator=(Heap&&) = delete;

  struct Block {
    void* at = nullptr;  ///< null: there is none so large
    bool zeros = false;  ///< does it read as zeros?
  };
  /// At a page, or at a multiple of `alignment`, a power of two.
  Block allocate(Bytes bytes, Bytes alignment = 1);
  /// Of a block; whole pages.
  Bytes size(const void* block);
  /// Where it is. False: it stays as it is.
  bool resize(void* block, Bytes bytes);
  void release(void* block);

  /// Is this an address of the heap, or of what has become of it in a child?
  bool owns(const void* at) const {
    return reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(segment_->memory()) <
           static_cast<std::uintptr_t>(segment_->handle().bytes);
  }
  /// What peers may map; closed in a child.
  const HeapRange& range() const { return range_; }
  /// Tells the peers, by a notice in this process's segment, where the heap is, and then opens `shown`. Not in a child.
  /// Returns where it is.
  std::byte* show_in(HeapNotice& notice, HeapRange& shown) const;

  /// From now on a child that fork() makes gets a copy of the blocks, as of all other memory: its own, at the same
  /// addresses. Once, for one heap of the process.
  void survive_forks();
  /// From now on fork() asks whether there is such a heap: called early, it asks after all other libraries have made
  /// themselves ready for the fork, which may use blocks, and before they go on in the child.
  static void watch_forks();

 private:
  explicit Heap(std::unique_ptr<Segment> segment);
  Bytes offset(const void* at) const { return segment_->offset(at); }
  std::byte* address(Bytes at) const { return const_cast<std::byte*>(segment_->memory()) + at; }
  bool forget(Bytes at, Bytes bytes);
  /// After blocks were freed.
  void keep_little();
  void before_fork();
  void after_fork(bool child);
  void copy_blocks();
  void move_copy();

  std::unique_ptr<Segment> segment_;
  HeapRange range_;
  std::mutex mutex_;
  BlockMap blocks_;
  std::byte* copy_ = nullptr;  // of all blocks, one behind the other, while a fork is under way
  Bytes copy_bytes_ = 0;
};

/// Shorter messages are as fast through the staging ring, which lets the sender go on.
inline constexpr Bytes least_in_place = 16 << 10;
/// That this process has read, or written a part of, for the summary.
inline std::atomic<std::uint64_t> messages_in_place{0};

/// Another process's heap, where this one sees it: mapped when it is first asked for. For any thread.
class PeerHeap {
 public:
  explicit PeerHeap(const HeapNotice& notice) : notice_(notice) {}
  /// One that is here already.
  PeerHeap(const HeapNotice& notice, std::byte* here) : notice_(notice), here_(here) {}

  /// My address of what is at `theirs` in the peer; null: that is not in its heap, or it cannot be mapped.
  std::byte* find(const std::byte* theirs, Bytes bytes) {
    const std::byte* begin = notice_.begin.load(std::memory_order_acquire);
    if (!begin) return nullptr;
    const auto at = reinterpret_cast<std::uintptr_t>(theirs) - reinterpret_cast<std::uintptr_t>(begin);
    const auto size = static_cast<std::uintptr_t>(notice_.handle.bytes);
    if (at >= size || static_cast<std::uintptr_t>(bytes) > size - at) return nullptr;
    std::byte* here = here_.load(std::memory_order_acquire);
    if (!here) here = map();
    return here ? here + at : nullptr;
  }

 private:
  std::byte* map();

  const HeapNotice& notice_;
  std::atomic<std::byte*> here_{nullptr};
  std::mutex mutex_;
  std::unique_ptr<Mapping> mapping_;
  bool tried_ = false;
};

/// The heap of this process that libstretto-heap has made, which `stretto run --shared-heap` puts before the program;
/// null: it is of another version, or could not. Here for its name and its type.
using FindHeap = Heap*(const char* version);
inline constexpr char find_heap[] = "stretto_shared_heap";

}  // namespace stretto::transport::shm
