// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/spawn.hpp"

#include <unistd.h>

#include <atomic>
#include <string>
#include <string_view>

#include "mpi/flavour/flavour.hpp"
#include "mpi/native.hpp"
#include "settings/settings.hpp"
#include "support/say.hpp"

namespace stretto::mpi {
namespace {

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

std::string value_of(MPI_Info info, const char* key) {
  int length = 0;
  int there = 0;
  native().Info_get_valuelen(info, key, &length, &there);
  if (!there) return {};
  std::string value(static_cast<std::size_t>(length) + 1, '\0');
  native().Info_get(info, key, length, value.data(), &there);
  value.resize(static_cast<std::size_t>(length));
  return value;
}

}  // namespace

InfoOfChildren::InfoOfChildren(MPI_Info given, MPI_Comm comm) : info_(given) {
  const char* key = flavour::key_of_environment();
  if (!key || !settings().children) return;
  const std::string own = given == MPI_INFO_NULL ? "" : value_of(given, key);  // the program's come last: they count
  std::string all = variables();
  if (has_strangers(comm)) all += "\nSTRETTO_CHILDREN=";  // parents that do not know each other are not trusted
  if (!own.empty()) all.append("\n").append(own);
  handed_ = all.size() < MPI_MAX_INFO_VAL;
  if (!handed_) {
    static std::atomic<bool> said{false};
    if (!said.exchange(true))
      say("spawned processes get no Stretto: its variables and those of the info take " + std::to_string(all.size()) +
              " characters, and " + std::to_string(MPI_MAX_INFO_VAL - 1) + " is the most for an info value of this MPI",
          "set fewer STRETTO_ variables, or install in a folder with a shorter name");
    return;
  }
  (given == MPI_INFO_NULL) ? native().Info_create(&info_) : native().Info_dup(given, &info_);
  own_ = true;
  native().Info_set(info_, key, all.c_str());
}

InfoOfChildren::~InfoOfChildren() {
  if (own_) native().Info_free(&info_);
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

Provenance provenance_of_parents() { return settings().children ? Provenance::spawned : Provenance::world; }

}  // namespace stretto::mpi
