// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/sources.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "select/shipped.hpp"
#include "support/files.hpp"
#include "support/text.hpp"

namespace stretto {
namespace {

/// The value of the first line of /proc/cpuinfo with this key; empty if there is none.
std::string cpu_info(std::string_view key) {
  const std::string text = read_file("/proc/cpuinfo", 4096);  // of the first core
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !line.starts_with(key)) continue;
    if (line.find_first_not_of(" \t", key.size()) == colon) return std::string(line.substr(colon + 1));
  }
  return {};
}

/// Without what a rules file would read otherwise: comments and several blanks.
std::string in_one_line(std::string text) {
  for (char& c : text)
    if (c == '#' || static_cast<unsigned char>(c) < ' ') c = ' ';
  return joined(words_of(text));
}

/// A path as it stands in the `file` line of joined rules, which has no comments and begins with no blank.
std::string in_file_line(std::string path) {
  for (char& c : path)
    if (c == '#' || static_cast<unsigned char>(c) < ' ') c = '?';
  if (path.starts_with(' ')) path.front() = '?';
  return path;
}

std::string cpu_model() {
  if (const std::string model = cpu_info("model name"); !model.empty()) return model;
  // ARM tells numbers: who made it and which design it is.
  const std::string numbers = cpu_info("CPU implementer") + cpu_info("CPU part");
  return numbers.empty() ? "unknown processor" : "processor" + numbers;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Throws unless the rules are for this machine. `own`: they must say so.
void check_machine(const Rules& rules, bool own, const std::function<std::string()>& mpi) {
  const std::string at = rules.file + ':' + std::to_string(std::max(rules.machine_line, 1)) + ": ";
  if (rules.machine.empty()) {
    if (!own) return;
    throw Error(at + "it does not say for which machine it was tuned",
                "tune again; or name the file in STRETTO_RULES, and it need not say so");
  }
  const std::string here = this_machine(mpi());
  if (rules.machine == here) return;
  throw Error(at + "it is for '" + rules.machine + "', and this is '" + here + '\'',
              "tune on this machine with this MPI, or take out the machine line to use the file in STRETTO_RULES");
}

bool there(const std::string& path) { return !path.empty() && access(path.c_str(), F_OK) == 0; }

/// Adds one file after the other, until one of them is the last.
class Joiner {
 public:
  explicit Joiner(const std::function<std::string()>& mpi) : mpi_(mpi) {}

  /// `own`: the file is kept for this machine.
  void add(const std::string& path, bool own) {
    if (ended_) return;
    try {
      const std::string text = text_of_rules(path);
      const Rules rules = parse_rules(text, path);
      check_machine(rules, own, mpi_);
      append(path, text);
      ended_ = !rules.otherwise;
    } catch (const Error& e) {
      found_.refused.push_back(e);
    }
  }
  void add_if_there(const std::string& path) {
    if (there(path)) add(path, true);
  }

  FoundRules take() {
    const bool shipped = found_.file.empty();
    const std::string decides = shipped ? "the " + std::string(shipped_name) : "the rules of " + found_.file;
    for (Error& e : found_.refused) e = Error(std::string(e.what()) + "; " + decides + " decide", e.hint());
    if (shipped) found_.file = shipped_name;
    return std::move(found_);
  }

 private:
  void append(const std::string& path, const std::string& text) {
    if (found_.file.empty()) {
      found_.file = path;
      found_.text = text;
      return;
    }
    if (!found_.text.ends_with('\n')) found_.text += '\n';
    const std::size_t begin = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
    found_.text += "file " + in_file_line(path) + '\n' + text.substr(begin);
  }

  const std::function<std::string()>& mpi_;
  FoundRules found_;
  bool ended_ = false;
};

}  // namespace

std::string mpi_title(std::string_view library_version) {
  constexpr std::string_view known[][2] = {
      {"Open MPI v", "Open MPI "}, {"Intel(R) MPI Library ", "Intel MPI "}, {"MPICH Version:", "MPICH "}};
  for (const auto& [says, title] : known) {
    const std::size_t at = library_version.find(says);
    if (at == std::string_view::npos) continue;
    std::string_view rest = library_version.substr(at + says.size());
    rest = rest.substr(std::min(rest.find_first_not_of(" \t"), rest.size()));
    return std::string(title) + std::string(rest.substr(0, rest.find_first_of(" ,\t\n")));
  }
  return in_one_line(std::string(library_version.substr(0, library_version.find('\n'))));
}

std::string this_machine(std::string_view mpi) {
  const long cores = sysconf(_SC_NPROCESSORS_CONF);
  return in_one_line(cpu_model() + ", " + std::to_string(cores) + (cores == 1 ? " core, " : " cores, ") +
                     std::string(mpi));
}

ConfigFolders config_folders() {
  ConfigFolders folders;
  const std::string config = variable("XDG_CONFIG_HOME");
  const std::string home = variable("HOME");
  if (config.starts_with('/'))  // a relative one is to be ignored
    folders.user = config + "/stretto";
  else if (!home.empty())
    folders.user = home + "/.config/stretto";
  return folders;
}

std::string file_name_of(std::string_view machine) {
  std::string name;
  for (const char c : machine) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
    if (letter || (c >= 'A' && c <= 'Z'))
      name += letter ? c : static_cast<char>(c - 'A' + 'a');
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  constexpr std::size_t longest = 120;
  return name.substr(0, longest);
}

std::string tuned_rules_path(const std::string& folder, std::string_view machine) {
  return folder.empty() ? "" : folder + "/tuned/" + file_name_of(machine) + ".rules";
}

std::string learned_rules_path(const std::string& folder, std::string_view machine) {
  return folder.empty() ? "" : folder + "/learned/" + file_name_of(machine) + ".rules";
}

std::string text_of_file(const std::string& path, const std::string& what, std::size_t most) {
  const std::string hint = "name a file that rank 0 can read";
  const auto cannot = [&] { return Error("cannot read " + what + ' ' + path + ": " + std::strerror(errno), hint); };
  // Asked first, for opening a device may set it going; and opened so that what is exchanged meanwhile blocks nobody.
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) throw cannot();
  if (!S_ISREG(found.st_mode))
    throw Error(path + " is " + std::string(kind_of_file(found.st_mode)) + ", not " + what, hint);
  const OpenFile file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (file.number < 0) throw cannot();
  std::string text;
  char piece[1 << 14];
  for (;;) {
    const ssize_t got = read(file.number, piece, sizeof piece);
    if (got == 0) return text;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw cannot();
    text.append(piece, static_cast<std::size_t>(got));
    if (text.size() > most)
      throw Error(path + ":1: this is not " + what + ": it has more than " + std::to_string(most >> 20) + 'M',
                  "give the path of " + what);
  }
}

std::string text_of_rules(const std::string& path) { return text_of_file(path, "a rules file", most_bytes_of_rules); }

Rules read_rules(const std::string& path) { return parse_rules(text_of_rules(path), path); }

FoundRules find_rules(const WantedRules& wanted, const std::function<std::string()>& mpi,
                      const ConfigFolders& folders) {
  Joiner files(mpi);
  if (!wanted.learning.empty()) files.add_if_there(wanted.learning);
  if (wanted.named == shipped_word) return files.take();
  if (!wanted.named.empty()) files.add(wanted.named, false);
  for (const std::string& folder : {folders.user, folders.site}) {
    if (folder.empty()) continue;
    if (there(folder + "/learned") || there(folder + "/tuned")) {
      const std::string machine = this_machine(mpi());
      const std::string learned = learned_rules_path(folder, machine);
      // Who names rules gets these and what they go on with, whatever programs learn meanwhile.
      if (wanted.named.empty() && learned != wanted.learning) files.add_if_there(learned);
      files.add_if_there(tuned_rules_path(folder, machine));
    }
    files.add_if_there(folder + "/tuned.rules");  // of earlier versions: one for all
  }
  return files.take();
}

const Rules& shipped_rules() {
  // Never destroyed: a preloaded program may call MPI until its very end.
  static const Rules& rules = *[] {
    auto* shipped = new Rules;
    shipped->file = shipped_name;
    shipped->compiled = &shipped_table;
    return shipped;
  }();
  return rules;
}

Rules complete_rules(std::string_view text, std::string_view file) {
  if (text.empty() && file == shipped_name) return shipped_rules();
  Rules rules = parse_rules(text, file);
  if (!rules.otherwise) return rules;
  const auto behind = static_cast<int>(std::ranges::count(text, '\n')) + 1;
  rules.parts.push_back({behind, std::string(shipped_name)});
  rules.compiled = &shipped_table;
  rules.compiled_behind = behind;
  return rules;
}

}  // namespace stretto
