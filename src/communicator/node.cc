// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/node.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "communicator/agreement.hpp"
#include "communicator/shared_heap.hpp"
#include "mpi/flavour/flavour.hpp"
#include "settings/settings.hpp"
#include "support/cores.hpp"
#include "support/launcher.hpp"
#include "support/say.hpp"

namespace stretto::mpi {
namespace {

using transport::shm::Connection;
using transport::shm::Process;
using transport::shm::SegmentHandle;

constexpr Bytes probe_bytes = 32 << 10;

/// What a rank tells the others of its node.
struct PeerInfo {
  SegmentHandle handle;
  CoreSet cores;
  const std::byte* probe = nullptr;  ///< probe_bytes for its neighbour to read, by the kernel
  Bytes board = -1;                  ///< where the addresses for others will be, in its segment
  std::uint32_t number = 0;          ///< that it proposes for the communicator: mostly all propose the same one
};

/// Ranks of the world that have all met each other, in rising order, and the connection to each.
struct PeerGroup {
  std::vector<int> ranks;
  std::vector<Connection*> connections;
  const Rules* rules;   ///< that they agreed on
  bool oversubscribed;  ///< likewise
  KernelCopy kernel_copy;
};

std::mutex mutex;  // guards what follows; never destroyed, like all that a program may use at its very end
std::vector<PeerGroup>& peer_groups() {
  static auto& list = *new std::vector<PeerGroup>;
  return list;
}
std::map<transport::shm::Token, Connection*>& connection_cache() {
  static auto& map = *new std::map<transport::shm::Token, Connection*>;
  return map;
}
std::atomic<bool> has_core{false};  // for itself
std::atomic<bool> scarce{false};    // cores; it stays, for a later, smaller bootstrap does not see all ranks

std::atomic<Process*> made_process{nullptr};  // once there is one

struct Made {
  std::string why;  ///< there is none
  Process* process = Process::create(settings().shared_memory, why).release();
  Made() {
    made_process = process;
    show_heap();
  }
};
const Made& made() {
  static const Made& once = *new Made;
  return once;
}
/// Null if this process cannot share memory.
Process* process() { return made().process; }

void remember(const std::vector<int>& world, const NodeView& view) {
  if (std::ranges::count(world, MPI_UNDEFINED) > 0 || known_neighbours(world)) return;
  std::vector<std::pair<int, Connection*>> pairs;
  for (std::size_t r = 0; r < world.size(); ++r) pairs.emplace_back(world[r], view.connections[r]);
  std::ranges::sort(pairs);
  PeerGroup group{{}, {}, view.rules, view.oversubscribed, view.kernel_copy};
  for (const auto& [rank, connection] : pairs) {
    group.ranks.push_back(rank);
    group.connections.push_back(connection);
  }
  const std::lock_guard lock(mutex);
  peer_groups().push_back(std::move(group));
}

/// What cannot be found out keeps this process alone: it is not known to be near any other.
std::uint64_t alone(const char* file, int error) {
  if (settings().shm)
    say("no memory can be shared by this process (" + std::string(file) + ": " + std::strerror(error) +
            "); its messages go through the MPI",
        "STRETTO_SHM=0 says that this is meant");
  std::uint64_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}

/// A machine that was copied while it ran keeps its boot_id, hence the name; and a process of another PID namespace
/// cannot be found in /proc.
std::uint64_t machine_id() {
  constexpr const char* boot_id = "/proc/sys/kernel/random/boot_id";
  constexpr const char* pid_namespace = "/proc/self/ns/pid";
  char host[256] = {}, space[64] = {};
  gethostname(host, sizeof host - 1);
  char boot[64] = {};
  const int file = open(boot_id, O_RDONLY | O_CLOEXEC);
  const bool was_read = file >= 0 && read(file, boot, sizeof boot - 1) > 0;
  const int error = errno;
  if (file >= 0) close(file);
  if (!was_read) return alone(boot_id, error);
  if (readlink(pid_namespace, space, sizeof space - 1) < 0) return alone(pid_namespace, errno);
  return std::hash<std::string>{}(std::string(boot) + host + '\n' + space);
}

/// Cores of the node that this process may use, its quota of them if it has one.
int core_limit() {
  static const int limit = static_cast<int>(std::min<long>(sysconf(_SC_NPROCESSORS_ONLN), core_quota()));
  return limit;
}

/// Ranks that are on one node, before any of them relies on the others.
class NodeBootstrap {
 public:
  NodeBootstrap(Bootstrap& node, bool own)
      : node_(node),
        own_(own),
        all_(static_cast<std::size_t>(node.ranks())),
        connections_(all_.size()) {}

  /// False, on all ranks alike: they cannot share memory.
  bool hold() {
    introduce();
    for (std::size_t r = 0; r < all_.size() && refused_.empty() && node_.ok(); ++r)
      if (r != me()) offer(r);
    if (!agreed()) {
      for (const std::size_t r : new_) process()->retire(connections_[r]);
      if (board_ && node_.ok()) process()->boards().give_back(board_, 0);  // else others may go by it
      return false;
    }
    for (const std::size_t r : new_) process()->connect(*connections_[r], all_[r].board, me());
    process()->boards().give_back(board_, static_cast<std::uint32_t>(new_.size()));  // to each of which I am new, too
    if (!own_) {
      const std::lock_guard lock(mutex);
      for (const std::size_t r : new_) connection_cache()[all_[r].handle.token] = connections_[r];
    }
    has_core = !scarce && !flavour::yields_when_idle();
    return true;
  }

  /// By rank of the node; null for myself.
  const std::vector<Connection*>& connections() const { return connections_; }
  /// Is any of these ranks short of cores?
  bool oversubscribed() const { return oversubscribed_; }
  /// Of the memory of the next one of these ranks, by each.
  KernelCopy kernel_copy() const { return kernel_copy_; }
  /// Nothing: these ranks have to look for one.
  std::optional<std::uint32_t> number() const {
    const std::uint32_t first = all_.front().number;
    if (own_ || !std::ranges::all_of(all_, [&](const PeerInfo& i) { return i.number == first; })) return std::nullopt;
    return first;
  }

 private:
  std::size_t me() const { return static_cast<std::size_t>(node_.rank()); }

  void introduce() {
    PeerInfo mine;
    static std::byte probe[probe_bytes];
    mine.cores = allowed_cores();
    std::memset(probe, 1, sizeof probe);  // pages of its own
    mine.probe = probe;
    if (!own_) mine.number = propose_number();
    if (Process* p = process()) {
      mine.handle = p->segment().handle();
      board_ = p->boards().take(all_.size());
      if (board_)
        mine.board = p->segment().offset(board_);
      else
        refuse({"STRETTO_SHM_MEMORY is used up", true});
    } else {
      refused_ = "no memory can be shared on this node (" + made().why + "); messages go through the MPI";
      hint_ = "STRETTO_SHM=0 says that this is meant";
    }
    node_.allgather(&mine, all_.data(), sizeof mine);
    if (!node_.ok()) return;
    count_cores();
    if (refused_.empty()) kernel_copy_ = reads_next();  // now, for ranks have just met
  }

  void refuse(const transport::shm::Refusal& refusal) {
    refused_ = "a communicator cannot use shared memory (" + refusal.why + "); its messages go through the MPI";
    hint_ = refusal.full ? "STRETTO_SHM_MEMORY=256M gives more of it; STRETTO_SHM=0 uses none"
                         : "ranks of one node must be of one user, in one user namespace, and see each other in "
                           "/proc; STRETTO_SHM=0 says that this is meant";
  }

  /// Writes down my end of the connection to rank `r` of the node.
  void offer(std::size_t r) {
    const SegmentHandle& handle = all_[r].handle;
    if (!own_) {
      const std::lock_guard lock(mutex);
      const auto found = connection_cache().find(handle.token);
      if (found != connection_cache().end()) {
        connections_[r] = found->second;
        return;
      }
    }
    if (handle.file < 0 || all_[r].board < 0) return;  // its process says so
    transport::shm::Refusal refusal;
    const std::uint64_t slots = mpi::oversubscribed() ? transport::shm::many_slots : transport::shm::few_slots;
    connections_[r] = process()->new_connection(handle, refusal, slots);
    if (!connections_[r]) return refuse(refusal);
    new_.push_back(r);
    board_->addresses()[r] = process()->address(*connections_[r]);
  }

  /// Does no rank refuse? Else the first one that does says why, unless the ranks have heard of such a thing before.
  bool agreed() {
    const bool willing = refused_.empty() && node_.ok();
    const std::array<std::int64_t, 3> mine{willing ? node_.ranks() : node_.rank(), scarce ? 0 : 1,
                                           static_cast<std::int64_t>(kernel_copy_)};
    std::array<std::int64_t, 3> least{};
    node_.minimum(mine, least.data());
    oversubscribed_ = least[1] == 0;
    kernel_copy_ = static_cast<KernelCopy>(least[2]);
    if (node_.ok() && least[0] == node_.ranks()) return true;
    static std::atomic<bool> said{false};
    const bool alone = node_.ranks() == 1;  // here to take part in what other nodes do
    if (!alone && !said.exchange(true) && least[0] == node_.rank() && !refused_.empty()) say(refused_, hint_);
    return false;
  }

  /// The best of some copies counts: the first ones touch memory, and others may have the cores now and then.
  KernelCopy reads_next() const {
    using Clock = std::chrono::steady_clock;
    const int copies = scarce ? 1 : 10;  // who shares a core would measure others
    constexpr double fast = 14e9;        // bytes a second, out of a cache, while the next one reads as well
    if (!settings().kernel_copy) return KernelCopy::refused;
    const PeerInfo& next = all_[(me() + 1) % all_.size()];
    static std::byte read[probe_bytes];
    auto best = Clock::duration::max();
    for (int i = 0; i < copies; ++i) {
      const auto begin = Clock::now();
      if (transport::shm::kernel_read(next.handle.process, read, next.probe, probe_bytes) != probe_bytes)
        return KernelCopy::refused;
      best = std::min(best, Clock::now() - begin);
    }
    const bool is_fast = probe_bytes / fast > std::chrono::duration<double>(best).count();
    return is_fast ? KernelCopy::fast : KernelCopy::permitted;
  }

  void count_cores() const {
    CoreSet cores;
    int as_mine = 0;
    for (const PeerInfo& i : all_) {
      cores.add(i.cores);
      as_mine += i.cores == all_[me()].cores ? 1 : 0;
    }
    const int ranks = std::max(launched_here(), static_cast<int>(all_.size()));
    if (ranks > std::min(cores.size(), core_limit()) || as_mine > all_[me()].cores.size()) scarce = true;
  }

  Bootstrap& node_;
  bool own_;
  bool oversubscribed_ = false;
  KernelCopy kernel_copy_ = KernelCopy::refused;
  std::string refused_, hint_;  // empty: I can share memory with all
  std::vector<PeerInfo> all_;
  std::vector<Connection*> connections_;
  std::vector<std::size_t> new_;
  transport::shm::Board* board_ = nullptr;  // mine
};

}  // namespace

void prepare_node() {
  if (!settings().shm) return;
  node_id();
  core_limit();
  process();
}

std::int64_t node_id() {
  static const std::uint64_t machine = machine_id();
  std::uint64_t id = machine;
  if (settings().nodes) {
    int rank = 0;
    native().Comm_rank(constants().world, &rank);
    id ^= 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(*settings().pretended_node(rank) + 1);
  }
  return static_cast<std::int64_t>(id >> 2);
}

std::optional<NodeView> known_neighbours(const std::vector<int>& world) {
  const std::lock_guard lock(mutex);
  for (const PeerGroup& group : peer_groups()) {
    NodeView view;
    view.rules = group.rules;
    view.oversubscribed = group.oversubscribed;
    view.kernel_copy = group.kernel_copy;
    for (const int rank : world) {
      const auto at = std::ranges::lower_bound(group.ranks, rank);
      if (at == group.ranks.end() || *at != rank) break;
      view.connections.push_back(group.connections[static_cast<std::size_t>(at - group.ranks.begin())]);
    }
    if (view.connections.size() == world.size()) return view;
  }
  return std::nullopt;
}

std::optional<NodeView> meet_neighbours(Bootstrap& node, bool own, const Rules& rules) {
  NodeBootstrap bootstrap(node, own);
  if (!bootstrap.hold()) return std::nullopt;
  NodeView view{bootstrap.connections(), own,    bootstrap.oversubscribed(),
                bootstrap.kernel_copy(), &rules, bootstrap.number()};
  if (!own) remember(translate(node.comm(), constants().world), view);  // else its communicator may have more ranks
  return view;
}

bool oversubscribed() { return scarce || launched_here() > core_limit(); }

void leave(const NodeView& view, std::uint32_t communicator) {
  for (Connection* c : view.connections) {
    if (!c) continue;
    if (view.own)
      process()->retire(c);
    else
      c->forget(communicator);
  }
}

bool someone_died(const NodeView& view) {
  return std::ranges::any_of(view.connections, [](Connection* c) { return c && process()->peer_died(*c); });
}

transport::shm::Segment* segment_at_hand() {
  Process* const p = made_process;
  return p ? &p->segment() : nullptr;
}

void depart() {
  if (Process* p = made_process) p->segment().depart();
}

transport::shm::StagingRings take_staging_rings() {
  const auto rings = process()->take_staging_rings();
  if (!rings) {
    say("there is no shared memory for one more thread", "set STRETTO_SHM_MEMORY=256M or more");
    native().Abort(constants().world, 1);
  }
  return *rings;
}

void return_staging_rings(const transport::shm::StagingRings& rings) { process()->return_staging_rings(rings); }

transport::shm::Neighbours neighbours(const NodeView& view, const transport::shm::StagingRings& rings) {
  return {.connections = view.connections,
          .staging = rings,
          .doorbell = process()->segment().doorbell(),
          .segment = process()->segment().memory(),
          .policy = wait_policy(),
          .heap = &shown_heap()};
}

transport::shm::WaitPolicy wait_policy() {
  return has_core.load(std::memory_order_relaxed) ? transport::shm::WaitPolicy{} : transport::shm::sharing_cores;
}

}  // namespace stretto::mpi
