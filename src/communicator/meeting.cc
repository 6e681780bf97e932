// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/meeting.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "communicator/agreement.hpp"
#include "communicator/own_process.hpp"
#include "mpi/progress.hpp"
#include "mpi/queries.hpp"
#include "settings/settings.hpp"
#include "support/launcher.hpp"
#include "support/say.hpp"

namespace stretto::mpi {
namespace {

using transport::shm::Board;
using transport::shm::Connection;
using transport::shm::SegmentHandle;

constexpr Bytes probe_bytes = 32 << 10;

std::mutex meetings_mutex;  // guards what follows; never destroyed, like all that a program may use at its very end
std::map<transport::shm::Token, Connection*>& connection_cache() {
  static auto& map = *new std::map<transport::shm::Token, Connection*>;
  return map;
}

/// Memory of this process, in pages of its own if it will be timed.
const std::byte* probe() {
  static std::byte bytes[probe_bytes];
  [[maybe_unused]] static const auto* filled = oversubscribed() ? bytes : std::memset(bytes, 1, sizeof bytes);
  return bytes;
}

/// Of the memory of `next` by this process. The best of some copies counts: the first ones touch memory, and others may
/// have the cores now and then.
KernelCopy kernel_copy_of(const PeerInfo& next) {
  using Clock = std::chrono::steady_clock;
  constexpr int copies = 10;
  constexpr double fast = 9e9;  // bytes a second, out of a cache, while the next one reads as well
  if (!settings().kernel_copy) return KernelCopy::refused;
  static std::byte read[probe_bytes];
  if (cores_are_scarce())  // who shares a core would measure others
    return transport::shm::kernel_read(next.handle.process, read, next.probe, 1) == 1 ? KernelCopy::permitted
                                                                                      : KernelCopy::refused;
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

}  // namespace

PeerInfo Meeting::introduce() {
  PeerInfo mine;
  mine.cores = allowed_cores();
  mine.probe = probe();
  mine.number = propose_number();
  if (transport::shm::Process* p = own_process()) {
    mine.handle = p->segment().handle();
    board_ = p->boards().take(connections_.size());
    if (board_)
      mine.board = p->segment().offset(board_);
    else
      refuse({"STRETTO_SHM_MEMORY is used up", true});
  } else {
    refused_ = "no memory can be shared on this node (" + why_it_shares_nothing() + "); messages go through the MPI";
    hint_ = "STRETTO_SHM=0 says that this is meant";
  }
  return mine;
}

void Meeting::refuse(const transport::shm::Refusal& refusal) {
  refused_ = "a communicator cannot use shared memory (" + refusal.why + "); its messages go through the MPI";
  hint_ = refusal.full ? "STRETTO_SHM_MEMORY=256M gives more of it; STRETTO_SHM=0 uses none"
                       : "ranks of one node must be of one user, in one user namespace, and see each other in "
                         "/proc; STRETTO_SHM=0 says that this is meant";
}

void Meeting::connect(std::vector<PeerInfo> all, bool own) {
  all_ = std::move(all);
  own_ = own;
  tried_ = true;
  std::vector<CoreSet> cores(all_.size());
  std::ranges::transform(all_, cores.begin(), &PeerInfo::cores);
  count_cores(cores[me()], cores);
  if (refused_.empty()) kernel_copy_ = kernel_copy_of(all_[(me() + 1) % all_.size()]);  // now, for ranks have just met
  for (std::size_t r = 0; r < all_.size() && refused_.empty(); ++r)
    if (r != me()) connect(r);
}

void Meeting::connect(std::size_t rank) {
  const SegmentHandle& handle = all_[rank].handle;
  if (!own_) {
    const std::lock_guard lock(meetings_mutex);
    const auto found = connection_cache().find(handle.token);
    if (found != connection_cache().end()) {
      connections_[rank] = found->second;
      return;
    }
  }
  if (handle.file < 0 || all_[rank].board < 0) return;  // its process says so
  transport::shm::Refusal refusal;
  connections_[rank] = own_process()->new_connection(handle, refusal, capacity_of_connections(all_.size(), own_));
  if (!connections_[rank]) return refuse(refusal);
  new_.push_back(rank);
  board_->addresses()[rank] = own_process()->address(*connections_[rank]);
}

// Who cannot map the memory of all others, or lacks the rules, stands back, and all who look see that: either all find
// all willing, or none ends without the MPI.
Verdict Meeting::conclude(bool rules_known, bool may_look) {
  const bool agrees = is_willing() && rules_known;
  const std::uint32_t mine = said + (agrees ? willing : 0) + (cores_are_scarce() ? scarce : 0) +
                             copies * static_cast<std::uint32_t>(kernel_copy_);
  if (board_) board_->notice.store(mine, std::memory_order_release);
  if (may_look && agrees && all_are_willing(mine)) {
    finish(true);
    return {true, true, true};
  }
  const Verdict verdict = by_messages(rules_known);
  finish(verdict.memory_shared);
  return verdict;
}

transport::shm::Board& Meeting::board_of(std::size_t rank) const {
  return own_process()->board_of(*connections_[rank], all_[rank].board);
}

/// `mine` is my notice: what others see of me, whatever this process learns meanwhile.
bool Meeting::all_are_willing(std::uint32_t mine) {
  std::uint32_t together = mine;
  KernelCopy least = kernel_copy_;
  std::size_t r = 0;
  std::vector<Board*> boards(all_.size());
  for (std::size_t peer = 0; peer < all_.size(); ++peer) {
    if (peer == me()) continue;
    if (!connections_[peer] || all_[peer].board < 0) return false;
    boards[peer] = &board_of(peer);
    boards[peer]->read.fetch_add(0, std::memory_order_relaxed);  // see touch() in transport/shm/process.cc
  }
  node_.await([&] {
    for (; r < all_.size() && (together & willing); ++r) {
      if (!boards[r]) continue;
      const std::uint32_t theirs = boards[r]->notice.load(std::memory_order_acquire);
      if (!theirs) {
        drive_progress();  // it may still wait for what this process has to send
        return false;
      }
      if (!(theirs & willing)) together &= ~willing;
      together |= theirs & scarce;
      least = std::min(least, static_cast<KernelCopy>(theirs / copies));
    }
    return true;
  });
  if (!node_.ok() || !(together & willing)) return false;
  oversubscribed_ = together & scarce;
  kernel_copy_ = least;
  return true;
}

/// If not all share memory, the first rank that does not says why, unless the ranks have heard of such a thing before.
Verdict Meeting::by_messages(bool rules_known) {
  const std::array<std::int64_t, 5> mine{node_.ok() ? 1 : 0, rules_known ? 1 : 0,
                                         is_willing() ? node_.ranks() : node_.rank(), cores_are_scarce() ? 0 : 1,
                                         static_cast<std::int64_t>(kernel_copy_)};
  const std::array<std::int64_t, 5> least = node_.minimum(mine);
  if (!node_.ok()) return {};
  oversubscribed_ = least[3] == 0;
  kernel_copy_ = static_cast<KernelCopy>(least[4]);
  const Verdict verdict{least[0] == 1, least[1] == 1, least[2] == node_.ranks()};
  static std::atomic<bool> said_so{false};
  const bool alone = node_.ranks() == 1;  // here to take part in what other nodes do
  if (tried_ && !verdict.memory_shared && !alone && !said_so.exchange(true) && least[2] == node_.rank() &&
      !refused_.empty())
    say(refused_, hint_);
  return verdict;
}

/// Takes up the connections, or gives back what they would have needed.
void Meeting::finish(bool shared) {
  if (!board_ && new_.empty()) return;
  Board* const mine = std::exchange(board_, nullptr);
  const std::vector<std::size_t> made = std::exchange(new_, {});
  if (!shared) {
    for (const std::size_t r : made) own_process()->retire(connections_[r]);
    if (node_.ok()) own_process()->boards().give_back(mine, 0);  // else others may go by it
    return;
  }
  for (const std::size_t r : made) own_process()->connect(*connections_[r], board_of(r), me());
  for (std::size_t r = 0; r < all_.size(); ++r)
    if (r != me()) finish_reading(board_of(r));
  own_process()->boards().give_back(mine, static_cast<std::uint32_t>(all_.size() - 1));
  if (!own_) {
    const std::lock_guard lock(meetings_mutex);
    for (const std::size_t r : made) connection_cache()[all_[r].handle.token] = connections_[r];
  }
  have_met();
}

void Meeting::drop() {
  if (!own_) return;  // others use them, or will
  for (Connection* c : connections_)
    if (c) own_process()->retire(c);
}

NodeView Meeting::view(const Rules& rules) {
  std::vector<Rank> cores(all_.size());
  for (std::size_t r = 0; r < cores.size(); ++r) {
    const auto first = std::ranges::find(all_, all_[r].cores, &PeerInfo::cores);
    cores[r] = static_cast<Rank>(first - all_.begin());
  }
  NodeView found{connections_, std::move(cores), own_, oversubscribed_, kernel_copy_, &rules, {}};
  const std::uint32_t first = all_.front().number;  // if others proposed another one, these ranks have to look for one
  if (!own_ && std::ranges::all_of(all_, [&](const PeerInfo& i) { return i.number == first; })) found.number = first;
  if (!own_) remember(translate(node_.comm(), constants().world), found);  // else its communicator may have more ranks
  return found;
}

std::optional<NodeView> meet_neighbours(Bootstrap& node, bool own, bool may_look, const Rules& rules) {
  Meeting meeting(node);
  const PeerInfo mine = meeting.introduce();
  std::vector<PeerInfo> all(static_cast<std::size_t>(node.ranks()));
  node.allgather(&mine, all.data(), sizeof mine);
  if (node.ok()) meeting.connect(std::move(all), own);
  if (!meeting.conclude(true, may_look).memory_shared) return std::nullopt;
  return meeting.view(rules);
}

}  // namespace stretto::mpi
