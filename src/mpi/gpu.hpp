// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace stretto::mpi {

/// Might the program give the MPI buffers in the memory of a GPU, which no load or store of a processor reaches? So it
/// is where this MPI takes such buffers and the process has the driver of a GPU loaded, as such an MPI has after
/// MPI_Init; unless the user says that all are in the host's memory (STRETTO_GPU=0).
bool buffers_may_be_on_gpu();

}  // namespace stretto::mpi
