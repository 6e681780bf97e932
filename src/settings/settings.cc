// SPDX-License-Identifier: BSD-3-Clause
#include "settings/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdlib>
#include <functional>
#include <set>
#include <string_view>

#include "stretto/error.hpp"
#include "support/launcher.hpp"
#include "support/nearest.hpp"
#include "support/say.hpp"
#include "support/text.hpp"

namespace stretto {
namespace {

/// All variables that were asked for: whatever else begins like them is a mistake.
std::set<std::string, std::less<>>& known() {
  static std::set<std::string, std::less<>> names;
  return names;
}

/// Beginnings of the variables that the package's build and tests read, and that its module sets.
constexpr std::string_view for_others[] = {"STRETTO_MPICC", "STRETTO_ROOT", "STRETTO_TEST_"};

std::string_view variable(const std::string& name) {
  known().insert(name);
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

void complain(const std::string& what, const std::string& hint) {
  if (launched_rank() <= 0) say(what, hint);
}

void read_log(Settings& s) {
  std::string_view rest = variable("STRETTO_LOG");
  while (!rest.empty()) {
    const std::string_view word = take_until(rest, ',');
    if (word == "select")
      s.log_select = true;
    else if (word == "summary")
      s.log_summary = true;
    else if (!word.empty())
      complain("STRETTO_LOG: unknown word '" + std::string(word) + "', ignored",
               "the words are select and summary, joined by a comma");
  }
}

/// Nothing: unset, or wrong, which is said.
std::optional<double> read_seconds(const std::string& name, bool may_be_zero = false) {
  const std::string_view text = variable(name);
  if (text.empty()) return std::nullopt;
  constexpr double longest = 1e9;  // 30 years; more would overflow the clock
  const auto seconds = parsed<double>(text);
  if (seconds && (*seconds > 0 || (may_be_zero && *seconds == 0)) && *seconds <= longest) return seconds;
  complain(name + ": '" + std::string(text) + "' is no number of seconds, ignored", "for example " + name + "=60");
  return std::nullopt;
}

/// `if_unset` also if it is wrong, which is said.
Bytes read_size(const std::string& name, Bytes least, Bytes most, Bytes if_unset, const char* wrong, const char* hint) {
  const std::string_view text = variable(name);
  const auto size = parse_size(text);
  if (size && *size >= least && *size <= most) return *size;
  if (!text.empty()) complain(name + ": '" + std::string(text) + "' is " + wrong + ", ignored", hint);
  return if_unset;
}

/// Is it `word`, and not `other`?
bool read_word(const std::string& name, std::string_view word, std::string_view other, bool if_unset,
               const char* hint) {
  const std::string_view value = variable(name);
  if (!value.empty() && value != word && value != other)
    complain(name + ": unknown value '" + std::string(value) + "', ignored", hint);
  return value == word || (value != other && if_unset);
}

bool read_switch(const std::string& name, bool if_unset, const char* hint) {
  return read_word(name, "1", "0", if_unset, hint);
}

/// "2x4"
std::optional<PretendedNodes> parse_nodes(std::string_view text) {
  constexpr int most = 1 << 20;
  const auto count = parsed<int>(take_until(text, 'x'));
  const auto ranks = parsed<int>(text);
  const auto fits = [](const std::optional<int>& number) { return number && *number > 0 && *number <= most; };
  return fits(count) && fits(ranks) ? std::optional(PretendedNodes{*count, *ranks}) : std::nullopt;
}

/// A size is for the allocator of `stretto run --shared-heap`, which reads it for itself.
void read_shared_heap(Settings& s) {
  constexpr Bytes least = Bytes{64} << 10;
  const std::string_view value = variable("STRETTO_SHARED_HEAP");
  s.shared_heap = value != "0";
  const auto block = parse_size(value);
  if (!value.empty() && value != "0" && (!block || *block < least))
    complain("STRETTO_SHARED_HEAP: '" + std::string(value) + "' is neither 0 nor a size from 64K, ignored",
             "0 shares no memory of the program; with `stretto run --shared-heap`, 1M shares blocks from that size");
}

void read_node(Settings& s, std::string& all) {
  constexpr Bytes least = Bytes{4} << 20, most = Bytes{1} << 40;
  s.shm = read_switch("STRETTO_SHM", true, "0 sends everything through the MPI, 1 uses the node's shared memory");
  s.kernel_copy = read_switch("STRETTO_KERNEL_COPY", true,
                              "0 copies messages on a node twice everywhere, 1 once by the kernel where rules say so");
  s.shared_memory = read_size("STRETTO_SHM_MEMORY", least, most, s.shared_memory, "no size from 4M to 1024G",
                              "for example STRETTO_SHM_MEMORY=256M");
  read_shared_heap(s);
  const std::string_view nodes = variable("STRETTO_NODES");
  s.nodes = parse_nodes(nodes);
  if (!s.nodes && !nodes.empty())
    complain("STRETTO_NODES: '" + std::string(nodes) + "' is not understood, ignored",
             "STRETTO_NODES=2x4 pretends two nodes of four ranks; up to a million of either");
  all += s.shm ? "shm" : "";
  if (s.nodes) all += std::to_string(s.nodes->count) + 'x' + std::to_string(s.nodes->ranks) + '\n';
}

void read_files_to_write(Settings& s, std::string& all) {
  constexpr Bytes most_events = Bytes{16} << 20;  // of 40 bytes, for each thread
  s.profile = variable("STRETTO_PROFILE");
  s.trace = variable("STRETTO_TRACE");
  s.time_all_calls =
      read_word("STRETTO_PROFILE_CALLS", "all", "some", false, "some times short calls at random, all times every one");
  const Bytes kept = read_size("STRETTO_TRACE_EVENTS", 1, most_events, static_cast<Bytes>(s.trace_events),
                               "no number of events up to 16M", "for example STRETTO_TRACE_EVENTS=64K");
  s.trace_events = static_cast<std::size_t>(kept);
  all += (s.profile.empty() ? "" : "profile\n") + std::string(s.trace.empty() ? "" : "trace\n");
}

void read_overrides(Settings& s, std::string& all) {
  for (const Function f : all_functions) {
    std::string name = "STRETTO_";
    for (const char letter : facts(f).name) name += static_cast<char>(std::toupper(letter));
    const std::string_view value = variable(name);
    if (value.empty()) continue;
    try {
      const Override one{parse_algorithm_spec(f, value), name + '=' + std::string(value)};
      s.overrides[static_cast<std::size_t>(f)] = one;
      all += one.text + '\n';
    } catch (const Error& e) {
      complain(name + ": " + e.what() + "; the rules decide", e.hint());
    }
  }
}

void complain_of_unknown() {
  constexpr std::string_view ours = "STRETTO_";
  std::vector<std::string_view> words;
  for (const std::string& name : known()) words.push_back(std::string_view(name).substr(ours.size()));
  for (char** at = environ; at && *at; ++at) {
    const std::string_view entry = *at;
    const std::string_view name = entry.substr(0, entry.find('='));
    if (!name.starts_with(ours) || known().contains(name)) continue;
    if (std::ranges::any_of(for_others, [&](std::string_view begin) { return name.starts_with(begin); })) continue;
    const std::string_view meant = nearest(name.substr(ours.size()), words);
    complain(std::string(name) + ": unknown variable, ignored",
             meant.empty() ? "the variables are " + joined(known(), ", ")
                           : "is " + std::string(ours) + std::string(meant) + " meant?");
  }
}

std::string working_directory() {
  char path[PATH_MAX];
  return getcwd(path, sizeof path) ? path : "";
}

Settings read() {
  Settings s;
  s.folder = working_directory();
  std::string all = stretto_version() + std::string(STRETTO_LAYOUT);
  s.gpu = read_switch("STRETTO_GPU", true, "0 says that no buffer of the program is in the memory of a GPU");
  s.disabled = read_switch("STRETTO_DISABLE", false, "1 hands every call to the native library, 0 does not");
  read_log(s);
  s.deadline = read_seconds("STRETTO_DEADLINE");
  s.standstill = read_seconds("STRETTO_STANDSTILL", true).value_or(s.standstill);
  read_node(s, all);
  s.progress_thread =
      read_word("STRETTO_PROGRESS", "thread", "calls", false,
                "calls moves nonblocking collectives on in calls of MPI, thread while the program computes as well");
  read_files_to_write(s, all);
  s.children = variable("STRETTO_CHILDREN") == stretto_version();
  s.rules = variable("STRETTO_RULES");
  s.learn = variable("STRETTO_LEARN");
  if (s.learn == "0") s.learn.clear();
  if (!s.learn.empty()) all += "learn\n";
  if (s.progress_thread) all += "progress in a thread\n";
  read_overrides(s, all);
  complain_of_unknown();
  s.fingerprint = std::hash<std::string>{}(all);
  return s;
}

}  // namespace

std::string from_start(const std::string& path) {
  if (path.empty() || path.starts_with('/')) return path;
  const std::string& start = settings().folder;
  return start.empty() || start == working_directory() ? path : start + '/' + path;
}

const char* stretto_version() { return STRETTO_VERSION; }

const Settings& settings() {
  // Never destroyed: a program may finalize MPI in the destructor of a global object.
  static const Settings& s = *new Settings(read());
  return s;
}

}  // namespace stretto
