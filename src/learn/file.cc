// SPDX-License-Identifier: BSD-3-Clause
#include "learn/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>

#include "stretto/error.hpp"
#include "stretto/sources.hpp"
#include "support/files.hpp"
#include "support/text.hpp"

namespace stretto::learn {
namespace {

constexpr std::string_view head =
    "# What programs learned here (STRETTO_LEARN, docs/learning.md): of each class of calls the choice that took the\n"
    "# slowest rank least. A class has one line; `stretto rules` shows, compares and forgets them.\n";

std::string microseconds(double seconds) { return two_digits(seconds * 1e6) + " us"; }

std::string line_of(const Learned& one) {
  std::string line = one.conditions + " -> " + written(one.choice.algorithm, one.choice.params) + "  # ";
  if (one.seconds > 0) line += microseconds(one.seconds) + ", ";
  if (one.native_seconds > 0 && one.choice.algorithm) line += "native " + microseconds(one.native_seconds) + ", ";
  return line + std::to_string(one.pairs) + " pairs";
}

/// The lines of a file, by their conditions. Those without sizes come last: the first rule that fits decides.
using Lines = std::map<std::pair<bool, std::string>, std::string>;

void add(Lines& lines, const std::string& conditions, std::string line) {
  lines[{conditions.find(" bytes") == std::string::npos, conditions}] = std::move(line);
}

/// Of the calls that a line rests on: the number at its end. 0: it does not say.
std::size_t pairs_of(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() < 2 || words.back() != "pairs") return 0;
  return parsed<std::size_t>(words[words.size() - 2]).value_or(0);
}

/// Drops lines until the others have no more than `most` bytes: first those that rest on the fewest calls.
void shorten(Lines& lines, std::size_t most) {
  std::size_t bytes = 0;
  for (const auto& [conditions, line] : lines) bytes += line.size() + 1;
  if (bytes <= most) return;
  std::vector<std::pair<std::size_t, Lines::iterator>> all;
  for (auto one = lines.begin(); one != lines.end(); ++one) all.emplace_back(pairs_of(one->second), one);
  std::ranges::stable_sort(all, {}, &decltype(all)::value_type::first);
  for (auto least = all.begin(); bytes > most; ++least) {
    bytes -= least->second->second.size() + 1;
    lines.erase(least->second);
  }
}

[[noreturn]] void cannot(const std::string& path, int error) {
  throw Error("what was learned is not kept: cannot write " + path + ": " + std::strerror(error),
              "STRETTO_LEARN=FILE names another file");
}

/// Waits for other processes, but not for ever: one may have been stopped.
void lock(const OpenFile& file, const std::string& path) {
  constexpr auto patience = std::chrono::seconds(10);
  if (file.number < 0) cannot(path, errno);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (flock(file.number, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) cannot(path, errno);
    if (std::chrono::steady_clock::now() > end)
      throw Error("what was learned is not kept: another process keeps " + path + " locked",
                  "look for a process that was stopped while it wrote");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// In the place of the file that is there, all at once.
void replace(const std::string& path, const std::string& text) {
  const std::string beside = path + '.' + std::to_string(getpid()) + ".new";
  const NoSignalAtFileLimit no_signal;
  int error = 0;
  {
    const OpenFile file(open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (file.number < 0) cannot(beside, errno);
    for (std::size_t at = 0; at < text.size() && error == 0;) {
      const ssize_t n = write(file.number, text.data() + at, text.size() - at);
      if (n >= 0)
        at += static_cast<std::size_t>(n);
      else if (errno != EINTR)
        error = errno;
    }
    if (error == 0 && fsync(file.number) != 0 && errno != EINVAL) error = errno;
  }
  if (error == 0 && rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  unlink(beside.c_str());
  cannot(path, error);
}

}  // namespace

std::string merged(const std::string& before, const std::string& path, const std::string& machine,
                   const std::vector<Learned>& learned) {
  Lines lines;
  if (!before.empty()) {
    const Rules rules = parse_rules(before, path);
    const std::string hint = "name another file in STRETTO_LEARN, or take this one away";
    if (rules.machine != machine)
      throw Error(path + ':' + std::to_string(std::max(rules.machine_line, 1)) + ": it is for '" + rules.machine +
                      "', and this is '" + machine + '\'',
                  hint);
    if (!rules.otherwise) throw Error(path + ":1: these rules were not learned: they lack the line 'otherwise'", hint);
    for (std::string_view rest = before; !rest.empty();) {
      const std::string_view line = take_line(rest);
      const std::vector<std::string_view> words = words_of(line.substr(0, line.find('#')));
      const auto arrow = std::ranges::find(words, "->");
      if (arrow != words.end()) add(lines, joined(std::span(words.begin(), arrow)), std::string(line));
    }
  }
  for (const Learned& one : learned) add(lines, one.conditions, line_of(one));
  std::string text = "stretto-rules 2\nmachine " + machine + '\n';
  text += head;
  constexpr std::string_view tail = "otherwise\n";
  shorten(lines, most_bytes_of_rules - std::min(most_bytes_of_rules, text.size() + tail.size()));
  for (const auto& [conditions, line] : lines) text += line + '\n';
  text += tail;
  return text;
}

void merge_into(const std::string& path, const std::string& machine, const std::vector<Learned>& learned) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) cannot(path, error.value());
  // Not the file itself: it is replaced.
  const std::string beside = path + ".lock";
  const OpenFile locked(open(beside.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  lock(locked, beside);
  const std::string before = access(path.c_str(), F_OK) == 0 ? text_of_rules(path) : "";
  const std::string text = merged(before, path, machine, learned);
  if (text != before) replace(path, text);
}

}  // namespace stretto::learn
