// SPDX-License-Identifier: BSD-3-Clause
//
// One function for each of MPI's: its arguments in, a served call or the reason why it is passed on.
#pragma once

#include <optional>

#include "mpi/arguments.hpp"
#include "observe/statistics.hpp"

namespace stretto::intercept {

/// MPI's return code of a served call; nothing if the native library is to do it (which has been counted).
using Served = std::optional<int>;

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
