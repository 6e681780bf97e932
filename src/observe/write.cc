// SPDX-License-Identifier: BSD-3-Clause
#include "observe/write.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "mpi/bootstrap.hpp"
#include "observe/assembly.hpp"
#include "settings/settings.hpp"
#include "support/launcher.hpp"
#include "support/say.hpp"

namespace stretto::mpi::observe {
namespace {

bool spawned = false;

/// Ranks that others have spawned inherit their variables, but write files of their own.
std::string own_name(const std::string& path) {
  struct stat found{};
  const bool device = stat(path.c_str(), &found) == 0 && S_ISCHR(found.st_mode);
  return spawned && !device ? path + ".spawned-" + std::to_string(getpid()) : path;
}

}  // namespace

void note_parents() {
  MPI_Comm parent = constants().comm_null;
  spawned = native().Comm_get_parent(&parent) == MPI_SUCCESS && parent != constants().comm_null;
}

Output::Output(const char* variable, const std::string& path) : variable_(variable), path_(own_name(from_start(path))) {
  // Whatever the path names, the program must come to its end. A FIFO would have it wait for a reader, and a reader
  // that goes would end it by a signal.
  struct stat found{};
  if (stat(path_.c_str(), &found) == 0 && !S_ISREG(found.st_mode) && !S_ISCHR(found.st_mode)) {
    complain("it is " + std::string(kind_of_file(found.st_mode)));
    return;
  }
  const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666);
  if (file >= 0) fcntl(file, F_SETFL, 0);  // opening it was not to wait, but a slow terminal is to get all
  if (file >= 0) file_ = fdopen(file, "w");
  if (file_)
    std::setvbuf(file_, nullptr, _IOFBF, 64 << 10);  // a trace has many short lines, and all ranks wait for them
  else
    complain(std::strerror(errno));
}

Output::~Output() {
  if (file_ && std::fclose(file_) != 0) complain(std::strerror(errno));
}

void Output::write(const std::string& text) {
  if (!file_ || std::fwrite(text.data(), 1, text.size(), file_) == text.size()) return;
  complain(std::strerror(errno));
  std::fclose(file_);
  file_ = nullptr;
}

void Output::complain(const std::string& why) {
  say(std::string(variable_) + ": cannot write " + path_ + ": " + why,
      "name a file in a folder that is there, where rank 0 may write");
}

std::string program_name() {
  const std::string text = read_file("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::size_t at = 0; words.size() < 8 && at < text.size(); at += words.back().size() + 1)
    words.emplace_back(text.c_str() + at);
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
  constexpr std::chrono::seconds patience{30};
  Bootstrap world(constants().world, "MPI_Finalize", patience);
  // Static: a call that is given up may still end, in MPI_Finalize.
  static std::array<std::int64_t, 4> wishes, least;
  wishes = {!s.profile.empty(), !s.trace.empty(), s.profile.empty(), s.trace.empty()};
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

}  // namespace stretto::mpi::observe
