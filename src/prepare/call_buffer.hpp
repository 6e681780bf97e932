// SPDX-License-Identifier: BSD-3-Clause
//
// One side of a call that moves elements, as the schedule sees it: bytes, in one part or in one for each rank.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "execute/arena.hpp"
#include "execute/plan.hpp"
#include "mpi/arguments.hpp"
#include "mpi/held_handles.hpp"
#include "mpi/types.hpp"
#include "observe/statistics.hpp"

namespace stretto::mpi {

/// Parts of the program's buffer or, if they cannot be moved from there, packed copies of them.
class CallBuffer {
 public:
  /// `side` 0: of the input, 1: of the output. `arguments` and `memory` outlive this.
  CallBuffer(const Arguments& arguments, int side, Rank parts, execute::Arena& memory);

  /// Null if the arguments and types can be served, else why not.
  const std::optional<Passed>& unusable() const { return unusable_; }
  Bytes bytes(Rank r = 0) const { return sizes_.empty() ? each_ : sizes_[static_cast<std::size_t>(r)]; }
  Bytes sum() const;
  Bytes largest() const;
  std::span<const Count> all_bytes();
  bool alike() const { return sizes_.empty(); }
  /// From the beginning of the program's buffer.
  Bytes displacement(Rank r) const { return sizes_.empty() ? r * step_ : begins_[static_cast<std::size_t>(r)]; }
  const MPI_Datatype& type(Rank r = 0) const { return own_types_ ? own_types_[r] : *type_; }

  /// Are there elements at null? Displacements or a type's own may say where they are.
  bool is_null() const;

  /// Parts of neighbours that are not there, no_rank, are neither read nor written. `neighbours` outlives this.
  void leave_out(std::span<const Rank> neighbours) { neighbours_ = neighbours; }

  /// Are its types MPI's own?
  bool predefined() const { return predefined_; }
  void hold_types(HeldHandles& held) const;
  /// See watch_type(): all of the program's own.
  bool watch_types() const;
  bool dense() const { return dense_; }
  bool copied() const { return copied_; }

  /// From now on the parts are in a copy, one behind the other, or each in `stride` bytes: of larger ones as many
  /// elements as fit, behind smaller ones zeros.
  void copy(Bytes stride = -1);
  void pack(Rank r);
  void pack();
  void unpack() const;

  void* at(Rank r = 0) const { return base_ + place(r); }
  execute::Region region(Count segment, const Parts& cut) const;

 private:
  const TypeFacts& facts(Rank r) const { return own_types_ ? *facts_of_each_[static_cast<std::size_t>(r)] : *facts_; }
  Bytes place(Rank r) const {
    if (stride_ >= 0) return r * stride_;
    return sizes_.empty() ? r * each_ : places_[static_cast<std::size_t>(r)];
  }
  Count elements_in_copy(Rank r) const;
  bool left_out(Rank r) const { return !neighbours_.empty() && neighbours_[static_cast<std::size_t>(r)] == no_rank; }
  char* program_part(Rank r) const { return buffer_ + displacement(r); }
  void look_up(const MPI_Datatype& type, TypeFacts& storage, const TypeFacts*& facts);
  template <typename Each>
  bool each_own_type(Each each) const;
  void describe(Count count);
  void describe_each(const PartsArguments& arguments);

  execute::Arena& memory_;
  Rank parts_;
  char* buffer_;
  char* base_;  // of the parts: the program's buffer or the copy
  const MPI_Datatype* type_;
  const MPI_Datatype* own_types_ = nullptr;  // of each part
  TypeFacts storage_;
  const TypeFacts* facts_ = nullptr;
  std::vector<TypeFacts> storages_;  // of each part, if these have own types
  std::vector<const TypeFacts*> facts_of_each_;
  Bytes each_ = 0, step_ = 0;  // where all are alike: bytes of one; from one to the next in the program's buffer
  std::span<Count> sizes_, begins_, places_;  // else of each: bytes; from buffer_; from base_
  Bytes stride_ = -1;
  std::span<const Rank> neighbours_;
  bool predefined_ = true, dense_ = true, copied_ = false;
  std::optional<Passed> unusable_;
};

/// n numbers of `memory`.
std::span<Count> numbers(execute::Arena& memory, Count n);

}  // namespace stretto::mpi
