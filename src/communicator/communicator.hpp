// SPDX-License-Identifier: BSD-3-Clause
//
// What Stretto keeps for a communicator: found in a few nanoseconds, freed with it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "communicator/learner.hpp"
#include "communicator/node.hpp"
#include "communicator/plan_cache.hpp"
#include "communicator/provenance.hpp"
#include "mpi/native.hpp"
#include "observe/records.hpp"
#include "observe/statistics.hpp"
#include "select/choice_table.hpp"
#include "settings/settings.hpp"
#include "transport/mpi/mpi.hpp"

namespace stretto::mpi {

/// A choice that was made, ready to be used again.
struct Decision {
  const Algorithm* algorithm = nullptr;  ///< null: the native library
  Params params;
  std::shared_ptr<const Schedule> schedule;  ///< null if the algorithm needs the counts of the call
  Counter* served = nullptr;
  Quiet quiet = {};
};

class Bootstrap;
struct Agreement;
class PendingCall;
class NonblockingCall;

/// What a long wait has seen of dead peers, and when it looks again.
struct FaultWatch {
  std::chrono::steady_clock::time_point next_look = {}, look_for_dead = {}, died = {};
};

/// Used by one thread at a time, as MPI demands of collective calls on one communicator.
class Communicator {
 public:
  Communicator(MPI_Comm comm, Rank rank, Rank ranks)
      : comm_(comm),
        private_(constants().comm_null),
        rank_(rank),
        ranks_(ranks) {}

  MPI_Comm comm() const { return comm_; }
  /// To ranks of other nodes; null if there are none.
  transport::MpiTransport* messages() { return messages_ ? &*messages_ : nullptr; }
  /// That no other one of this process has, nor will have.
  std::uint64_t serial() const { return serial_; }
  /// For the messages of the next operation; `more`: tags are kept for so many more, which follow this one.
  transport::Tag next_tag(std::uint32_t more = 0) {
    ++tag_.sequence;
    const transport::Tag next{tag_.communicator, tag_.sequence % transport::sequences_of_calls, 0};
    tag_.sequence += more;
    return next;
  }
  /// That many have been given out.
  std::uint32_t tags_given() const { return tag_.sequence; }
  /// Messages of operations whose tags are closer together cannot be taken for each other's.
  std::uint32_t tags_apart() const {
    constexpr std::uint32_t most_of_one = 8;
    return (messages_ ? messages_->sequences() : transport::sequences_of_calls) - most_of_one;
  }
  /// For all starts of a persistent call. Nothing, on all ranks alike: there is none. Collective when many have been
  /// given out, some of which may be in use; then `meanwhile` is called in its waits.
  std::optional<transport::Tag> next_persistent_tag(void (*meanwhile)());
  /// The program has freed the call.
  void return_persistent_tag(transport::Tag tag);
  /// Null if no other rank is on my node.
  const NodeView* node() const { return node_ ? &*node_ : nullptr; }
  /// May threads make calls at the same time, of which some may be on this communicator?
  bool threads() const { return threads_; }
  /// On all of its ranks? Else some have no locks.
  bool all_threads() const { return all_threads_; }
  /// May a thread of Stretto's own call the MPI on all ranks? False where ranks that had met did not ask each other.
  bool own_thread() const { return own_thread_; }
  bool one_node() const { return ranks_ > 1 && per_node_ == ranks_; }  ///< all ranks share memory
  /// Has a node of its ranks fewer cores than ranks of the job? On all ranks alike.
  bool oversubscribed() const { return oversubscribed_; }
  /// Messages of so many bytes may be lent where a decision lets the kernel copy.
  Bytes lends_from(Function function) const { return stretto::lends_from(function, kernel_copy_, oversubscribed_); }
  /// Segments in flight that the connections of all ranks allow: their schedules would not match with more on some.
  int most_depth() const { return most_depth_; }
  Rank rank() const { return rank_; }
  Rank ranks() const { return ranks_; }
  std::optional<Passed> unusable;  ///< set: every call is passed on
  std::uint64_t calls = 0;         ///< served, for the hang report
  bool careful = false;            ///< before a call it must be asked whether this communicator still works
  FaultWatch watched_by_thread, watched_by_process;  ///< by whose worker: both may wait at the same time
  /// Nonblocking and persistent calls that need not be looked at one by one.
  enum class Sure : std::uint8_t { none, without_own_operators, all };
  Sure sure_requests = Sure::none;
  /// Does the job survive failed processes?
  bool survives_faults() const { return survives_faults_; }
  /// Do its ranks want the same of profile and trace? Nothing: nobody has asked.
  std::optional<bool> same_files() const { return same_files_; }

  /// Its neighbours, if it has a topology: those of all ranks where they are on several nodes, else those that the MPI
  /// tells; null: it has none.
  const std::shared_ptr<const Graph>& graph();

  /// Null unless calls are observed. Cached ones count there when they end.
  std::unique_ptr<observe::Records> records;

  PlanCache plans;

  /// Null unless STRETTO_LEARN asks for it.
  std::unique_ptr<Learner> learner;

  /// Calls of prepare/pending_call.hpp that are not complete or may be started again; and of these, in the order
  /// called, those that do not know their algorithm yet.
  std::vector<PendingCall*> pending;
  std::atomic<int> persistent = 0;  ///< of them: any thread may start one, whatever others do
  /// The program has freed the communicator, which persistent calls still need; null: it has not.
  int (*free_when_left)(MPI_Comm*) = nullptr;
  std::vector<NonblockingCall*> undecided;
  bool starts_queued = false;    ///< one of them is starting those behind it
  std::uint32_t oldest_tag = 0;  ///< no nonblocking call under way has an earlier first_tag()
  /// How the process's worker reaches the ranks of this node.
  std::optional<transport::shm::Neighbours> neighbours;
  std::uint64_t neighbours_rings = 0;  ///< with the staging rings that the worker counts so

  /// The choice for `call`, made at the first call of its kind. Unless `form` is none, it may be one of those by
  /// which ranks learn.
  const Decision& decide(const Call& call, CountedAs form = CountedAs::none) {
    if (learner) [[unlikely]]
      if (const Decision* learned = learner->decide(call, form)) return *learned;
    const Decision* known = decisions_.find(call);
    return known ? *known : make_decision(call);
  }

  /// Of the calls like `call`, whose bytes not all ranks know. Null: their choice does not depend on these.
  SizeHint* size_hint(const Call& call);
  /// May the bytes of calls like `call` decide that they are left to the native library?
  bool native_by_bytes(const Call& call) {
    others_of(call);
    return native_by_bytes(call.function);
  }
  /// The same of a function of which a plan may be kept. Those of calls that were not looked at are not.
  bool native_by_bytes(Function function) const {
    const auto& others = hints_[static_cast<std::size_t>(function)].others;
    return others && (others->native || (others->differ && learner));
  }
  /// Do all ranks know how large each call of it is?
  bool bytes_known(Function function);

  /// What the program sets for this communicator from now on, for one function; nothing: the rules decide. On all
  /// ranks alike, between the same two calls.
  void set_override(Function function, std::optional<Override> wanted);

  /// My schedule, built when it is first asked for. From any thread: starts of persistent calls ask for it, too.
  std::shared_ptr<const Schedule> schedule(const Algorithm& algorithm, const Shape& shape, const Params& params);

  /// Agrees with the other ranks on rules, and finds the connections to them. Collective; `cause` is the function
  /// called.
  void connect(const std::string& cause);
  /// Its connections to ranks of this node, where others use them, know it no more. From then on it is only freed.
  void leave_node();
  void disconnect();

 private:
  friend class Learner;
  using ScheduleKey = std::tuple<const Algorithm*, Rank, std::int64_t, std::vector<Rank>, std::vector<Count>>;
  using BothOverrides = std::array<const Override*, 2>;
  const Decision& make_decision(Call call);
  Call placed(Call call) const;
  BothOverrides overrides_for(Function function) const;
  const OtherSizes& others_of(const Call& call);
  void connect_one_node(Bootstrap& all);
  Agreement agree_and_meet(Bootstrap& all, Provenance provenance);
  void connect_nodes(Bootstrap& all, const Agreement& agreed, bool own, const std::vector<int>& world_ranks);
  std::optional<NodeView> meet_on_node(Bootstrap& all, const Agreement& agreed, bool own, bool on_that_of_all);
  void find_nodes(Bootstrap& all);
  void make_private(Bootstrap& all, bool to_share);
  void gather_graph(Bootstrap& all);
  void number(Bootstrap& all);
  void refuse_failed();
  void refuse(Passed reason, const char* what, const char* hint);

  MPI_Comm comm_;
  MPI_Comm private_;  ///< a duplicate that messages travel on, if any do
  std::optional<transport::MpiTransport> messages_;
  std::optional<int> tags_;  ///< its part of those of shared_messages()
  transport::Tag tag_;
  std::uint32_t last_persistent_ = 0;
  std::mutex persistent_tags_mutex_;
  std::set<std::uint32_t> persistent_tags_;  ///< in use
  static inline std::atomic<std::uint64_t> last_serial_{0};
  std::uint64_t serial_ = ++last_serial_;
  std::optional<NodeView> node_;
  int most_depth_ = transport::shm::channels;
  Rank rank_;
  Rank ranks_;
  Rank per_node_ = 1;       ///< the most ranks that share a node's memory
  bool even_nodes_ = true;  ///< has each node as many?
  bool survives_faults_ = false;
  bool threads_ = false;
  bool all_threads_ = false;
  bool own_thread_ = false;
  std::optional<bool> same_files_;
  std::shared_ptr<const Graph> graph_;
  bool asked_for_graph_ = false;
  std::int64_t to_node_ = 0;     ///< messages_to_node(), where all ranks know the graph
  bool oversubscribed_ = false;  ///< is a node of these ranks short of cores?
  KernelCopy kernel_copy_ = KernelCopy::fast;
  std::vector<Rank> nodes_;                ///< of each rank, the lowest rank of its node
  std::vector<Rank> cores_;                ///< of Shape
  const Rules* rules_ = &shipped_rules();  ///< the same on all ranks
  Overrides overrides_;                    ///< of the program, by info keys
  struct Hint {
    std::optional<OtherSizes> others;
    SizeHint sizes;
  };
  std::array<Hint, std::size(all_functions)> hints_;
  ChoiceTable<Decision> decisions_;
  std::mutex schedules_mutex_;
  std::map<ScheduleKey, std::shared_ptr<const Schedule>> schedules_;
  std::size_t schedule_bytes_ = 0;
};

/// Before the MPI's own MPI_Init: does what set-up needs of this process alone, so that the first collective waits only
/// for what ranks have to tell each other. Never collective; what it does not get to do is done when it is needed.
void prepare_process();
/// In MPI_Init, where all ranks have Stretto.
void set_up_world(const std::string& cause);

/// May the ranks of `comm` share memory, and know it? Then its set-up is no more than agreeing on a number. The same on
/// all of them.
bool ranks_have_met(MPI_Comm comm);

/// That of `comm` if it is among those that this thread used last, else null. Never collective.
Communicator* recent_communicator(MPI_Comm comm);

/// Null before MPI_Init and for MPI_COMM_NULL. The first call for a communicator is collective over it; `cause` is the
/// MPI function that was called.
Communicator* communicator(MPI_Comm comm, const std::string& cause);
Communicator* communicator(MPI_Comm comm, Function cause);
/// The same without waiting for others: null if that would be the first call for the communicator.
Communicator* communicator_at_hand(MPI_Comm comm);

/// Hands `code` to the error handler of the communicator and returns it. If that is to end the program, says first in
/// which call, and on which rank: the native library would name a function that the program never called.
int raise(const Communicator& c, const std::string& called, int code);

/// MPI_Comm_free or MPI_Comm_disconnect, with what Stretto keeps for the communicator.
int free_communicator(MPI_Comm* comm, int (*native_free)(MPI_Comm*));

/// Are all ranks of MPI_COMM_WORLD there to write a profile and a trace together, and want the same? Nothing: nobody
/// has asked.
std::optional<bool> world_writes();

/// Before MPI_Finalize: frees what belongs to communicators that are still there.
void free_communicators();

}  // namespace stretto::mpi
