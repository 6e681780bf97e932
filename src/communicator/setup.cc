// SPDX-License-Identifier: BSD-3-Clause
//
// The set-up of a communicator: its ranks agree on how to choose, find out which of them share a node, and get their
// connections.
#include <algorithm>
#include <cstddef>
#include <mutex>
#include <set>
#include <string_view>
#include <type_traits>
#include <vector>

#include "communicator/agreement.hpp"
#include "communicator/communicator.hpp"
#include "communicator/meeting.hpp"
#include "communicator/neighbourhood.hpp"
#include "communicator/own_process.hpp"
#include "communicator/provenance.hpp"
#include "communicator/shared_messages.hpp"
#include "mpi/flavour/flavour.hpp"
#include "mpi/queries.hpp"
#include "support/launcher.hpp"
#include "support/say.hpp"

namespace stretto::mpi {
namespace {

thread_local bool in_init = false;  // the program has no other threads yet that make communicators of the world

/// Need the ranks connections that serve no other communicator?
bool needs_own(const Agreement& agreed, Provenance provenance) {
  return agreed.threads || agreed.faults || provenance != Provenance::world;
}

/// What each of few ranks tells all others, before it is known whether messages arrive: the native library brings half
/// of all letters at once, which must not be more than the 4 KiB that it sends without any help of the receiver. Always
/// as long, and beginning with the digest of variables and layout: ranks with another build shall be told, not hang.
struct alignas(256) Letter {
  Terms terms;
  PeerInfo memory;
};
constexpr Rank most_to_meet_at_once = 32;
static_assert(std::is_trivially_copyable_v<Letter> && sizeof(Letter) == 256 && offsetof(Letter, terms) == 0 &&
              offsetof(Terms, variables) == 0);
static_assert(most_to_meet_at_once / 2 * sizeof(Letter) <= 4096);

}  // namespace

/// All calls go to the native library. Rank 0 says so, once in these words.
void Communicator::refuse(Passed reason, const char* what, const char* hint) {
  unusable = reason;
  if (rank_ != 0) return;
  static std::mutex mutex;
  static auto& said = *new std::set<std::string_view>;
  const std::lock_guard lock(mutex);
  if (said.insert(what).second) say(what, hint);
}

void set_up_world(const std::string& cause) {
  in_init = true;
  communicator(constants().world, cause);
  in_init = false;
}

void prepare_process() {
  if (launched_rank() <= 0)
    own_rules();
  else
    shipped_rules();  // most likely also those of rank 0
  prepare_node();
}

bool ranks_have_met(MPI_Comm comm) {
  if (comm == constants().comm_null || !world_is_up() || provenance_of(comm) != Provenance::world) return false;
  return known_neighbours(translate(comm, constants().world)).has_value();
}

void Communicator::connect(const std::string& cause) {
  const Provenance provenance = provenance_of(comm_);
  threads_ = threads_at_once() || provenance == Provenance::session;
  all_threads_ = threads_at_once();
  if (ranks_ == 1) {
    rules_ = &own_rules();
    if (buffers_may_be_on_gpu()) unusable = Passed::gpu;
    return;
  }
  const std::vector<int> world_ranks = translate(comm_, constants().world);
  if (has_strangers(provenance, world_ranks))
    return refuse(Passed::strangers,
                  "a communicator has ranks of another MPI_COMM_WORLD, which may have no Stretto; its calls go to the "
                  "native library",
                  "`stretto run` hands Stretto to the processes that a job spawns");
  nodes_.assign(static_cast<std::size_t>(ranks_), 0);
  const ErrorsReturned quiet(comm_);
  Bootstrap all(comm_, cause);
  if (provenance == Provenance::world && settings().shm) node_ = known_neighbours(world_ranks);
  if (node_) return connect_one_node(all);  // ranks that have met know all that is to be known of each other
  const bool few = ranks_ <= most_to_meet_at_once;
  const Agreement agreed = few ? agree_and_meet(all, provenance) : agree(all, Terms::own(rank_));
  same_files_ = agreed.same_files;
  if (agreed.gpu)
    return refuse(Passed::gpu,
                  "this MPI takes buffers in the memory of GPUs, which Stretto does not reach; its calls go to the "
                  "native library",
                  "STRETTO_GPU=0 if the program's buffers are all in the memory of the host");
  if (!agreed.usable && !agreed.same_variables)
    return refuse(Passed::communicator,
                  "the ranks of a communicator have different STRETTO_ variables or libraries; its calls go to the "
                  "native library",
                  "start all with the same library and variables, for example with `stretto run`");
  if (!agreed.usable)
    return refuse(Passed::communicator, "a communicator's set-up failed; its calls go to the native library",
                  "the MPI itself could not bring some small messages");
  rules_ = agreed.rules;
  survives_faults_ = careful = agreed.faults;
  own_thread_ = agreed.own_thread;
  threads_ = threads_ || agreed.threads;  // what is left native for it is so on all ranks
  all_threads_ = agreed.all_threads;
  const bool own = needs_own(agreed, provenance);
  if (!few && settings().shm && agreed.one_node) node_ = meet_neighbours(all, own, !agreed.faults, *rules_);
  if (node_) return connect_one_node(all);
  connect_nodes(all, agreed, own, world_ranks);
}

/// One native collective does, where all is well and all ranks are on one node.
Agreement Communicator::agree_and_meet(Bootstrap& all, Provenance provenance) {
  Meeting meeting(all);
  Letter mine{Terms::own(rank_), {}};
  if (settings().shm) mine.memory = meeting.introduce();
  std::vector<Letter> letters(static_cast<std::size_t>(ranks_));
  all.allgather(&mine, letters.data(), sizeof mine);
  Agreement agreed;
  if (all.ok()) {
    std::vector<Terms> terms(letters.size());
    std::ranges::transform(letters, terms.begin(), &Letter::terms);
    agreed = combined(terms);
  }
  if (all.ok() && settings().shm && agreed.same_variables && !agreed.gpu && agreed.one_node) {
    std::vector<PeerInfo> infos(letters.size());
    std::ranges::transform(letters, infos.begin(), &Letter::memory);
    meeting.connect(std::move(infos), needs_own(agreed, provenance));
  }
  const Verdict verdict = meeting.conclude(agreed.rules != nullptr, !agreed.faults);
  agreed = settle(all, agreed, verdict.all_came, verdict.rules_known);
  if (!verdict.memory_shared) return agreed;
  if (agreed.usable)
    node_ = meeting.view(*agreed.rules);
  else
    meeting.drop();
  return agreed;
}

void Communicator::connect_nodes(Bootstrap& all, const Agreement& agreed, bool own,
                                 const std::vector<int>& world_ranks) {
  const bool shares = agreed.threads && !flavour::traits.threads_may_make_communicators;
  const bool makes_none = shares && !in_init;
  if (makes_none) {
    const bool may_share =
        provenance_of(comm_) == Provenance::world && std::ranges::count(world_ranks, MPI_UNDEFINED) == 0;
    tags_ = agree_on_tags(all, may_share);
    if (!tags_)
      return refuse(
          Passed::communicator,
          "with MPI_THREAD_MULTIPLE, Open MPI's communicators that need more than shared memory are left to it",
          "they are served under `stretto run`, or with MPI_THREAD_SERIALIZED or less");
  }
  if (settings().shm && !agreed.one_node) node_ = meet_on_node(all, agreed, own, makes_none);
  find_nodes(all);
  if (tags_)
    messages_.emplace(shared_messages(), *tags_, world_ranks);
  else
    make_private(all, shares && transport::parts_of_tags() > 1);
  gather_graph(all);
  if (per_node_ == 1) most_depth_ = 64;
  if (!own) return number(all);
  if (!all.agreed()) refuse_failed();
}

/// Between nodes algorithms go by the neighbours of all ranks.
void Communicator::gather_graph(Bootstrap& all) {
  std::shared_ptr<const Graph> own = graph();
  if (topology_of(comm_) == MPI_DIST_GRAPH) graph_ = graph_of_all(all, std::move(own), rank_);
  if (graph_ && graph_->whole() && all.ok()) to_node_ = messages_to_node(*graph_, nodes_);
}

void Communicator::refuse_failed() {
  refuse(Passed::communicator, "a communicator's set-up failed; its calls go to the native library",
         "the MPI may have no room for one more communicator");
}

/// Where connections are shared. Threads that make communicators at once could look for numbers for long.
void Communicator::number(Bootstrap& all) {
  if (const auto number = agree_on_number(all))
    tag_.communicator = *number;
  else
    refuse_failed();
}

/// All ranks are on one node, and connected.
void Communicator::connect_one_node(Bootstrap& all) {
  per_node_ = ranks_;
  cores_ = node_->cores;
  oversubscribed_ = node_->oversubscribed;
  kernel_copy_ = node_->kernel_copy;
  rules_ = node_->rules;
  if (node_->number)
    tag_.communicator = *node_->number;
  else if (!node_->own)
    number(all);
}

/// The ranks of a node meet on a communicator of their own, which scales, or, where there must be none, on that of all.
std::optional<NodeView> Communicator::meet_on_node(Bootstrap& all, const Agreement& agreed, bool own,
                                                   bool on_that_of_all) {
  std::vector<std::int64_t> ids = agreed.nodes;
  const std::int64_t mine = node_id();
  if (ids.empty()) {
    ids.resize(nodes_.size());
    all.allgather(&mine, ids.data(), sizeof mine);
  }
  std::vector<Rank> members;
  for (Rank r = 0; r < ranks_; ++r)
    if (ids[static_cast<std::size_t>(r)] == mine) members.push_back(r);
  MPI_Comm node = constants().comm_null;
  std::optional<NodeView> view;
  if (on_that_of_all) {
    Bootstrap near(all, members);
    view = meet_neighbours(near, own, false, *rules_);
  } else if (native().Comm_split(comm_, members.front(), rank_, &node) != MPI_SUCCESS) {
    all.fail();
    return std::nullopt;
  } else if (Bootstrap near(node, all.cause()); near.ranks() > 1) {
    view = meet_neighbours(near, own, !survives_faults_, *rules_);
  }
  if (node != constants().comm_null) native().Comm_free(&node);
  if (!view || members.size() == 1) return std::nullopt;
  std::vector<transport::shm::Connection*> by_rank(nodes_.size());
  for (std::size_t i = 0; i < members.size(); ++i) by_rank[static_cast<std::size_t>(members[i])] = view->connections[i];
  view->connections.swap(by_rank);
  return view;
}

void Communicator::find_nodes(Bootstrap& all) {
  struct Place {
    int lowest;  // rank of my node
    bool oversubscribed;
    KernelCopy kernel_copy;
  };
  Place mine{rank_, node_ ? node_->oversubscribed : mpi::oversubscribed(),
             node_ ? node_->kernel_copy : KernelCopy::fast};
  if (node_) {
    const auto& near = node_->connections;
    const auto first = std::ranges::find_if(near, [](const auto* c) { return c != nullptr; });
    mine.lowest = std::min(rank_, static_cast<Rank>(first - near.begin()));
  }
  std::vector<Place> places(nodes_.size());
  all.allgather(&mine, places.data(), sizeof mine);
  if (!all.ok()) return;
  std::ranges::transform(places, nodes_.begin(), &Place::lowest);
  oversubscribed_ = std::ranges::any_of(places, &Place::oversubscribed);
  kernel_copy_ = std::ranges::min(places, {}, &Place::kernel_copy).kernel_copy;
  std::vector<Rank> on_node(nodes_.size(), 0);
  for (const Rank node : nodes_) per_node_ = std::max(per_node_, ++on_node[static_cast<std::size_t>(node)]);
  even_nodes_ = std::ranges::all_of(on_node, [&](Rank n) { return n == 0 || n == per_node_; });
}

void Communicator::make_private(Bootstrap& all, bool to_share) {
  private_ = with_same_ranks(comm_);
  if (private_ == constants().comm_null) return all.fail();
  native().Comm_set_errhandler(private_, MPI_ERRORS_RETURN);
  if (!to_share) {
    messages_.emplace(private_);
    return;
  }
  messages_.emplace(private_, first_tags, std::vector<int>());
  share_messages(private_);
}

}  // namespace stretto::mpi
