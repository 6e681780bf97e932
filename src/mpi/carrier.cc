// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/carrier.hpp"

#include <mutex>

#include "mpi/bootstrap.hpp"

namespace stretto::mpi {
namespace {

std::mutex mutex;  // guards what follows
bool made = false;
MPI_Comm own;

/// A communicator of this process alone. Not a duplicate: that would call the program's copy functions.
bool make_own() {
  if (made) return true;
  const ErrorsReturned quiet(MPI_COMM_SELF);
  MPI_Group group{};
  if (native().Comm_group(MPI_COMM_SELF, &group) != MPI_SUCCESS) return false;
  made = native().Comm_create(MPI_COMM_SELF, group, &own) == MPI_SUCCESS;
  native().Group_free(&group);
  return made;
}

}  // namespace

std::optional<MPI_Request> new_carrier() {
  const std::lock_guard lock(mutex);
  MPI_Request carrier{};
  if (!make_own() || native().Recv_init(nullptr, 0, constants().byte, 0, 0, own, &carrier) != MPI_SUCCESS)
    return std::nullopt;
  return carrier;
}

void free_carrier(MPI_Request carrier) { native().Request_free(&carrier); }

void end_carriers() {
  const std::lock_guard lock(mutex);
  if (made) native().Comm_free(&own);
  made = false;
}

}  // namespace stretto::mpi
