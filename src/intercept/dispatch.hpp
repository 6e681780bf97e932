// SPDX-License-Identifier: BSD-3-Clause
//
// One function for each collective: MPI's arguments in, a served call or the reason why it is passed on.
#pragma once

#include <optional>

#include "intercept/mpi_header.hpp"
#include "intercept/statistics.hpp"

namespace stretto::intercept {

/// MPI's return code of a served call; nothing if the native library is to do it (which has been counted).
using Served = std::optional<int>;

Served barrier(MPI_Comm comm);
Served bcast(void* buffer, MPI_Count count, const MPI_Datatype& type, int root, MPI_Comm comm);
Served reduce(const void* sendbuf, void* recvbuf, MPI_Count count, const MPI_Datatype& type, const MPI_Op& op, int root,
              MPI_Comm comm);
Served allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, const MPI_Datatype& type, const MPI_Op& op,
                 MPI_Comm comm);
Served allgather(const void* sendbuf, MPI_Count sendcount, const MPI_Datatype& sendtype, void* recvbuf,
                 MPI_Count recvcount, const MPI_Datatype& recvtype, MPI_Comm comm);
Served reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, const MPI_Datatype& type,
                            const MPI_Op& op, MPI_Comm comm);

/// What is left to do before the native MPI_Finalize.
void before_finalize();

}  // namespace stretto::intercept
