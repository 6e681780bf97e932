// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/node.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <numeric>

#include "intercept/launcher.hpp"
#include "intercept/say.hpp"
#include "intercept/settings.hpp"
#include "support/cores.hpp"

namespace stretto::intercept {
namespace {

using transport::shm::Address;
using transport::shm::Card;
using transport::shm::Connection;
using transport::shm::Process;

/// What a rank tells the others of its node.
struct Introduction {
  Card card;
  CoreSet cores;
  bool threads = false;  ///< MPI_THREAD_MULTIPLE, which the ranks of a job need not have in common
};

/// Ranks of the world that have all met each other, in rising order, and the way to each.
struct Circle {
  std::vector<int> ranks;
  std::vector<Connection*> connections;
  const Rules* rules;  ///< that they agreed on
  bool cores_shared;   ///< likewise
};

std::mutex mutex;  // guards what follows; never destroyed, like all that a program may use at its very end
std::vector<Circle>& circles() {
  static auto& list = *new std::vector<Circle>;
  return list;
}
std::map<std::array<std::uint64_t, 2>, Connection*>& acquaintances() {
  static auto& map = *new std::map<std::array<std::uint64_t, 2>, Connection*>;
  return map;
}
std::atomic<int> looks{1};        // before the core is offered to others
std::atomic<bool> scarce{false};  // cores; it stays, for a later, smaller meeting does not see all ranks

struct Made {
  std::string why;  ///< there is none
  Process* process = Process::create(settings().shared_memory, why).release();
};
const Made& made() {
  static const Made& once = *new Made;
  return once;
}
/// Null if this process cannot share memory.
Process* process() { return made().process; }

bool threads_at_once() {
  int level = MPI_THREAD_SINGLE;
  native().Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

/// The ways to ranks of the world that have met in a larger communicator. All of these know it alike.
std::optional<NodeView> known(const std::vector<int>& world) {
  const std::lock_guard lock(mutex);
  for (const Circle& circle : circles()) {
    NodeView view;
    view.rules = circle.rules;
    view.cores_shared = circle.cores_shared;
    for (const int rank : world) {
      const auto at = std::ranges::lower_bound(circle.ranks, rank);
      if (at == circle.ranks.end() || *at != rank) break;
      view.connections.push_back(circle.connections[static_cast<std::size_t>(at - circle.ranks.begin())]);
    }
    if (view.connections.size() == world.size()) return view;
  }
  return std::nullopt;
}

void remember(const std::vector<int>& world, const std::vector<Connection*>& connections, const NodeView& view) {
  if (std::ranges::count(world, MPI_UNDEFINED) > 0 || known(world)) return;
  std::vector<std::pair<int, Connection*>> pairs;
  for (std::size_t r = 0; r < world.size(); ++r) pairs.emplace_back(world[r], connections[r]);
  std::ranges::sort(pairs);
  Circle circle{{}, {}, view.rules, view.cores_shared};
  for (const auto& [rank, connection] : pairs) {
    circle.ranks.push_back(rank);
    circle.connections.push_back(connection);
  }
  const std::lock_guard lock(mutex);
  circles().push_back(std::move(circle));
}

/// The ranks of `comm` on my node, pretended or real. Null handle: the MPI has no room for it.
MPI_Comm split(MPI_Comm comm) {
  MPI_Comm node = constants().comm_null;
  if (native().Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) != MPI_SUCCESS)
    return constants().comm_null;
  int rank = 0;
  native().Comm_rank(constants().world, &rank);
  const auto wanted = settings().pretended_node(rank);
  if (!wanted) return node;
  MPI_Comm pretended = constants().comm_null;
  if (native().Comm_split(node, *wanted, 0, &pretended) != MPI_SUCCESS) pretended = constants().comm_null;
  native().Comm_free(&node);
  return pretended;
}

/// All ranks of a node, before any of them relies on the others.
class Meeting {
 public:
  explicit Meeting(MPI_Comm node) : node_(node) {
    native().Comm_rank(node, &rank_);
    int ranks = 1;
    native().Comm_size(node, &ranks);
    all_.resize(static_cast<std::size_t>(ranks));
    connections_.resize(all_.size());
  }

  /// False, on all ranks alike: they cannot share memory.
  bool hold() {
    introduce();
    count_cores();
    std::vector<Address> mine(all_.size()), theirs(all_.size());
    for (std::size_t r = 0; r < all_.size() && refused_.empty(); ++r)
      if (r != me()) mine[r] = offer(r);
    native().Alltoall(mine.data(), sizeof(Address), constants().byte, theirs.data(), sizeof(Address), constants().byte,
                      node_);
    if (!agreed()) {
      for (const std::size_t r : new_) process()->retire(connections_[r]);
      return false;
    }
    for (const std::size_t r : new_)
      Process::connect(*connections_[r], theirs[r], mappings_[r]->memory(), mappings_[r]->bell());
    if (!own_ways_) {
      const std::lock_guard lock(mutex);
      for (const std::size_t r : new_) acquaintances()[all_[r].card.token] = connections_[r];
    }
    looks = scarce ? 1 : transport::shm::WaitPolicy{}.looks;
    return true;
  }

  /// Where threads make calls at once, in any rank of them, a communicator needs ways of its own.
  bool own_ways() const { return own_ways_; }
  /// By rank of the node; null for myself.
  const std::vector<Connection*>& connections() const { return connections_; }
  /// Is any of these ranks short of cores?
  bool cores_shared() const { return cores_shared_; }

 private:
  std::size_t me() const { return static_cast<std::size_t>(rank_); }

  void introduce() {
    Introduction mine;
    mine.cores = allowed_cores();
    if (Process* p = process()) {
      mine.card = p->segment().card();
    } else {
      refused_ = "no memory can be shared on this node (" + made().why + "); messages go through the MPI";
      hint_ = "STRETTO_SHM=0 says that this is meant";
    }
    mine.threads = threads_at_once();
    native().Allgather(&mine, sizeof mine, constants().byte, all_.data(), sizeof mine, constants().byte, node_);
    own_ways_ = std::ranges::any_of(all_, &Introduction::threads);
    mappings_.resize(all_.size());
  }

  /// My half of the way to rank `r` of the node.
  Address offer(std::size_t r) {
    const Card& card = all_[r].card;
    if (!own_ways_) {
      const std::lock_guard lock(mutex);
      const auto found = acquaintances().find(card.token);
      if (found != acquaintances().end()) {
        connections_[r] = found->second;
        return {};
      }
    }
    if (card.file < 0) return {};  // its process says so
    std::string why;
    mappings_[r] = process()->mapping(card, why);
    if (mappings_[r]) connections_[r] = process()->new_connection();
    if (!connections_[r]) {
      refused_ = "a communicator cannot use shared memory (" + (mappings_[r] ? "STRETTO_SHM_MEMORY is used up" : why) +
                 "); its messages go through the MPI";
      hint_ = "STRETTO_SHM_MEMORY=256M gives more of it; STRETTO_SHM=0 uses none";
      return {};
    }
    new_.push_back(r);
    return process()->address(*connections_[r]);
  }

  /// Does no rank refuse? Else the first one that does says why, unless the ranks have heard of such a thing before.
  bool agreed() {
    const int mine[2] = {refused_.empty() ? static_cast<int>(all_.size()) : rank_, scarce ? 0 : 1};
    int least[2] = {};
    native().Allreduce(mine, least, 2, MPI_INT, MPI_MIN, node_);
    cores_shared_ = least[1] == 0;
    const int first = least[0];
    if (first == static_cast<int>(all_.size())) return true;
    static std::atomic<bool> said{false};
    if (!said.exchange(true) && first == rank_) say(refused_, hint_);
    return false;
  }

  void count_cores() const {
    CoreSet cores;
    int as_mine = 0;
    for (const Introduction& i : all_) {
      cores.add(i.cores);
      as_mine += i.cores == all_[me()].cores ? 1 : 0;
    }
    const int ranks = std::max(launched_here(), static_cast<int>(all_.size()));
    if (ranks > std::min(cores.size(), core_quota()) || as_mine > all_[me()].cores.size()) scarce = true;
  }

  MPI_Comm node_;
  int rank_ = 0;
  bool own_ways_ = false;
  bool cores_shared_ = false;
  std::string refused_, hint_;  // empty: I can share memory with all
  std::vector<Introduction> all_;
  std::vector<Connection*> connections_;
  std::vector<transport::shm::Mapping*> mappings_;
  std::vector<std::size_t> new_;
};

}  // namespace

std::vector<int> translate(MPI_Comm from, MPI_Comm to) {
  MPI_Group groups[2];
  native().Comm_group(from, &groups[0]);
  native().Comm_group(to, &groups[1]);
  int n = 0;
  native().Comm_size(from, &n);
  std::vector<int> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> translated(ranks.size());
  native().Group_translate_ranks(groups[0], n, ranks.data(), groups[1], translated.data());
  for (MPI_Group& group : groups) native().Group_free(&group);
  return translated;
}

std::optional<NodeView> known_neighbours(MPI_Comm comm) {
  if (!settings().shm) return std::nullopt;
  return known(translate(comm, constants().world));
}

std::optional<NodeView> meet_neighbours(MPI_Comm comm, const Rules& rules) {
  if (!settings().shm) return std::nullopt;
  MPI_Comm node = split(comm);
  if (node == constants().comm_null) return std::nullopt;
  Meeting meeting(node);
  std::optional<NodeView> view;
  if (meeting.connections().size() > 1 && meeting.hold()) {
    const std::vector<int> ranks = translate(node, comm);
    int all = 0;
    native().Comm_size(comm, &all);
    view.emplace();
    view->connections.resize(static_cast<std::size_t>(all));
    view->own = meeting.own_ways();
    view->rules = &rules;
    view->cores_shared = meeting.cores_shared();
    for (std::size_t r = 0; r < ranks.size(); ++r)
      view->connections[static_cast<std::size_t>(ranks[r])] = meeting.connections()[r];
    if (!view->own) remember(translate(node, constants().world), meeting.connections(), *view);
  }
  native().Comm_free(&node);
  return view;
}

bool cores_shared() {
  static const long most = std::min<long>(sysconf(_SC_NPROCESSORS_ONLN), core_quota());
  return scarce || launched_here() > most;
}

void leave(const NodeView& view) {
  if (!view.own) return;
  for (Connection* c : view.connections)
    if (c) process()->retire(c);
}

transport::shm::Rooms take_rooms() {
  const auto rooms = process()->take_rooms();
  if (!rooms) {
    say("there is no shared memory for one more thread", "set STRETTO_SHM_MEMORY=256M or more");
    native().Abort(constants().world, 1);
  }
  return *rooms;
}

void give_back(const transport::shm::Rooms& rooms) { process()->give_back(rooms); }

transport::shm::Neighbours neighbours(const NodeView& view, const transport::shm::Rooms& rooms) {
  return {.connections = view.connections,
          .rooms = rooms,
          .bell = process()->segment().bell(),
          .segment = process()->segment().memory(),
          .policy = {.looks = looks.load(std::memory_order_relaxed)}};
}

}  // namespace stretto::intercept
