// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/learned.hpp"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "mpi/native.hpp"
#include "mpi/queries.hpp"
#include "settings/settings.hpp"
#include "stretto/error.hpp"
#include "stretto/sources.hpp"
#include "support/say.hpp"

namespace stretto::mpi {
namespace {

std::mutex learned_mutex;

/// Of several communicators, what one of them found out.
struct Kept {
  learn::Learned learned;  ///< with the pairs of all
  std::pair<bool, std::size_t> weight;
};

/// Guarded by `learned_mutex`; never destroyed, like all that a program may use at its very end.
std::map<std::string, Kept>& all_learned() {
  static auto& by_conditions = *new std::map<std::string, Kept>;
  return by_conditions;
}

}  // namespace

std::string title_of_mpi() { return mpi_title(library_version()); }

std::string learned_path() {
  const std::string& learn = settings().learn;
  return learn != "1" ? from_start(learn) : learned_rules_path(config_folders().user, this_machine(title_of_mpi()));
}

void keep_learned(const learn::Learned& learned, bool settled) {
  const std::lock_guard lock(learned_mutex);
  Kept& known = all_learned()[learned.conditions];
  const std::size_t pairs = known.learned.pairs + learned.pairs;
  // Whoever has compared all, or more calls, knows better, whichever communicator is freed last.
  const std::pair weight{settled, learned.pairs};
  if (weight >= known.weight) known = {learned, weight};
  known.learned.pairs = pairs;
}

std::optional<learn::Candidate> learned_before(const std::string& conditions) {
  const std::lock_guard lock(learned_mutex);
  const auto found = all_learned().find(conditions);
  return found == all_learned().end() ? std::nullopt : std::optional(found->second.learned.choice);
}

void write_learned() {
  std::vector<learn::Learned> learned;
  {
    const std::lock_guard lock(learned_mutex);
    for (const auto& [conditions, one] : all_learned()) learned.push_back(one.learned);
  }
  if (learned.empty()) return;
  const std::string path = learned_path();
  if (path.empty())
    return say("what was learned is not kept: neither HOME nor XDG_CONFIG_HOME is set",
               "STRETTO_LEARN=FILE names a file");
  try {
    merge_into(path, this_machine(title_of_mpi()), learned);
    if (settings().log_select)
      say("select: learned " + std::to_string(learned.size()) + (learned.size() == 1 ? " choice" : " choices") +
          ", kept in " + path);
  } catch (const Error& e) {
    say(e.what(), e.hint());
  }
}

}  // namespace stretto::mpi
