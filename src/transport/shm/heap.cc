// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/heap.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "support/launcher.hpp"

namespace stretto::transport::shm {
namespace {

constexpr Bytes most_kept = Bytes{64} << 20;  // of freed blocks: as much as malloc of glibc keeps

std::atomic<Heap*> in_forks{nullptr};                                               // the one that survives them
[[gnu::tls_model("initial-exec")]] constinit thread_local Heap* forking = nullptr;  // it, in this thread's fork()

/// What the system gives and takes back at once: 4 KiB, but 16 or 64 on some machines.
Bytes system_page() { return sysconf(_SC_PAGESIZE); }

/// Of what has been touched: to read the rest would make the system provide it.
template <typename Use>
void for_each_touched(int file, Bytes first, Bytes bytes, Use use) {
  if (file < 0) return use(first, bytes);  // nobody knows
  const Bytes end = first + bytes;
  for (Bytes at = first; at < end;) {
    const Bytes from = lseek(file, at, SEEK_DATA);
    if (from < 0 || from >= end) return;
    const Bytes to = lseek(file, from, SEEK_HOLE);
    at = to < 0 ? end : std::min(to, end);
    use(from, at - from);
  }
}

/// Apart from the program's allocator, which is not to be called while a fork is under way.
std::byte* map_private(Bytes bytes) {
  void* memory = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);  // page faults are most of its time
  return static_cast<std::byte*>(memory);
}

}  // namespace

Heap::Heap(std::unique_ptr<Segment> segment)
    : segment_(std::move(segment)),
      blocks_(system_page(), segment_->handle().bytes, system_page(), reinterpret_cast<std::intptr_t>(address(0))) {
  std::byte* const memory = address(0);
  const auto bytes = static_cast<std::size_t>(segment_->handle().bytes);
  // A child that is made without fork(), and does not become another program at once, has no part in it.
  madvise(memory, bytes, MADV_DONTFORK);
  madvise(memory, bytes, MADV_DODUMP);    // it is the program's data
  madvise(memory, bytes, MADV_HUGEPAGE);  // where the system has these for shared memory
  range_.open(memory, segment_->handle().bytes);
}

std::unique_ptr<Heap> Heap::create(Bytes most, std::string& why) {
  const Bytes page = system_page();
  auto segment = Segment::create((most + page - 1) / page * page, why);
  return segment ? std::unique_ptr<Heap>(new Heap(std::move(segment))) : nullptr;
}

Bytes Heap::usual_size() {
  const auto machine = static_cast<Bytes>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  // Addresses only, of which each peer needs as many.
  const Bytes ranks = launched_here() > 0 ? launched_here() : cores_online();
  Bytes addresses = Bytes{1} << 46;  // half of what a process has
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    addresses = std::min(addresses, static_cast<Bytes>(limit.rlim_cur) / 2);
  Bytes most = std::min({machine, 2 * machine / ranks, addresses / std::max(ranks, Bytes{4})});
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    most = std::min(most, static_cast<Bytes>(limit.rlim_cur));
  return std::max(most / system_page(), Bytes{1}) * system_page();
}

Heap::Block Heap::allocate(Bytes bytes, Bytes alignment) {
  if (bytes > segment_->handle().bytes) return {};
  const std::lock_guard lock(mutex_);
  if (!range_.is_open()) return {};  // a child's
  auto taken = blocks_.take(bytes, alignment);
  if (!taken) {  // kept parts may lie between others that are free
    blocks_.strip(0, [&](Bytes at, Bytes size) { return forget(at, size); });
    taken = blocks_.take(bytes, alignment);
  }
  if (!taken) return {};
  if (segment_->grow(taken->at + blocks_.rounded(bytes))) return {address(taken->at), taken->zeros};
  blocks_.give(taken->at);
  return {};
}

Bytes Heap::size(const void* block) {
  const std::lock_guard lock(mutex_);
  return blocks_.size(offset(block));
}

bool Heap::resize(void* block, Bytes bytes) {
  const std::lock_guard lock(mutex_);
  const Bytes now = blocks_.size(offset(block));
  const bool child = !range_.is_open();
  if (bytes > now && (child || bytes > segment_->handle().bytes)) return false;
  if (bytes > now && !segment_->grow(std::min(offset(block) + blocks_.rounded(bytes), segment_->handle().bytes)))
    return false;
  if (child) return true;
  const bool resized = blocks_.resize(offset(block), bytes);
  keep_little();
  return resized;
}

void Heap::release(void* block) {
  const std::lock_guard lock(mutex_);
  const Bytes bytes = blocks_.give(offset(block));
  if (range_.is_open())
    keep_little();
  else
    madvise(block, static_cast<std::size_t>(bytes), MADV_DONTNEED);
}

void Heap::keep_little() {
  if (blocks_.kept() > most_kept) blocks_.strip(most_kept / 2, [&](Bytes at, Bytes size) { return forget(at, size); });
}

/// Gives memory back, which then reads as zeros. False: it stays, with what is in it.
bool Heap::forget(Bytes at, Bytes bytes) {
  // By madvise(), of which libraries that have registered the memory with a network card want to hear.
  if (madvise(address(at), static_cast<std::size_t>(bytes), MADV_REMOVE) == 0) return true;
  // It refuses memory that the program has locked, as by mlockall(); the file does not ask who has.
  return fallocate(segment_->file(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, bytes) == 0;
}

std::byte* Heap::show_in(HeapNotice& notice, HeapRange& shown) const {
  if (!range_.is_open()) return nullptr;
  notice.handle = segment_->handle();
  notice.begin.store(segment_->memory(), std::memory_order_release);
  shown.open(segment_->memory(), segment_->handle().bytes);
  return address(0);
}

void Heap::survive_forks() {
  watch_forks();
  in_forks = this;
}

void Heap::watch_forks() {
  static std::atomic<bool> watched{false};
  if (watched.exchange(true)) return;
  watched = 0 == pthread_atfork(
                     [] {
                       forking = in_forks;
                       if (forking) forking->before_fork();
                     },
                     [] {
                       if (forking) forking->after_fork(false);
                     },
                     [] {
                       if (forking) forking->after_fork(true);
                     });
}

/// The copy is made here and not by the child: there is nothing to wait for then, and nobody who may die meanwhile.
/// The child inherits it as it does all other private memory.
void Heap::before_fork() {
  mutex_.lock();
  if (!range_.is_open()) return;  // what a child has is private
  // The child holds the addresses until after_fork(): what else it maps before that must not come to lie there.
  madvise(address(0), static_cast<std::size_t>(segment_->handle().bytes), MADV_DOFORK);
  copy_bytes_ = 0;
  blocks_.for_each_block([&](Bytes, Bytes bytes) { copy_bytes_ += bytes; });
  if (copy_bytes_ == 0) return;
  copy_ = map_private(copy_bytes_);
  if (copy_) copy_blocks();
}

void Heap::copy_blocks() {
  const int file = segment_->file();
  Bytes used = 0;
  blocks_.for_each_block([&](Bytes at, Bytes bytes) {
    for_each_touched(file, at, bytes, [&](Bytes first, Bytes touched) {
      std::memcpy(copy_ + used + (first - at), address(first), static_cast<std::size_t>(touched));
    });
    used += bytes;
  });
}

void Heap::after_fork(bool child) {
  const auto all = static_cast<std::size_t>(segment_->handle().bytes);
  if (child && range_.is_open()) {
    // Nor may anything later: what lies there is taken for a block.
    mmap(address(0), all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    range_.close();
    if (copy_) move_copy();
  } else if (range_.is_open()) {
    madvise(address(0), all, MADV_DONTFORK);
    if (copy_) munmap(copy_, static_cast<std::size_t>(copy_bytes_));
  }
  copy_ = nullptr;
  mutex_.unlock();
}

/// In the child: to where the blocks are in its parent.
void Heap::move_copy() {
  Bytes used = 0;
  blocks_.for_each_block([&](Bytes at, Bytes bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    mremap(copy_ + used, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, address(at));
    used += bytes;
  });
}

std::byte* PeerHeap::map() {
  const std::lock_guard lock(mutex_);
  if (!tried_) {
    tried_ = true;
    std::string why;  // its messages then take the other way
    mapping_ = Mapping::open(notice_.handle, why);
    if (mapping_) {
      madvise(mapping_->memory(), static_cast<std::size_t>(notice_.handle.bytes), MADV_DONTFORK);
      here_.store(mapping_->memory(), std::memory_order_release);
    }
  }
  return here_.load(std::memory_order_relaxed);
}

}  // namespace stretto::transport::shm
