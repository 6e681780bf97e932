// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/shared_heap.hpp"

#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <new>
#include <set>
#include <string>

#include "communicator/own_process.hpp"
#include "mpi/queries.hpp"
#include "settings/settings.hpp"
#include "support/say.hpp"

namespace stretto::mpi {
namespace {

using transport::shm::Heap;
using transport::shm::HeapRange;

std::atomic<Heap*> heap_of_alloc{nullptr};  // never destroyed: programs may free memory at their very end
HeapRange shown;

std::mutex given_mutex;  // guards what follows
/// What MPI_Alloc_mem has given out: the MPI's own blocks may lie in the allocator's heap as well.
std::set<const void*>& given() {
  static auto& blocks = *new std::set<const void*>;
  return blocks;
}

bool wanted() { return settings().shm && settings().shared_heap && !settings().disabled; }

/// Of the allocator that `stretto run --shared-heap` puts before the program; null: there is none.
Heap* of_allocator() {
  static Heap* const found = [] {
    const auto find = reinterpret_cast<transport::shm::FindHeap*>(dlsym(RTLD_DEFAULT, transport::shm::find_heap));
    return find ? find(stretto_version()) : nullptr;
  }();
  return found;
}

/// For MPI_Alloc_mem.
Heap* make_heap() {
  std::string why;
  Heap* heap = of_allocator();
  if (!heap) {
    heap = Heap::create(Heap::usual_size(), why).release();
    if (heap)
      heap->survive_forks();
    else
      say("MPI_Alloc_mem gives no memory that can be shared (" + why + ")",
          "STRETTO_SHARED_HEAP=0 says that this is meant");
  }
  heap_of_alloc = heap;
  return heap;
}

}  // namespace

const HeapRange& shown_heap() { return shown; }

void show_heap() {
  if (!wanted()) return;
  Heap* const own = heap_of_alloc;
  Heap* const heap = own ? own : of_allocator();
  transport::shm::Segment* const segment = segment_at_hand();
  if (!heap || !segment) return;
  static std::mutex once;
  const std::lock_guard lock(once);
  if (!shown.is_open()) heap->show_in(segment->heap(), shown);
}

bool allocate_in_heap(MPI_Aint size, MPI_Info info, void* base) {
  if (size < transport::shm::least_in_place || !base || !wanted() || !world_is_up()) return false;
  int keys = 0;
  if (info != MPI_INFO_NULL && (native().Info_get_nkeys(info, &keys) != MPI_SUCCESS || keys > 0)) return false;
  static Heap* const heap = make_heap();  // by the first call that is large enough
  if (!heap) return false;
  void* const block = heap->allocate(size).at;
  if (!block) return false;
  show_heap();
  try {
    const std::lock_guard lock(given_mutex);
    given().insert(block);
  } catch (const std::bad_alloc&) {
    heap->release(block);
    return false;
  }
  *static_cast<void**>(base) = block;
  return true;
}

bool release_to_heap(void* base) {
  Heap* const heap = heap_of_alloc;
  if (!heap || !heap->owns(base)) return false;
  {
    const std::lock_guard lock(given_mutex);
    if (given().erase(base) == 0) return false;
  }
  heap->release(base);
  return true;
}

void print_heap_summary() {
  const std::uint64_t messages = transport::shm::messages_in_place;
  if (messages > 0) say("summary: rank 0 read " + std::to_string(messages) + " messages in place, in shared heaps");
}

}  // namespace stretto::mpi
