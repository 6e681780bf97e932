// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of Stretto's MPI_Alloc_mem: ranks of a node read and write it in place.
#pragma once

#include <memory_resource>
#include <new>

#include "library.hpp"
#include "transport/shm/heap.hpp"

namespace stretto::differential {

class AllocatedMemory final : public std::pmr::memory_resource {
 public:
  /// Adds to `blocks` how many were shared.
  AllocatedMemory(const Library& stretto, std::int64_t& blocks) : stretto_(stretto), blocks_(blocks) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t) override {
    void* at = nullptr;
    if (stretto_.alloc_mem(static_cast<MPI_Aint>(bytes), MPI_INFO_NULL, &at) != MPI_SUCCESS) throw std::bad_alloc();
    if (bytes >= static_cast<std::size_t>(transport::shm::least_in_place)) ++blocks_;
    return at;
  }
  void do_deallocate(void* at, std::size_t, std::size_t) override { stretto_.free_mem(at); }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  const Library& stretto_;
  std::int64_t& blocks_;
};

}  // namespace stretto::differential
