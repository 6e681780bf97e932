// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks as threads that reach each other through shared memory, all of them or those of one pretended node.
#pragma once

#include <memory_resource>

#include "support/ranks.hpp"
#include "transport/shm/heap.hpp"
#include "transport/shm/post.hpp"
#include "transport/shm/process.hpp"

namespace stretto::test {

/// The heap of all ranks, who are one process.
inline transport::shm::Heap& shared_heap() {
  static const auto heap = [] {
    std::string why;
    auto made = transport::shm::Heap::create(Bytes{1} << 30, why);
    if (!made) throw std::runtime_error(why);
    return made;
  }();
  return *heap;
}

/// Every second long block comes from it.
class PartlyShared : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (bytes >= least && turn_++ % 2 == 0)
      if (void* block = shared_heap().allocate(static_cast<Bytes>(bytes)).at) return block;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    if (shared_heap().owns(block))
      shared_heap().release(block);
    else
      std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  static constexpr std::size_t least = transport::shm::least_in_place;
  std::atomic<unsigned> turn_{0};
};

/// The shared memory of `ranks` ranks, `per_node` on each node. Segments are reached at the addresses of their owners:
/// mapped twice, a sanitizer would take them for different memory.
class Neighbourhood {
 public:
  Neighbourhood(Rank ranks, Rank per_node, transport::shm::WaitPolicy policy) : members_(size(ranks)) {
    using transport::shm::Process;
    for (Member& m : members_) {
      std::string why;
      m.process = Process::create(Bytes{64} << 20, why);
      if (!m.process) throw std::runtime_error(why);
      m.connections.resize(size(ranks));
    }
    for (Rank a = 0; a < ranks; ++a)
      for (Rank b = 0; b < ranks; ++b)
        if (a != b && a / per_node == b / per_node)
          members_[size(a)].connections[size(b)] = members_[size(a)].process->new_connection(
              a % 2 == 1 ? transport::shm::Capacity{transport::shm::many_slots, 0}
                         : transport::shm::Capacity{transport::shm::few_slots, a % 4 == 0 ? 256U : 0U});  // ends differ
    for (Rank a = 0; a < ranks; ++a)
      for (Rank b = 0; b < ranks; ++b) {
        Member& mine = members_[size(a)];
        const Member& theirs = members_[size(b)];
        if (!mine.connections[size(b)]) continue;
        auto& segment = theirs.process->segment();
        const std::int64_t process = (a + b) % 3 == 0 ? nobody : segment.handle().process;
        auto* heap = (a + b) % 5 == 0 ? nullptr : &heap_;  // which some cannot map
        Process::connect(*mine.connections[size(b)], theirs.process->address(*theirs.connections[size(a)]),
                         const_cast<std::byte*>(segment.memory()), segment.doorbell(), process, heap);
        mine.connections[size(b)]->follows = b < a;
      }
    for (Member& m : members_)
      m.neighbours = {.connections = m.connections,
                      .staging = m.process->take_staging_rings().value(),
                      .doorbell = m.process->segment().doorbell(),
                      .segment = m.process->segment().memory(),
                      .policy = policy,
                      .heap = &shown_};
  }

  const transport::shm::Neighbours& of(Rank rank) const { return members_[size(rank)].neighbours; }

 private:
  struct Member {
    std::unique_ptr<transport::shm::Process> process;
    std::vector<transport::shm::Connection*> connections;
    transport::shm::Neighbours neighbours;
  };
  transport::shm::HeapNotice notice_;
  transport::shm::HeapRange shown_;
  transport::shm::PeerHeap heap_{notice_, shared_heap().show_in(notice_, shown_)};
  static constexpr std::int64_t nobody = 0;  // whose memory cannot be read: what it lends is refused
  static std::size_t size(Rank r) { return static_cast<std::size_t>(r); }
  std::vector<Member> members_;
};

}  // namespace stretto::test
