// SPDX-License-Identifier: BSD-3-Clause
//
// What differs between the MPI families beyond their mpi.h. One file implements it for each.
#pragma once

#include <string>
#include <vector>

#include "intercept/mpi_header.hpp"
#include "reduce/kernels.hpp"

namespace stretto::intercept::flavour {

/// Empty if the loaded library `handle` (null: unknown) at `path` has this build's ABI, else which one it has.
std::string other_abi(void* handle, const std::string& path);

/// Size of a predefined type; 0 if this MPI does not have it. Never raises an MPI error.
int size_of_predefined(MPI_Datatype type);

struct ShortFloat {
  MPI_Datatype handle;
  reduce::Type type;
};

/// This MPI family's floating-point types of 16 bits, which the standard does not have; the MPI that runs may lack
/// some.
std::vector<ShortFloat> short_floats();

/// A predefined operator, of the standard or of this MPI alone. False if it cannot be told.
bool is_predefined(MPI_Op op);

}  // namespace stretto::intercept::flavour
