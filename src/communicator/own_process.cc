// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/own_process.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>

#include "communicator/shared_heap.hpp"
#include "mpi/flavour/flavour.hpp"
#include "mpi/native.hpp"
#include "settings/settings.hpp"
#include "support/files.hpp"
#include "support/launcher.hpp"
#include "support/say.hpp"

namespace stretto::mpi {
namespace {

using transport::shm::Process;

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
const Made& process_made() {
  static const Made& once = *new Made;
  return once;
}

/// What cannot be found out keeps this process alone: it is not known to be near any other.
std::uint64_t alone(const char* file, int error) {
  if (settings().shm)
    say("no memory can be shared by this process (" + std::string(file) + ": " + std::strerror(error) +
            "); its messages go through the MPI",
        "STRETTO_SHM=0 says that this is meant");
  std::uint64_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number)
    if (errno != EINTR) {
      const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
      return static_cast<std::uint64_t>(now) << 22 ^ static_cast<std::uint64_t>(getpid());
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
  const std::string boot = read_file(boot_id);
  if (boot.empty()) return alone(boot_id, errno);
  if (readlink(pid_namespace, space, sizeof space - 1) < 0) return alone(pid_namespace, errno);
  return std::hash<std::string>{}(boot + host + '\n' + space);
}

std::uint64_t machine() {
  static const std::uint64_t id = machine_id();
  return id;
}

/// Cores of the node that this process may use, its quota of them if it has one.
int core_limit() {
  static const int limit = std::min(cores_online(), core_quota());
  return limit;
}

}  // namespace

void prepare_node() {
  if (!settings().shm) return;
  machine();
  core_limit();
  Process* const p = own_process();
  const int peers = launched_here() - 1;
  // A guess: what is missing is provided when it is needed, and if the system has no such memory, that is seen then.
  if (p && peers > 0)
    p->segment().provide_near_header(
        peers * bytes_of_channels(capacity_of_connections(static_cast<std::size_t>(peers) + 1, false)));
}

/// Rooms take memory for each peer: less where there are many, none where each communicator has connections of its own.
transport::shm::Capacity capacity_of_connections(std::size_t met, bool own) {
  using transport::shm::few_slots;
  if (oversubscribed()) return {transport::shm::many_slots, 0};
  const bool many = std::max<std::ptrdiff_t>(launched_here(), static_cast<std::ptrdiff_t>(met)) > 16;
  return {few_slots, own ? 0U : many ? 256U : 1024U};
}

std::int64_t node_id() {
  std::uint64_t id = machine();
  if (settings().nodes) {
    int rank = 0;
    native().Comm_rank(constants().world, &rank);
    id ^= 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(*settings().pretended_node(rank) + 1);
  }
  return static_cast<std::int64_t>(id >> 2);
}

Process* own_process() { return process_made().process; }

const std::string& why_it_shares_nothing() { return process_made().why; }

transport::shm::Segment* segment_at_hand() {
  Process* const p = made_process;
  return p ? &p->segment() : nullptr;
}

void depart() {
  if (Process* p = made_process) p->segment().depart();
}

void count_cores(const CoreSet& own, const std::vector<CoreSet>& all) {
  CoreSet together;
  for (const CoreSet& one : all) together |= one;
  const auto as_mine = std::ranges::count(all, own);
  // Of others of the job, which may be bound to other cores, only how many they are is known.
  if (std::max<std::ptrdiff_t>(launched_here(), std::ssize(all)) > core_limit()) scarce = true;
  if (own.none()) return;  // there are more cores than the kernel tells of
  if (all.size() > together.count() || static_cast<std::size_t>(as_mine) > own.count()) scarce = true;
}

bool cores_are_scarce() { return scarce; }

bool oversubscribed() { return scarce || launched_here() > core_limit(); }

void have_met() { has_core = !scarce && !flavour::yields_when_idle(); }

transport::shm::WaitPolicy wait_policy() {
  if (has_core.load(std::memory_order_relaxed)) return {};
  return scarce.load(std::memory_order_relaxed) ? transport::shm::sharing_cores : transport::shm::yielding_at_once;
}

transport::shm::StagingRings take_staging_rings() {
  const auto rings = own_process()->take_staging_rings();
  if (!rings) {
    say("there is no shared memory for one more thread", "set STRETTO_SHM_MEMORY=256M or more");
    native().Abort(constants().world, 1);
  }
  // New pages can take several times as long as a message: what is tried for a few calls only would seem slow.
  if (!settings().learn.empty()) std::ranges::for_each(*rings, &transport::shm::StagingRing::write_pages);
  return *rings;
}

}  // namespace stretto::mpi
