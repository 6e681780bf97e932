// SPDX-License-Identifier: BSD-3-Clause
//
// One function for each of MPI's: its arguments in, a served call or the reason why it is passed on.
#pragma once

#include <cstring>
#include <optional>

#include "intercept/mpi_header.hpp"
#include "intercept/statistics.hpp"

namespace stretto::intercept {

/// MPI's return code of a served call; nothing if the native library is to do it (which has been counted).
using Served = std::optional<int>;

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

/// The call of this thread that was last left to the native library.
struct PassedCall {
  Function function{};
  Passed reason{};
};
PassedCall passed_call();

Served barrier(MPI_Comm comm);
Served bcast(const Described& vector, int root, MPI_Comm comm);
/// `all` has `count` elements for each rank and means something on the root only.
Served gather(const Described& own, const Described& all, int root, MPI_Comm comm);
Served scatter(const Described& all, const Described& own, int root, MPI_Comm comm);
Served allgather(const Described& own, const Described& all, MPI_Comm comm);
Served alltoall(const Described& from, const Described& to, MPI_Comm comm);

Served gatherv(const Described& own, const DescribedParts& all, int root, MPI_Comm comm);
Served scatterv(const DescribedParts& all, const Described& own, int root, MPI_Comm comm);
Served allgatherv(const Described& own, const DescribedParts& all, MPI_Comm comm);
/// alltoallv and alltoallw
Served alltoallv(Function function, const DescribedParts& from, const DescribedParts& to, MPI_Comm comm);

/// Operands of a reduction. With MPI_IN_PLACE as `send` they stand in `receive`.
struct Operands {
  const void* send;
  void* receive;
  const MPI_Datatype& type;
  const MPI_Op& op;
};

Served reduce(const Operands& operands, MPI_Count count, int root, MPI_Comm comm);
/// allreduce, scan and exscan
Served reduce_everywhere(Function function, const Operands& operands, MPI_Count count, MPI_Comm comm);
Served reduce_scatter_block(const Operands& operands, MPI_Count count, MPI_Comm comm);
Served reduce_scatter(const Operands& operands, Numbers counts, MPI_Comm comm);

/// What is left to do before the native MPI_Finalize.
void before_finalize();

}  // namespace stretto::intercept
