// SPDX-License-Identifier: BSD-3-Clause
//
// How ranks of one node come to share memory: each says where its segment is, makes its ends of the connections to all
// others, and hears whether all have done so, before any of them relies on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "communicator/node.hpp"
#include "mpi/bootstrap.hpp"
#include "support/cores.hpp"
#include "transport/shm/process.hpp"

namespace stretto::mpi {

/// What a rank tells the others of its node. Copied as bytes.
struct PeerInfo {
  transport::shm::SegmentHandle handle;
  CoreSet cores;
  const std::byte* probe = nullptr;  ///< memory for its neighbour to read, by the kernel
  Bytes board = -1;                  ///< where the addresses for others will be, in its segment
  std::uint32_t number = 0;          ///< that it proposes for the communicator: mostly all propose the same one
};

/// The same on all ranks.
struct Verdict {
  bool all_came = false;       ///< else: on some rank a native collective failed
  bool rules_known = false;    ///< on all
  bool memory_shared = false;  ///< by all
};

/// The ranks of `node`, which outlives this, have the same node_id() and settings, or it is not connected.
class Meeting {
 public:
  explicit Meeting(Bootstrap& node) : node_(node), connections_(static_cast<std::size_t>(node.ranks())) {}
  ~Meeting() { finish(false); }
  Meeting& operator=(Meeting&&) = delete;

  /// What this rank has to tell.
  PeerInfo introduce();
  /// My ends of the connections to all, who have told this. `own`: they shall serve no other communicator.
  void connect(std::vector<PeerInfo> all, bool own);
  /// Collective, whatever has failed before. If ranks `may_look`, which is the same on all, those that are willing read
  /// each other's notices; only if one stands back do all ask each other by the MPI.
  Verdict conclude(bool rules_known, bool may_look);
  /// Once memory is known to be shared: either, by ranks that go by these rules …
  NodeView view(const Rules& rules);
  /// … or these ranks shall not use it after all.
  void drop();

 private:
  /// Bits of the notice on a board; the last one begins a number, the KernelCopy.
  static constexpr std::uint32_t said = 1, willing = 2, scarce = 4, copies = 8;

  std::size_t me() const { return static_cast<std::size_t>(node_.rank()); }
  bool is_willing() const { return tried_ && refused_.empty() && node_.ok(); }
  void refuse(const transport::shm::Refusal& refusal);
  void connect(std::size_t rank);
  transport::shm::Board& board_of(std::size_t rank) const;
  bool all_are_willing(std::uint32_t mine);
  Verdict by_messages(bool rules_known);
  void finish(bool shared);

  Bootstrap& node_;
  bool own_ = false;
  bool tried_ = false;  // to connect
  bool oversubscribed_ = false;
  KernelCopy kernel_copy_ = KernelCopy::refused;
  std::string refused_, hint_;  // empty: I can share memory with all
  std::vector<PeerInfo> all_;
  std::vector<transport::shm::Connection*> connections_;  // by rank; null for myself
  std::vector<std::size_t> new_;                          // ranks
  transport::shm::Board* board_ = nullptr;                // mine, until it is given back
};

/// All ranks of `node` have the same node_id(), settings and `rules`. Nothing, on all of them alike, if they cannot
/// share memory. See Meeting.
std::optional<NodeView> meet_neighbours(Bootstrap& node, bool own, bool may_look, const Rules& rules);

}  // namespace stretto::mpi
