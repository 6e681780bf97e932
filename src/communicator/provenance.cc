// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/provenance.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "mpi/flavour/flavour.hpp"
#include "mpi/native.hpp"
#include "mpi/queries.hpp"
#include "settings/settings.hpp"
#include "support/say.hpp"

namespace stretto::mpi {
namespace {

/// Duplicates keep it: the value is the provenance itself.
int copy(MPI_Comm, int, void*, void* value, void* copied, int* there) {
  *static_cast<void**>(copied) = value;
  *there = 1;
  return MPI_SUCCESS;
}

int leave_alone(MPI_Comm, int, void*, void*) { return MPI_SUCCESS; }

/// For as long as the world is up.
int provenance_keyval() {
  static std::mutex mutex;
  static int key = MPI_KEYVAL_INVALID;
  const std::lock_guard lock(mutex);
  if (key == MPI_KEYVAL_INVALID) native().Comm_create_keyval(copy, leave_alone, &key, nullptr);
  return key;
}

/// "LD_PRELOAD=…" and all STRETTO_ variables, a line each.
std::string variables() {
  std::string lines;
  for (char** at = environ; at && *at; ++at) {
    const std::string_view entry = *at;
    if (!entry.starts_with("LD_PRELOAD=") && !entry.starts_with("STRETTO_")) continue;
    if (entry.starts_with("STRETTO_TEST_")) continue;          // the package's tests read these
    if (entry.find('\n') != std::string_view::npos) continue;  // could not be told from two
    if (!lines.empty()) lines += '\n';
    lines += entry;
  }
  return lines;
}

}  // namespace

Provenance provenance_of(MPI_Comm comm) {
  void* value = nullptr;
  int there = 0;
  if (!world_is_up()) return Provenance::world;
  if (native().Comm_get_attr(comm, provenance_keyval(), &value, &there) != MPI_SUCCESS || !there)
    return Provenance::world;
  return static_cast<Provenance>(reinterpret_cast<std::uintptr_t>(value));
}

void set_provenance(MPI_Comm comm, Provenance provenance) {
  // A session may make some before the world is up.
  if (provenance == Provenance::session || (provenance != Provenance::world && world_is_up()))
    native().Comm_set_attr(comm, provenance_keyval(), reinterpret_cast<void*>(static_cast<std::uintptr_t>(provenance)));
}

bool has_strangers(Provenance provenance, const std::vector<int>& world_ranks) {
  return provenance != Provenance::spawned && std::ranges::count(world_ranks, MPI_UNDEFINED) > 0;
}

bool has_strangers(MPI_Comm comm) { return has_strangers(provenance_of(comm), translate(comm, constants().world)); }

MPI_Info InfosOfChildren::with_variables(MPI_Info given, MPI_Comm comm) {
  const char* key = flavour::key_of_environment();
  if (!key || !settings().children) return given;
  const std::string own = info_value(given, key);  // the program's come last: they count
  std::string all = variables();
  if (has_strangers(comm)) all += "\nSTRETTO_CHILDREN=";  // parents that do not know each other are not trusted
  if (!own.empty()) all.append("\n").append(own);
  if (all.size() >= MPI_MAX_INFO_VAL) {
    handed_ = false;
    static std::atomic<bool> said{false};
    if (!said.exchange(true))
      say("spawned processes get no Stretto: its variables and those of the info take " + std::to_string(all.size()) +
              " characters, and " + std::to_string(MPI_MAX_INFO_VAL - 1) + " is the most for an info value of this MPI",
          "set fewer STRETTO_ variables, or install in a folder with a shorter name");
    return given;
  }
  MPI_Info& info = own_.emplace_back(given);
  (given == MPI_INFO_NULL) ? native().Info_create(&info) : native().Info_dup(given, &info);
  native().Info_set(info, key, all.c_str());
  return info;
}

InfosOfChildren::~InfosOfChildren() {
  for (MPI_Info& info : own_) native().Info_free(&info);
}

Provenance provenance_of_children(bool handed, int root, MPI_Comm comm) {
  if (!settings().children || has_strangers(comm)) return Provenance::world;
  if (!flavour::key_of_environment()) return Provenance::spawned;
  int rank = 0;
  native().Comm_rank(comm, &rank);
  int all = rank == root && handed ? 1 : 0;  // only the root knows
  const int error = native().Bcast(&all, 1, MPI_INT, root, comm);
  return error == MPI_SUCCESS && all ? Provenance::spawned : Provenance::world;
}

}  // namespace stretto::mpi
