// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/hints.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "communicator/communicator.hpp"
#include "communicator/provenance.hpp"
#include "mpi/bootstrap.hpp"
#include "mpi/queries.hpp"
#include "stretto/error.hpp"
#include "support/nearest.hpp"
#include "support/say.hpp"

namespace stretto::mpi {
namespace {

constexpr std::string_view ours = "stretto_";
constexpr std::string_view no_wish = "rules";
constexpr std::size_t functions = std::size(all_functions);

std::string name_of(MPI_Comm comm, Rank ranks) {
  const std::string name = communicator_name(comm);
  return name.empty() ? "a communicator of " + std::to_string(ranks) + " ranks" : "communicator '" + name + '\'';
}

class Hints {
 public:
  Hints(MPI_Comm comm, MPI_Info info, const char* cause) : bootstrap_(comm, cause) {
    int keys = 0;
    if (info == MPI_INFO_NULL || native().Info_get_nkeys(info, &keys) != MPI_SUCCESS) return;
    for (int i = 0; i < keys; ++i) {
      char key[MPI_MAX_INFO_KEY + 1] = {};
      if (native().Info_get_nthkey(info, i, key) != MPI_SUCCESS || !std::string_view(key).starts_with(ours)) continue;
      const std::string name(std::string_view(key).substr(ours.size()));
      if (const auto function = function_named(name))
        values_[static_cast<std::size_t>(*function)] = info_value(info, key);
      else
        complain_of_unknown(name);
    }
  }

  /// Which functions do all ranks speak of, in the same words? False if no rank speaks of any.
  bool compare() {
    std::array<std::int64_t, 2 * functions> low{};
    for (std::size_t f = 0; f < functions; ++f) {
      if (!values_[f].empty()) low[f] = static_cast<std::int64_t>(std::hash<std::string>{}(values_[f]) >> 1 | 1);
      low[functions + f] = -low[f];
    }
    auto lowest = low;
    if (bootstrap_.ranks() > 1) {
      const ErrorsReturned quiet(bootstrap_.comm());
      bootstrap_.minimum(low, lowest.data());
      if (!bootstrap_.agreed()) return false;
    }
    for (std::size_t f = 0; f < functions; ++f) {
      if (lowest[f] == -lowest[functions + f]) continue;
      complain("info key " + key(f) + " has different values on the ranks",
               "MPI wants the same value from all of them");
      values_[f].clear();
    }
    return std::ranges::any_of(lowest, [](std::int64_t n) { return n != 0; });
  }

  void grant(Communicator& c) const {
    for (std::size_t f = 0; f < functions; ++f) {
      if (values_[f].empty()) continue;
      const Function function = all_functions[f];
      try {
        std::optional<Override> wanted;
        if (values_[f].starts_with(file_prefix))
          throw Error("a file of schedules is named by a variable, not by an info key",
                      "set STRETTO_… for all ranks, for example with `stretto run`");
        if (values_[f] != no_wish)
          wanted = Override{parse_algorithm_spec(function, values_[f]), "info key " + key(f) + '=' + values_[f]};
        c.set_override(function, std::move(wanted));
      } catch (const Error& e) {
        complain("info key " + key(f) + ": " + e.what(), e.hint());
      }
    }
  }

 private:
  static std::string key(std::size_t f) { return std::string(ours) + std::string(facts(all_functions[f]).name); }

  void complain(const std::string& what, const std::string& hint) const {
    if (bootstrap_.rank() == 0) say(what + " (" + name_of(bootstrap_.comm(), bootstrap_.ranks()) + "), ignored", hint);
  }

  void complain_of_unknown(const std::string& name) const {
    std::vector<std::string_view> names;
    for (const Function f : all_functions) names.push_back(facts(f).name);
    const std::string_view meant = nearest(name, names);
    complain("unknown info key " + std::string(ours) + name,
             meant.empty() ? "the keys are stretto_ and a function: stretto_allreduce"
                           : "is " + std::string(ours) + std::string(meant) + " meant?");
  }

  Bootstrap bootstrap_;
  std::array<std::string, functions> values_;  // empty: not given, for MPI has no empty values
};

}  // namespace

void take_hints(MPI_Comm comm, MPI_Info info, const char* cause) {
  int inter = 0;
  if (settings().disabled || comm == constants().comm_null || !world_is_up() ||
      native().Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter || has_strangers(comm))
    return;
  Hints hints(comm, info, cause);
  if (!hints.compare()) return;
  if (Communicator* c = communicator(comm, cause)) hints.grant(*c);
}

void prefer(MPI_Comm comm, Function function, const std::string& words) {
  Communicator* const c = communicator(comm, function);
  if (!c) return;
  std::optional<Override> wanted;
  if (words != no_wish) wanted = Override{parse_algorithm_spec(function, words), words};
  c->set_override(function, std::move(wanted));
}

}  // namespace stretto::mpi
