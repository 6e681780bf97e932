// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/sources.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "select/shipped.hpp"
#include "support/file_kind.hpp"
#include "support/text.hpp"

namespace stretto {
namespace {

constexpr std::string_view tuned_file = "stretto/tuned.rules";

/// The value of the first line of /proc/cpuinfo with this key; empty if there is none.
std::string cpu_info(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    if (line.find_first_not_of(" \t", key.size()) == colon) return line.substr(colon + 1);
  }
  return {};
}

/// Without what a rules file would read otherwise: comments and several blanks.
std::string in_one_line(std::string text) {
  for (char& c : text)
    if (c == '#' || static_cast<unsigned char>(c) < ' ') c = ' ';
  std::string line;
  for (const std::string_view word : words_of(text)) {
    if (!line.empty()) line += ' ';
    line += word;
  }
  return line;
}

std::string cpu_model() {
  if (const std::string model = cpu_info("model name"); !model.empty()) return model;
  // ARM tells numbers: who made it and which design it is.
  const std::string numbers = cpu_info("CPU implementer") + cpu_info("CPU part");
  return numbers.empty() ? "unknown processor" : "processor" + numbers;
}

struct OpenFile {
  int number;
  ~OpenFile() {
    if (number >= 0) close(number);
  }
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string text_of_rules(const std::string& path) { return text_of_file(path, "a rules file", std::size_t{1} << 20); }

/// The text, if it is rules for this machine; else throws.
std::string usable_text(const std::string& path, bool tuned, const std::function<std::string()>& mpi) {
  std::string text = text_of_rules(path);
  const Rules rules = parse_rules(text, path);
  const std::string at = path + ':' + std::to_string(std::max(rules.machine_line, 1)) + ": ";
  if (rules.machine.empty()) {
    if (!tuned) return text;
    throw Error(at + "it does not say for which machine it was tuned",
                "tune again; or name the file in STRETTO_RULES, and it need not say so");
  }
  const std::string here = this_machine(mpi());
  if (rules.machine == here) return text;
  throw Error(at + "it is for '" + rules.machine + "', and this is '" + here + '\'',
              "tune on this machine with this MPI, or take out the machine line to use the file in STRETTO_RULES");
}

void say_instead(std::vector<Error>& refused, const std::string& what) {
  for (Error& e : refused) e = Error(std::string(e.what()) + "; " + what, e.hint());
}

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

std::string tuned_rules_path() {
  const std::string config = variable("XDG_CONFIG_HOME");
  if (config.starts_with('/')) return config + '/' + std::string(tuned_file);  // a relative one is to be ignored
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.config/" + std::string(tuned_file);
}

std::string text_of_file(const std::string& path, const std::string& what, std::size_t most) {
  const std::string hint = "name a file that rank 0 can read";
  const auto cannot = [&] { return Error("cannot read " + what + ' ' + path + ": " + std::strerror(errno), hint); };
  // Asked first, for opening a device may set it going; and opened so that what is exchanged meanwhile blocks nobody.
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) throw cannot();
  if (!S_ISREG(found.st_mode))
    throw Error(path + " is " + std::string(kind_of_file(found.st_mode)) + ", not " + what, hint);
  const OpenFile file{open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
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

Rules read_rules(const std::string& path) { return parse_rules(text_of_rules(path), path); }

FoundRules find_rules(const std::string& named, const std::function<std::string()>& mpi) {
  FoundRules found;
  const auto usable = [&](const std::string& path, bool tuned) {
    try {
      found.text = usable_text(path, tuned, mpi);
      found.file = path;
    } catch (const Error& e) {
      found.refused.push_back(e);
    }
    return !found.file.empty();
  };
  const std::string tuned = tuned_rules_path();
  if (named != shipped_word && !named.empty() && usable(named, false)) return found;
  if (named != shipped_word && !tuned.empty() && access(tuned.c_str(), F_OK) == 0 && usable(tuned, true)) {
    say_instead(found.refused, "the rules of " + tuned + " decide");
    return found;
  }
  say_instead(found.refused, std::string("the ").append(shipped_name).append(" decide"));
  found.file = shipped_name;
  found.text = shipped_rules_text;
  return found;
}

}  // namespace stretto
