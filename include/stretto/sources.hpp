// SPDX-License-Identifier: BSD-3-Clause
//
// Where rules come from. The strongest source that can be used decides: a file that the user names, the file tuned for
// this machine, the rules that are part of the library. What programs learned here stands above the tuned ones.
#pragma once

#include <cstddef>
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

/// Where files for this machine are kept, of the user and of the site.
struct ConfigFolders {
  std::string user;  ///< $XDG_CONFIG_HOME/stretto, or below ~/.config; empty if the environment names neither folder
  std::string site = "/etc/stretto";
};
ConfigFolders config_folders();

/// "amd-epyc-9b14-2-cores-mpich-5.0.2": a machine as the name of a file.
std::string file_name_of(std::string_view machine);

/// The files of rules that were tuned for a machine, or learned on it, in a folder of these; empty if that is.
std::string tuned_rules_path(const std::string& folder, std::string_view machine);
std::string learned_rules_path(const std::string& folder, std::string_view machine);

/// The text of a file, which is `what` ("a rules file"). Throws stretto::Error if it cannot be read, is no regular file
/// or has more than so many bytes, whole MiB; does not block.
std::string text_of_file(const std::string& path, const std::string& what, std::size_t most);

inline constexpr std::size_t most_bytes_of_rules = std::size_t{1} << 20;
/// The same, of rules: of so many bytes at most.
std::string text_of_rules(const std::string& path);

/// Rules as text, and the sources above them that cannot be used, with the reason and what decides instead.
struct FoundRules {
  std::string file;  ///< shipped_name or a path: of the first, where several are joined
  std::string text;  ///< empty: the shipped rules alone
  std::vector<Error> refused;
};

/// What the user asked for.
struct WantedRules {
  std::string named = {};     ///< empty, a path, or shipped_word
  std::string learning = {};  ///< a file that is being written: it stands above all others; need not be there
};

/// Reads files; `mpi` is asked for its title if there are files for machines. Those that were learned go on with the
/// next source.
FoundRules find_rules(const WantedRules& wanted, const std::function<std::string()>& mpi,
                      const ConfigFolders& folders = config_folders());

/// Those of find_rules(): parsed, and with the shipped ones behind them where the last file goes on. Throws.
Rules complete_rules(std::string_view text, std::string_view file);

}  // namespace stretto
