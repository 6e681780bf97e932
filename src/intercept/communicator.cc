// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/communicator.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "intercept/say.hpp"
#include "intercept/settings.hpp"

namespace stretto::intercept {
namespace {

constexpr std::size_t most_decisions = 4096;
constexpr std::size_t most_schedules = 1024;
constexpr std::size_t most_schedule_bytes = std::size_t{16} << 20;  // those that go by counts can be long and many

std::mutex mutex;
int keyval = MPI_KEYVAL_INVALID;
std::atomic<bool> finalized{false};

/// Guarded by `mutex`; in the order made, which ranks share. Never destroyed: a program may end MPI when its own
/// shared libraries are unloaded, after this one.
std::vector<Communicator*>& all() {
  static auto& list = *new std::vector<Communicator*>;
  return list;
}

// Grows when a communicator is freed: its handle may come back for another one.
std::atomic<std::uint64_t> epoch{1};

struct Last {
  MPI_Comm comm;
  std::uint64_t epoch;
  Communicator* found;
};
// The library is loaded with the program, so its thread-local memory can be reached without a call.
[[gnu::tls_model("initial-exec")]] thread_local Last last{};

// Being freed by this thread. The program's attributes may be deleted after Stretto's, with functions that still call
// collectives: these go to the native library, or the state that they make would outlive its communicator.
[[gnu::tls_model("initial-exec")]] thread_local const MPI_Comm* dying = nullptr;

void forget(Communicator* c) {
  epoch.fetch_add(1, std::memory_order_release);
  c->free_private();
  delete c;
}

int on_delete(MPI_Comm, int, void* value, void*) {
  auto* c = static_cast<Communicator*>(value);
  {
    const std::lock_guard lock(mutex);
    if (std::erase(all(), c) == 0) return MPI_SUCCESS;  // freed before MPI_Finalize
  }
  forget(c);
  return MPI_SUCCESS;
}

// A duplicate gets a state of its own when it is first used.
int on_copy(MPI_Comm, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}

bool ready() {
  int initialized = 0;
  native().Initialized(&initialized);
  if (!initialized || finalized) return false;
  const std::lock_guard lock(mutex);
  if (keyval == MPI_KEYVAL_INVALID) native().Comm_create_keyval(on_copy, on_delete, &keyval, nullptr);
  return true;
}

template <typename T>
std::size_t memory_of(const std::vector<T>& v) {
  return v.size() * sizeof(T);
}

std::size_t memory_of(const Schedule& s) {
  return sizeof s + memory_of(s.parts.first) + memory_of(s.scratch) + memory_of(s.rounds) + memory_of(s.sends) +
         memory_of(s.actions) + memory_of(s.ranges);
}

/// All ranks of `comm` must choose alike, or they would wait for messages that never come.
bool settings_agree(MPI_Comm comm) {
  const auto mine = static_cast<std::int64_t>(settings().fingerprint >> 1);
  std::int64_t low[2] = {mine, -mine};
  std::int64_t lowest[2] = {0, 1};  // no agreement, if this fails
  native().Allreduce(low, lowest, 2, MPI_INT64_T, MPI_MIN, comm);
  return lowest[0] == -lowest[1];
}

Communicator* make(MPI_Comm comm) {
  const Native& mpi = native();
  int inter = 0;
  int rank = 0;
  int ranks = 1;
  if (mpi.Comm_test_inter(comm, &inter) != MPI_SUCCESS || mpi.Comm_rank(comm, &rank) != MPI_SUCCESS ||
      mpi.Comm_size(comm, &ranks) != MPI_SUCCESS)
    return nullptr;
  auto* c = new Communicator(comm, rank, ranks);
  if (inter)
    c->unusable = Passed::intercommunicator;
  else if (ranks > 1)
    c->make_private();
  {
    const std::lock_guard lock(mutex);
    all().push_back(c);
  }
  mpi.Comm_set_attr(comm, keyval, c);
  return c;
}

}  // namespace

void Communicator::make_private() {
  const Native& mpi = native();
  // An MPI that runs out of communicators must not end the program: it could have done without this one. Other threads
  // may need the program's own error handler meanwhile.
  int threads = MPI_THREAD_SINGLE;
  mpi.Query_thread(&threads);
  const bool alone = threads != MPI_THREAD_MULTIPLE;
  MPI_Errhandler handler{};
  if (alone) {
    mpi.Comm_get_errhandler(comm_, &handler);
    mpi.Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  // Not MPI_Comm_dup: that would copy the program's attributes, which calls its functions.
  MPI_Group group{};
  mpi.Comm_group(comm_, &group);
  const int error = mpi.Comm_create(comm_, group, &private_);
  mpi.Group_free(&group);
  if (alone) {
    mpi.Comm_set_errhandler(comm_, handler);
    mpi.Errhandler_free(&handler);
  }
  if (error != MPI_SUCCESS) {
    private_ = constants().comm_null;
    unusable = Passed::communicator;
    return;
  }
  mpi.Comm_set_errhandler(private_, MPI_ERRORS_RETURN);
  if (settings_agree(private_)) return;
  unusable = Passed::communicator;
  if (rank_ == 0)
    say("the ranks of a communicator have different STRETTO_ variables or rules; its calls go to the native library",
        "export the same variables to all ranks, for example with `stretto run`");
}

void Communicator::free_private() {
  if (private_ != constants().comm_null) native().Comm_free(&private_);
}

std::shared_ptr<const Schedule> Communicator::schedule(const Algorithm& algorithm, const Shape& shape,
                                                       const Params& params) {
  if (schedules_.size() >= most_schedules || schedule_bytes_ >= most_schedule_bytes) {
    schedules_.clear();
    schedule_bytes_ = 0;
  }
  auto& schedule = schedules_[{&algorithm, shape.root, params.value, params.list, shape.counts}];
  if (!schedule) {
    schedule = std::make_shared<Schedule>(build_schedule(algorithm, shape, rank_, params));
    schedule_bytes_ += memory_of(*schedule) + shape.counts.size() * sizeof(Count);
  }
  return schedule;
}

Decision Communicator::make_decision(const Call& call) {
  const Settings& s = settings();
  const auto function = static_cast<std::size_t>(call.function);
  const auto& forced = s.forced[function];
  Choice choice;
  std::string refused;
  if (forced && forced->algorithm)
    refused = unsuitable(*forced->algorithm, call.function, call.shape, call.commutative, forced->params);
  if (forced && refused.empty())
    choice = {forced->algorithm, forced->params, s.forced_text[function]};
  else
    choice = choose(*s.rules, call);
  if (!refused.empty()) choice.reason += "; not " + s.forced_text[function] + ": " + refused;
  if (s.log_select && rank_ == 0)
    say("select: " + std::string(facts(call.function).name) +
        (facts(call.function).bytes_known ? ' ' + std::to_string(call.bytes) + " bytes, " : " ") +
        std::to_string(ranks_) + " ranks -> " + (choice.algorithm ? std::string(choice.algorithm->name()) : "native") +
        " (" + choice.reason + ')');
  Decision decision{choice.algorithm, choice.params, nullptr, nullptr};
  if (!choice.algorithm) return decision;
  decision.served = &statistics().of(call.function, *choice.algorithm);
  if (!choice.algorithm->needs.counts) decision.schedule = schedule(*choice.algorithm, call.shape, choice.params);
  return decision;
}

const Decision& Communicator::decide(const Call& call) {
  const Key key{call.function, call.bytes, call.shape.root, call.commutative, call.predefined};
  if (last_ && key == last_key_) return *last_;
  auto found = decisions_.find(key);
  if (found == decisions_.end()) {
    if (decisions_.size() >= most_decisions) decisions_.clear();
    found = decisions_.emplace(key, make_decision(call)).first;
  }
  last_key_ = key;
  last_ = &found->second;
  return *last_;
}

Communicator* communicator(MPI_Comm comm) {
  const std::uint64_t now = epoch.load(std::memory_order_acquire);
  if (last.comm == comm && last.epoch == now) return last.found;
  if (comm == (native(), constants().comm_null) || (dying && comm == *dying) || !ready()) return nullptr;
  void* value = nullptr;
  int found = 0;
  if (native().Comm_get_attr(comm, keyval, &value, &found) != MPI_SUCCESS) return nullptr;
  Communicator* c = found ? static_cast<Communicator*>(value) : make(comm);
  if (c) last = {comm, now, c};
  return c;
}

int free_communicator(MPI_Comm* comm, int (*native_free)(MPI_Comm*)) {
  if (!comm || *comm == (native(), constants().comm_null) || !ready()) return native_free(comm);
  void* value = nullptr;
  int found = 0;
  if (native().Comm_get_attr(*comm, keyval, &value, &found) == MPI_SUCCESS && found)
    native().Comm_delete_attr(*comm, keyval);
  const MPI_Comm handle = *comm;
  const MPI_Comm* const outer = std::exchange(dying, &handle);  // its attributes may free other communicators
  const int error = native_free(comm);
  dying = outer;
  return error;
}

void free_communicators() {
  std::vector<Communicator*> left;
  {
    const std::lock_guard lock(mutex);
    left.swap(all());
    finalized = true;
  }
  for (Communicator* c : left) forget(c);
}

}  // namespace stretto::intercept
