// SPDX-License-Identifier: BSD-3-Clause
//
// Buffers as a call's arguments describe them.
#pragma once

#include <cstring>

#include "mpi/mpi_header.hpp"
#include "stretto/types.hpp"

namespace stretto::intercept {

/// A buffer as the program describes it.
struct Described {
  void* buffer;
  MPI_Count count;
  const MPI_Datatype& type;

  Described(const void* b, MPI_Count n, const MPI_Datatype& t) : buffer(const_cast<void*>(b)), count(n), type(t) {}
  bool in_place() const { return buffer == MPI_IN_PLACE; }
};

/// An array of int, MPI_Count or MPI_Aint.
class Numbers {
 public:
  Numbers(const int* numbers) : at_(numbers), wide_(false) {}
  template <typename Wide>
  Numbers(const Wide* numbers) : at_(numbers),
                                 wide_(true) {
    static_assert(sizeof(Wide) == sizeof(Count));
  }
  bool given() const { return at_ != nullptr; }
  bool same_array(const Numbers& other) const { return at_ == other.at_; }
  Count operator[](Rank r) const {
    if (!wide_) return static_cast<const int*>(at_)[r];
    Count number = 0;
    std::memcpy(&number, static_cast<const char*>(at_) + static_cast<std::size_t>(r) * sizeof number, sizeof number);
    return number;
  }

 private:
  const void* at_;
  bool wide_;
};

/// A buffer with a part for each rank. Displacements are in extents of the one type or, where each part has a type of
/// its own, in bytes.
struct DescribedParts {
  void* buffer;
  Numbers counts;
  Numbers displacements;
  const MPI_Datatype* types;
  bool own_types;

  DescribedParts(const void* b, Numbers n, Numbers at, const MPI_Datatype& type)
      : buffer(const_cast<void*>(b)),
        counts(n),
        displacements(at),
        types(&type),
        own_types(false) {}
  DescribedParts(const void* b, Numbers n, Numbers at, const MPI_Datatype* each)
      : buffer(const_cast<void*>(b)),
        counts(n),
        displacements(at),
        types(each),
        own_types(true) {}
  bool in_place() const { return buffer == MPI_IN_PLACE; }
  const MPI_Datatype& type(Rank r) const { return types[own_types ? r : 0]; }
  /// Is it the same array of counts, and of types?
  bool same_arrays(const DescribedParts& other) const {
    return counts.same_array(other.counts) && (own_types ? types == other.types : *types == *other.types);
  }
};

}  // namespace stretto::intercept
