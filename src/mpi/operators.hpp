// SPDX-License-Identifier: BSD-3-Clause
//
// MPI operators as operations see them.
#pragma once

#include "execute/element.hpp"
#include "mpi/types.hpp"

namespace stretto::mpi {

struct OperatorFacts {
  bool usable = false;  ///< false: leave the call to the native library
  bool commutative = true;
  bool predefined = true;
  execute::Combiner combiner;  ///< of a user's operator it points to `op` and `type`
};

/// One of MPI's own operators.
bool is_standard(MPI_Op op);
bool is_commutative(MPI_Op op);

/// `op` and `type` must outlive the result.
OperatorFacts facts_of(const MPI_Op& op, const TypeFacts& type);

}  // namespace stretto::mpi
