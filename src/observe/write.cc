// SPDX-License-Identifier: BSD-3-Clause
#include "observe/write.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

#include "mpi/bootstrap.hpp"
#include "settings/settings.hpp"
#include "support/launcher.hpp"
#include "support/say.hpp"

namespace stretto::mpi::observe {
namespace {

using execute::Nanoseconds;
using execute::now;

constexpr std::size_t largest_part = std::size_t{1} << 30;  // MPI counts in int

/// Whose clock it is: names of hosts may be the same in containers on different ones.
std::string boot() {
  const std::string id = read_file("/proc/sys/kernel/random/boot_id");
  return id.substr(0, id.find('\n'));
}

bool spawned = false;

/// Ranks that others have spawned inherit their variables, but write files of their own.
std::string own_name(const std::string& path) {
  struct stat found{};
  const bool device = stat(path.c_str(), &found) == 0 && S_ISCHR(found.st_mode);
  return spawned && !device ? path + ".spawned-" + std::to_string(getpid()) : path;
}

}  // namespace

std::string node_name(int rank) {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  const auto pretended = settings().pretended_node(rank);
  return name + (pretended ? " (pretended node " + std::to_string(*pretended) + ')' : std::string());
}

// A communicator of its own: the program's messages, taken from any rank with any tag, may still be under way in the
// world. An MPI that has none left must not end the program.
Assembly::Assembly() {
  const MPI_Comm world = constants().world;
  native().Comm_rank(world, &rank_);
  native().Comm_size(world, &ranks_);
  MPI_Errhandler handler{};
  native().Comm_get_errhandler(world, &handler);
  native().Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Group group{};
  native().Comm_group(world, &group);
  if (native().Comm_create(world, group, &comm_) != MPI_SUCCESS) comm_ = constants().comm_null;
  native().Group_free(&group);
  if (held()) native().Comm_set_errhandler(comm_, MPI_ERRORS_ARE_FATAL);  // half a packet is none
  native().Comm_set_errhandler(world, handler);
  native().Errhandler_free(&handler);
}

Assembly::~Assembly() {
  if (held()) native().Comm_free(&comm_);
}

void Assembly::send(int to, const void* data, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += largest_part)
    native().Send(static_cast<const char*>(data) + at, static_cast<int>(std::min(largest_part, bytes - at)),
                  constants().byte, to, 0, comm_);
}

void Assembly::receive(int from, void* data, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += largest_part)
    native().Recv(static_cast<char*>(data) + at, static_cast<int>(std::min(largest_part, bytes - at)), constants().byte,
                  from, 0, comm_, MPI_STATUS_IGNORE);
}

void Assembly::collect(Packet mine, const std::function<void(int, Packet)>& each) {
  std::size_t bytes = mine.bytes().size();
  if (rank_ != 0) {
    char go = 0;  // thousands of packets that nobody awaits yet could fill rank 0's memory
    receive(0, &go, 1);
    send(0, &bytes, sizeof bytes);
    send(0, mine.bytes().data(), bytes);
    return;
  }
  each(0, std::move(mine));
  for (int r = 1; r < ranks_; ++r) {
    send(r, "", 1);
    receive(r, &bytes, sizeof bytes);
    std::string packet(bytes, '\0');
    receive(r, packet.data(), bytes);
    each(r, Packet(std::move(packet)));
  }
}

Nanoseconds Assembly::least(Nanoseconds mine) {
  Nanoseconds least = mine;
  native().Allreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, comm_);
  return least;
}

/// Questions to rank 0 by the first rank of each other node; the answer that came fastest counts, and half of its way.
Nanoseconds Assembly::clock_offset() {
  constexpr int questions = 50;
  Packet mine;
  mine.put_text(node_name(rank_) + boot());
  std::vector<int> first(static_cast<std::size_t>(ranks_));  // of each rank's node
  std::map<std::string, int> nodes;
  collect(std::move(mine), [&](int r, Packet packet) {
    first[static_cast<std::size_t>(r)] = nodes.try_emplace(packet.get_text(), r).first->second;
  });
  native().Bcast(first.data(), ranks_, MPI_INT, 0, comm_);
  const int leader = first[static_cast<std::size_t>(rank_)];
  Nanoseconds best = 0;
  Nanoseconds fastest = -1;
  if (rank_ == 0) {
    for (int r = 1; r < ranks_; ++r)
      for (int q = 0; first[static_cast<std::size_t>(r)] == r && q < questions; ++q) {
        char question = 0;
        receive(r, &question, 1);
        const Nanoseconds answer = now();
        send(r, &answer, sizeof answer);
      }
  } else if (leader == rank_) {
    for (int q = 0; q < questions; ++q) {
      const Nanoseconds asked = now();
      send(0, "", 1);
      Nanoseconds answer = 0;
      receive(0, &answer, sizeof answer);
      const Nanoseconds heard = now();
      if (fastest >= 0 && heard - asked >= fastest) continue;
      fastest = heard - asked;
      best = answer - (asked + heard) / 2;
    }
  }
  std::vector<Nanoseconds> all(static_cast<std::size_t>(ranks_));
  native().Allgather(&best, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, comm_);
  return all[static_cast<std::size_t>(leader)];
}

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
