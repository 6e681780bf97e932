// SPDX-License-Identifier: BSD-3-Clause
#include "observe/assembly.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "mpi/bootstrap.hpp"
#include "mpi/queries.hpp"
#include "settings/settings.hpp"
#include "support/files.hpp"

namespace stretto::mpi::observe {
namespace {

using execute::Nanoseconds;
using execute::now;

constexpr std::size_t largest_part = std::size_t{1} << 30;  // MPI counts in int

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
  const ErrorsReturned quiet(world, true);  // in MPI_Finalize no other thread calls
  comm_ = with_same_ranks(world);
  if (held()) native().Comm_set_errhandler(comm_, MPI_ERRORS_ARE_FATAL);  // half a packet is none
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
  // Whose clock it is: names of hosts may be the same in containers on different ones.
  mine.put(node_name(rank_) + first_line("/proc/sys/kernel/random/boot_id"));
  std::vector<int> first(static_cast<std::size_t>(ranks_));  // of each rank's node
  std::map<std::string, int> nodes;
  collect(std::move(mine), [&](int r, Packet packet) {
    first[static_cast<std::size_t>(r)] = nodes.try_emplace(packet.get<std::string>(), r).first->second;
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

}  // namespace stretto::mpi::observe
