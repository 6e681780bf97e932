// SPDX-License-Identifier: BSD-3-Clause
//
// Types and operators of the program's own that a call under way still needs: MPI lets the program free them as soon as
// the call has returned. The native library keeps count of its own uses only, so that Stretto puts the freeing off.
#pragma once

#include <vector>

#include "mpi/mpi_header.hpp"

namespace stretto::mpi {

/// Those of one call.
class HeldHandles {
 public:
  ~HeldHandles() { release(); }
  HeldHandles& operator=(HeldHandles&&) = delete;

  void hold_type(MPI_Datatype type);
  void hold_op(MPI_Op op);
  /// Frees those that the program has freed meanwhile, if no other call holds them; in a thread that may not call the
  /// MPI, leaves them to the next of those that may.
  void release();

 private:
  std::vector<MPI_Datatype> types_;
  std::vector<MPI_Op> ops_;
};

/// Of the calling thread.
void may_not_call_the_mpi();
bool may_call_the_mpi();
/// What such threads have left, when there are none any more.
void free_handles_left();

/// MPI_Type_free, MPI_Op_free: is it done when no call needs it any more? Then `*handle` is null already.
bool put_off_type_free(MPI_Datatype* type);
bool put_off_op_free(MPI_Op* op);

}  // namespace stretto::mpi
