// SPDX-License-Identifier: BSD-3-Clause
//
// The arguments of any collective call, in one form. Handles are values: they outlive the call that brought them.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

#include "mpi/mpi_header.hpp"
#include "stretto/function.hpp"
#include "stretto/types.hpp"

namespace stretto::mpi {

class SizeHint;

/// An array of int, MPI_Count or MPI_Aint.
class Numbers {
 public:
  Numbers() = default;
  Numbers(const int* numbers) : at_(numbers) {}
  template <typename Wide>
  Numbers(const Wide* numbers) : at_(numbers),
                                 wide_(true) {
    static_assert(sizeof(Wide) == sizeof(Count));
  }
  bool given() const { return at_ != nullptr; }
  bool same_array(const Numbers& other) const { return at_ == other.at_; }
  const void* data() const { return at_; }
  std::size_t bytes_of_one() const { return wide_ ? sizeof(Count) : sizeof(int); }
  /// The same numbers in another place.
  Numbers moved_to(const void* at) const {
    Numbers moved = *this;
    moved.at_ = at;
    return moved;
  }
  Count operator[](Rank r) const {
    if (!wide_) return static_cast<const int*>(at_)[r];
    Count number = 0;
    std::memcpy(&number, static_cast<const char*>(at_) + static_cast<std::size_t>(r) * sizeof number, sizeof number);
    return number;
  }

 private:
  const void* at_ = nullptr;
  bool wide_ = false;
};

/// What a call says of each rank's part of a buffer.
struct PartsArguments {
  Numbers counts;
  Numbers displacements = {};           ///< in extents of the one type or, where each part has its own, in bytes
  const MPI_Datatype* types = nullptr;  ///< null: all parts have the signature's
};

/// The arguments of a call but for its buffers and what it says of each part. Of input and output: [0] and [1]. What a
/// rank need not give may be anything.
struct Signature {
  Function function;
  bool in_place = false;
  Rank root = 0;
  std::array<Count, 2> counts{};
  std::array<MPI_Datatype, 2> types{};
  MPI_Op op{};

  /// Spelt out: arrays would be compared by a function of the C library.
  bool operator==(const Signature& s) const {
    return function == s.function && counts[0] == s.counts[0] && counts[1] == s.counts[1] && types[0] == s.types[0] &&
           types[1] == s.types[1] && op == s.op && root == s.root && in_place == s.in_place;
  }
};

inline constexpr Bytes no_alias = std::numeric_limits<Bytes>::min();  ///< no distance of two buffers

struct Arguments {
  Signature signature;
  const void* input = nullptr;  ///< in place: the output
  void* output = nullptr;       ///< of a scatter in place: the input
  /// Of the functions whose parts differ, else null: looked at only by a rank that must give them.
  std::array<const PartsArguments*, 2> parts{};

  // What is found out while the call is prepared, and kept with it:
  SizeHint* size_hint = nullptr;  ///< that the choice went by; it notes the size of this call
  Bytes bytes = 0;
  Bytes alias = no_alias;                        ///< where the input may not be, from the output
  bool own_types = false, own_operator = false;  ///< are there handles that may mean something else next time?

  /// Is the input there? With MPI_BOTTOM it seems so, though nothing is said of where the elements are.
  bool is_at(Bytes distance) const {
    return reinterpret_cast<std::intptr_t>(input) - reinterpret_cast<std::intptr_t>(output) == distance;
  }
  bool aliased() const { return input && is_at(alias); }
};

/// A buffer as the program describes it: `count` elements, for each rank where the function has parts for each.
struct Described {
  const void* buffer = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type{};
};

/// A call that moves elements. `parts_in`, `parts_out`: see Arguments::parts.
inline Arguments moves(Function function, const Described& in, const Described& out, Rank root = 0,
                       const PartsArguments* parts_in = nullptr, const PartsArguments* parts_out = nullptr) {
  const bool scatters = function == Function::scatter || function == Function::scatterv;
  const bool in_place = (scatters ? out : in).buffer == MPI_IN_PLACE;
  return {{function, in_place, root, {in.count, out.count}, {in.type, out.type}},
          in_place && !scatters ? out.buffer : in.buffer,
          const_cast<void*>(in_place && scatters ? in.buffer : out.buffer),
          {parts_in, parts_out}};
}

/// A call that combines them. `count` is that of a result's part, where the function has one for each rank.
inline Arguments combines(Function function, const void* send, void* receive, MPI_Count count, MPI_Datatype type,
                          MPI_Op op, Rank root = 0, const PartsArguments* parts = nullptr) {
  const bool in_place = send == MPI_IN_PLACE;
  return {{function, in_place, root, {count}, {type}, op}, in_place ? receive : send, receive, {parts}};
}

}  // namespace stretto::mpi
