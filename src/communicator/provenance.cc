// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/provenance.hpp"

#include <algorithm>
#include <mutex>

#include "mpi/native.hpp"
#include "mpi/queries.hpp"

namespace stretto::mpi {
namespace {

/// Duplicates keep it: the value is the provenance itself.
int copy(MPI_Comm, int, void*, void* value, void* copied, int* there) {
  *static_cast<void**>(copied) = value;
  *there = 1;
  return MPI_SUCCESS;
}

int leave_alone(MPI_Comm, int, void*, void*) { return MPI_SUCCESS; }

void* as_value(Provenance provenance) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(provenance)); }

/// For as long as the world is up.
int keyval() {
  static std::mutex mutex;
  static int key = MPI_KEYVAL_INVALID;
  const std::lock_guard lock(mutex);
  if (key == MPI_KEYVAL_INVALID) native().Comm_create_keyval(copy, leave_alone, &key, nullptr);
  return key;
}

}  // namespace

Provenance provenance_of(MPI_Comm comm) {
  void* value = nullptr;
  int there = 0;
  if (!world_is_up()) return Provenance::world;
  if (native().Comm_get_attr(comm, keyval(), &value, &there) != MPI_SUCCESS || !there) return Provenance::world;
  return static_cast<Provenance>(reinterpret_cast<std::uintptr_t>(value));
}

void set_provenance(MPI_Comm comm, Provenance provenance) {
  // A session may make some before the world is up.
  if (provenance == Provenance::session || (provenance != Provenance::world && world_is_up()))
    native().Comm_set_attr(comm, keyval(), as_value(provenance));
}

void inherit_provenance(MPI_Comm parent, MPI_Comm child) {
  if (child != constants().comm_null) set_provenance(child, provenance_of(parent));
}

bool has_strangers(Provenance provenance, const std::vector<int>& world_ranks) {
  return provenance != Provenance::spawned && std::ranges::count(world_ranks, MPI_UNDEFINED) > 0;
}

bool has_strangers(MPI_Comm comm) { return has_strangers(provenance_of(comm), translate(comm, constants().world)); }

}  // namespace stretto::mpi
