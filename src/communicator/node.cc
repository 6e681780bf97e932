// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/node.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "communicator/own_process.hpp"
#include "communicator/shared_heap.hpp"
#include "mpi/native.hpp"

namespace stretto::mpi {
namespace {

using execute::Nanoseconds;
using transport::shm::Connection;

struct Member {
  Connection* connection;
  Rank cores;  // of NodeView
};

/// Ranks of the world that have all met each other.
struct PeerGroup {
  std::map<int, Member> members;
  NodeView common;  ///< of any of them: without connections and cores
};

std::mutex nodes_mutex;  // guards what follows; never destroyed, like all that a program may use at its very end
std::vector<PeerGroup>& peer_groups() {
  static auto& list = *new std::vector<PeerGroup>;
  return list;
}

}  // namespace

std::optional<NodeView> known_neighbours(const std::vector<int>& world) {
  const std::lock_guard lock(nodes_mutex);
  for (const PeerGroup& group : peer_groups()) {
    NodeView view = group.common;
    for (const int rank : world) {
      const auto at = group.members.find(rank);
      if (at == group.members.end()) break;
      view.connections.push_back(at->second.connection);
      view.cores.push_back(at->second.cores);
    }
    if (view.connections.size() == world.size()) return view;
  }
  return std::nullopt;
}

void remember(const std::vector<int>& world, const NodeView& view) {
  if (std::ranges::count(world, MPI_UNDEFINED) > 0 || known_neighbours(world)) return;
  PeerGroup group{{}, view};
  group.common.connections.clear();
  group.common.cores.clear();
  group.common.number.reset();  // that communicator's
  for (std::size_t r = 0; r < world.size(); ++r) group.members[world[r]] = {view.connections[r], view.cores[r]};
  const std::lock_guard lock(nodes_mutex);
  peer_groups().push_back(std::move(group));
}

void leave(const NodeView& view, std::uint32_t communicator) {
  for (Connection* c : view.connections) {
    if (!c) continue;
    if (view.own)
      own_process()->retire(c);
    else
      c->forget(communicator);
  }
}

bool someone_died(const NodeView& view) {
  return std::ranges::any_of(view.connections, [](Connection* c) { return c && own_process()->peer_died(*c); });
}

void tell_wait(Nanoseconds since, Nanoseconds now) { own_process()->segment().tell_wait({since, now}); }

std::optional<Nanoseconds> others_wait_since(const NodeView& view, Nanoseconds told) {
  Nanoseconds latest = 0;
  for (Connection* c : view.connections) {
    if (!c) continue;
    const auto wait = own_process()->wait_of_peer(*c);
    if (!wait || wait->told < told) return std::nullopt;
    latest = std::max(latest, wait->since);
  }
  return latest;
}

transport::shm::Neighbours neighbours(const NodeView& view, const transport::shm::StagingRings& rings,
                                      std::uint32_t communicator) {
  return {.connections = view.connections,
          .staging = rings,
          .doorbell = own_process()->segment().doorbell(),
          .segment = own_process()->segment().memory(),
          .policy = wait_policy(),
          .heap = &shown_heap(),
          .communicator = communicator};
}

}  // namespace stretto::mpi
