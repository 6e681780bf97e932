// SPDX-License-Identifier: BSD-3-Clause
//
// What a call says of each part, for as long as the call lasts. MPI forbids programs to change these arrays before its
// end, but Fortran bindings hand over converted ones, which are gone when the function returns.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "mpi/arguments.hpp"

namespace stretto::mpi {

class KeptArrays {
 public:
  /// From now on `arguments` refer to copies. `parts`: how many there are of the input and the output; 0: this rank
  /// need not give them, and they are not read.
  void keep(Arguments& arguments, std::array<Rank, 2> parts);

  /// Those that are kept of a side, 0 or 1.
  std::span<const MPI_Datatype> types(std::size_t side) const {
    return {parts_[side].types, parts_[side].types ? given_[side] : 0};
  }

  /// An argument of MPI's function: of an array that is kept, the copy.
  template <typename Argument>
  Argument of(Argument argument) const {
    using Target = std::remove_pointer_t<Argument>;
    if constexpr (std::is_pointer_v<Argument> && std::is_const_v<Target> && !std::is_void_v<Target>)
      if (!arrays_.empty()) return static_cast<Argument>(copy_of(argument));
    return argument;
  }

 private:
  struct Array {
    const void* given = nullptr;
    std::size_t bytes = 0, at = 0;
  };
  void add(const void* array, std::size_t bytes);
  const void* copy_of(const void* given) const;

  std::array<PartsArguments, 2> parts_{};
  std::array<std::size_t, 2> given_{};
  std::vector<Array> arrays_;  // counts, displacements and types of both
  std::vector<std::byte> copies_;
};

}  // namespace stretto::mpi
