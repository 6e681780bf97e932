// SPDX-License-Identifier: BSD-3-Clause
//
// Where rules come from. The strongest source that can be used decides: a file that the user names, the file tuned for
// this machine, the rules that are part of the library.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stretto/error.hpp"
#include "stretto/rules.hpp"

namespace stretto {

/// What stands in STRETTO_RULES for the rules that are part of the library, and how messages call these.
inline constexpr std::string_view shipped_word = "shipped";
inline constexpr std::string_view shipped_name = "shipped rules";

/// The MPI that says so of itself (MPI_Get_library_version): "MPICH 5.0.2", "Open MPI 5.0.11", "Intel MPI 2021.18".
std::string mpi_title(std::string_view library_version);

/// What stands in a machine line: the model and number of this node's cores, and the MPI's title.
std::string this_machine(std::string_view mpi);

/// $XDG_CONFIG_HOME/stretto/tuned.rules, or below ~/.config; empty if the environment names neither folder.
std::string tuned_rules_path();

/// The text of a file, which is `what` ("a rules file"). Throws stretto::Error if it cannot be read, is no regular file
/// or has more than so many bytes, whole MiB; does not block.
std::string text_of_file(const std::string& path, const std::string& what, std::size_t most);

/// Rules as text, and the sources above them that cannot be used, with the reason and what decides instead.
struct FoundRules {
  std::string file;  ///< shipped_name or a path
  std::string text;
  std::vector<Error> refused;
};

/// Reads files. `named` is empty, a path, or shipped_word; `mpi` is asked for its title if a file names a machine.
FoundRules find_rules(const std::string& named, const std::function<std::string()>& mpi);

}  // namespace stretto
