// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include "mpi/mpi_header.hpp"
#include "prepare/kept_arrays.hpp"

namespace stretto::mpi {

/// How the native library would begin a nonblocking call: a closure of its function and the program's arguments, which
/// is copied as bytes. It takes copies of the arrays that it was given.
class NativeStart {
 public:
  NativeStart() = default;
  template <typename Closure>
    requires(!std::is_same_v<Closure, NativeStart>)
  explicit NativeStart(const Closure& closure)
      : call_([](const std::byte* bytes, MPI_Request* request, const KeptArrays& arrays) {
          return (*std::launder(reinterpret_cast<const Closure*>(bytes)))(request, arrays);
        }) {
    static_assert(std::is_trivially_copyable_v<Closure> && sizeof(Closure) <= sizeof closure_);
    static_assert(alignof(Closure) <= alignof(void*));
    new (closure_) Closure(closure);
  }

  int operator()(MPI_Request* request, const KeptArrays& arrays) const { return call_(closure_, request, arrays); }
  explicit operator bool() const { return call_ != nullptr; }

 private:
  int (*call_)(const std::byte*, MPI_Request*, const KeptArrays&) = nullptr;
  alignas(void*) std::byte closure_[9 * sizeof(void*)];  // MPI_Ialltoallw has nine arguments besides the request
};

}  // namespace stretto::mpi
