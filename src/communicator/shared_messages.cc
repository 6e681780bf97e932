// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/shared_messages.hpp"

#include <array>
#include <bitset>
#include <mutex>

#include "transport/mpi/mpi.hpp"

namespace stretto::mpi {
namespace {

constexpr int no_part = transport::most_parts_of_tags;  // loses against any part

std::mutex messages_mutex;  // guards what follows
MPI_Comm shared;
bool shares = false;
std::bitset<transport::most_parts_of_tags> taken;

/// The first free part that is not below `wanted`, which is then taken; or no_part.
int take(int wanted) {
  const std::lock_guard lock(messages_mutex);
  if (!shares) return no_part;
  for (int part = wanted; part < transport::parts_of_tags(); ++part) {
    if (taken[static_cast<std::size_t>(part)]) continue;
    taken.set(static_cast<std::size_t>(part));
    return part;
  }
  return no_part;
}

}  // namespace

void share_messages(MPI_Comm comm) {
  const std::lock_guard lock(messages_mutex);
  shared = comm;
  shares = true;
  taken.set(first_tags);
}

MPI_Comm shared_messages() {
  const std::lock_guard lock(messages_mutex);
  return shared;
}

std::optional<int> agree_on_tags(Bootstrap& bootstrap, bool may_share) {
  for (int mine = may_share ? take(first_tags + 1) : no_part;;) {
    const auto [least, minus_most] = bootstrap.minimum(std::array<std::int64_t, 2>{mine, -mine});
    const std::int64_t most = -minus_most;
    const bool goes_on = bootstrap.agreed() && most < no_part;
    if (goes_on && least == most) return mine;
    if (goes_on && mine == most) continue;
    return_tags(mine);
    if (!goes_on) return std::nullopt;
    mine = take(static_cast<int>(most));
  }
}

void return_tags(int part) {
  const std::lock_guard lock(messages_mutex);
  if (part < no_part) taken.reset(static_cast<std::size_t>(part));
}

}  // namespace stretto::mpi
