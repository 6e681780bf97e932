// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mpi/mpi_header.hpp"

namespace stretto::mpi {

/// By rank of `from` (of an intercommunicator: of its local group), the rank in `to`; MPI_UNDEFINED: it has none.
std::vector<int> translate(MPI_Comm from, MPI_Comm to);

}  // namespace stretto::mpi
