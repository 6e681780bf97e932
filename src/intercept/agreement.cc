// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/agreement.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "intercept/launcher.hpp"
#include "intercept/native.hpp"
#include "intercept/say.hpp"
#include "intercept/settings.hpp"
#include "stretto/sources.hpp"

namespace stretto::intercept {
namespace {

/// Rules as they travel from rank to rank.
struct Known {
  std::string file;
  std::string text;
  Rules rules;
  std::int64_t digest = 0;  ///< of the text; never 0
};

std::mutex mutex;  // guards what follows; never destroyed, like all that a program may use at its very end
const Known* current = nullptr;
std::map<std::string, Known>& all_known() {
  static auto& by_text = *new std::map<std::string, Known>;
  return by_text;
}

/// From now on this process's rules, unless it agrees on others. The text is that of valid rules.
const Known& keep(const std::string& file, const std::string& text) {
  Known& k = all_known()[text];
  if (k.digest == 0)
    k = {file, text, parse_rules(text, file), static_cast<std::int64_t>(std::hash<std::string>{}(text) >> 1 | 1)};
  current = &k;
  return k;
}

std::string title_of_mpi() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  native().Get_library_version(version, &length);
  return mpi_title(version);
}

/// Reads them at the first call; says what it found if told to.
const Known& mine(bool speak) {
  const std::lock_guard lock(mutex);
  if (current) return *current;
  const FoundRules found = find_rules(settings().rules, title_of_mpi);
  for (const Error& e : found.refused)
    if (speak) say(e.what(), e.hint());
  if (speak && settings().log_select)
    say("select: by the " + (found.file == shipped_name ? found.file : "rules of " + found.file));
  return keep(found.file, found.text);
}

/// What rank 0 has, on all ranks. Null if the MPI cannot bring it.
const Known* of_rank_0(MPI_Comm comm, Rank rank) {
  std::string file, text;
  if (rank == 0) {
    const Known& own = mine(true);
    file = own.file;
    text = own.text;
  }
  std::int64_t sizes[2] = {std::ssize(file), std::ssize(text)};
  if (native().Bcast(sizes, 2, MPI_INT64_T, 0, comm) != MPI_SUCCESS) return nullptr;
  file.resize(static_cast<std::size_t>(sizes[0]));
  text.resize(static_cast<std::size_t>(sizes[1]));
  if (native().Bcast(file.data(), static_cast<int>(sizes[0]), MPI_CHAR, 0, comm) != MPI_SUCCESS ||
      native().Bcast(text.data(), static_cast<int>(sizes[1]), MPI_CHAR, 0, comm) != MPI_SUCCESS)
    return nullptr;
  const std::lock_guard lock(mutex);
  return &keep(file, text);
}

}  // namespace

const Rules* agree(MPI_Comm comm, Rank rank) {
  const Known* own = nullptr;
  {
    const std::lock_guard lock(mutex);
    own = current;
  }
  const auto variables = static_cast<std::int64_t>(settings().fingerprint >> 1);
  const std::int64_t digest = own ? own->digest : 0;
  const std::int64_t low[4] = {variables, -variables, digest, -digest};
  std::int64_t lowest[4] = {0, 1, 0, 1};  // no agreement, if this fails
  native().Allreduce(low, lowest, 4, MPI_INT64_T, MPI_MIN, comm);
  if (lowest[0] != -lowest[1]) return nullptr;
  if (!own || lowest[2] != -lowest[3]) own = of_rank_0(comm, rank);
  return own ? &own->rules : nullptr;
}

const Rules& own_rules() { return mine(launched_rank() <= 0).rules; }

}  // namespace stretto::intercept
