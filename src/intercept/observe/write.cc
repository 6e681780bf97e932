// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/observe/write.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

#include "intercept/bootstrap.hpp"
#include "intercept/launcher.hpp"
#include "intercept/say.hpp"
#include "intercept/settings.hpp"

namespace stretto::intercept::observe {

Output::Output(const char* variable, const std::string& path)
    : variable_(variable),
      path_(path),
      file_(std::fopen(path.c_str(), "we")) {
  if (!file_) complain();
}

Output::~Output() {
  if (file_ && std::fclose(file_) != 0) complain();
}

void Output::write(const std::string& text) {
  if (!file_ || std::fwrite(text.data(), 1, text.size(), file_) == text.size()) return;
  complain();
  std::fclose(file_);
  file_ = nullptr;
}

void Output::complain() {
  say(std::string(variable_) + ": cannot write " + path_ + ": " + std::strerror(errno),
      "name a file in a folder that is there, where rank 0 may write");
}

std::string program_name() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; words.size() < 8 && std::getline(file, word, '\0');) words.push_back(word);
  if (words.empty()) return "?";
  const auto last_part = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  std::string name = last_part(words[0]);
  if (!name.starts_with("python")) return name;
  for (std::size_t i = 1; i < words.size(); ++i)
    if (!words[i].starts_with('-')) return name + ' ' + last_part(words[i]);
  return name;
}

namespace {

/// Whether all ranks want the same files. One that wants none is not there to answer: it is not waited for long.
bool all_want_them(const Settings& s) {
  constexpr std::chrono::seconds patience{10};
  Bootstrap world(constants().world, "MPI_Finalize", patience);
  const std::array<std::int64_t, 4> wishes{!s.profile.empty(), !s.trace.empty(), s.profile.empty(), s.trace.empty()};
  std::array<std::int64_t, 4> least{};
  world.minimum(wishes, least.data());
  return world.ok() && least == wishes;
}

}  // namespace

void write_files(std::optional<bool> agreed) {
  const Settings& s = settings();
  if (!s.observes()) return;
  int initialized = 0;
  native().Initialized(&initialized);
  if (!initialized) return;
  const bool speaks = launched_rank() <= 0;
  if (agreed ? !*agreed : !all_want_them(s)) {
    if (speaks)
      say("no profile or trace is written: not all ranks have STRETTO_PROFILE or STRETTO_TRACE, or some failed",
          "export the same variables to all ranks, for example with `stretto run`");
    return;
  }
  Assembly all;
  if (!all.held()) {
    if (speaks) say("no profile or trace is written, for the MPI has no communicator left");
    return;
  }
  if (!s.profile.empty()) write_profile(all, s.profile);
  if (!s.trace.empty()) write_trace(all, s.trace);
}

}  // namespace stretto::intercept::observe
