// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/provenance.hpp"

#include <algorithm>
#include <mutex>

#include "intercept/native.hpp"
#include "intercept/node.hpp"
#include "intercept/settings.hpp"

namespace stretto::intercept {
namespace {

/// Duplicates keep it: the value is the provenance itself.
int copy(MPI_Comm, int, void*, void* value, void* copied, int* there) {
  *static_cast<void**>(copied) = value;
  *there = 1;
  return MPI_SUCCESS;
}

int leave_alone(MPI_Comm, int, void*, void*) { return MPI_SUCCESS; }

void* as_value(Provenance provenance) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(provenance)); }

/// Nothing may be asked of it before MPI is initialized, in one way or the other.
int keyval() {
  static std::mutex mutex;
  static int key = MPI_KEYVAL_INVALID;
  const std::lock_guard lock(mutex);
  if (key != MPI_KEYVAL_INVALID) return key;
  native().Comm_create_keyval(copy, leave_alone, &key, nullptr);
  MPI_Comm parents = constants().comm_null;
  int initialized = 0;
  native().Initialized(&initialized);
  if (initialized && settings().children) native().Comm_get_parent(&parents);
  if (parents != constants().comm_null) native().Comm_set_attr(parents, key, as_value(Provenance::spawned));
  return key;
}

}  // namespace

Provenance provenance_of(MPI_Comm comm) {
  void* value = nullptr;
  int there = 0;
  if (native().Comm_get_attr(comm, keyval(), &value, &there) != MPI_SUCCESS || !there) return Provenance::world;
  return static_cast<Provenance>(reinterpret_cast<std::uintptr_t>(value));
}

void set_provenance(MPI_Comm comm, Provenance provenance) {
  if (provenance != Provenance::world) native().Comm_set_attr(comm, keyval(), as_value(provenance));
}

void inherit_provenance(MPI_Comm parent, MPI_Comm child) {
  if (child != constants().comm_null) set_provenance(child, provenance_of(parent));
}

bool has_strangers(MPI_Comm comm) {
  return provenance_of(comm) != Provenance::spawned &&
         std::ranges::count(translate(comm, constants().world), MPI_UNDEFINED) > 0;
}

}  // namespace stretto::intercept
