// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/communicator.hpp"
#include "communicator/algorithm_files.hpp"
#include "communicator/neighbourhood.hpp"
#include "communicator/shared_messages.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "mpi/flavour/flavour.hpp"
#include "observe/pending.hpp"
#include "support/say.hpp"

namespace stretto::mpi {
namespace {

constexpr std::size_t most_decisions = 4096;
constexpr std::size_t most_schedules = 1024;
constexpr std::size_t most_schedule_bytes = std::size_t{16} << 20;  // those that go by counts can be long and many

std::mutex communicators_mutex;
int keyval = MPI_KEYVAL_INVALID;
std::atomic<bool> finalized{false};

/// Guarded by `communicators_mutex`; in the order made, which ranks share. Never destroyed: a program may end MPI when
/// its own shared libraries are unloaded, after this one.
std::vector<Communicator*>& all() {
  static auto& list = *new std::vector<Communicator*>;
  return list;
}

// Grows when a communicator is freed: its handle may come back for another one.
std::atomic<std::uint64_t> epoch{1};

/// Those that a thread used last: rows and columns of a grid take turns.
struct Recent {
  static constexpr std::size_t places = 8;

  std::uint64_t epoch;
  std::array<MPI_Comm, places> comms;
  std::array<Communicator*, places> found;  // null: none
  std::size_t next;                         // is replaced

  Communicator* find(MPI_Comm comm) const {
    if (epoch != mpi::epoch.load(std::memory_order_acquire)) return nullptr;
    for (std::size_t i = 0; i < places; ++i)
      if (comms[i] == comm) return found[i];
    return nullptr;
  }
  /// `now`: the epoch before it was looked for.
  void add(MPI_Comm comm, Communicator* c, std::uint64_t now) {
    if (epoch != now) *this = {.epoch = now, .comms = {}, .found = {}, .next = 0};
    comms[next] = comm;
    found[next] = c;
    next = (next + 1) % places;
  }
};
// The library is loaded with the program, so its thread-local memory can be reached without a call.
[[gnu::tls_model("initial-exec")]] thread_local Recent recent{};

// Being freed by this thread. The program's attributes may be deleted after Stretto's, with functions that still call
// collectives: these go to the native library, or the state that they make would outlive its communicator.
[[gnu::tls_model("initial-exec")]] thread_local const MPI_Comm* dying = nullptr;

void forget(Communicator* c) {
  epoch.fetch_add(1, std::memory_order_release);
  c->learner.reset();  // which keeps what it found out
  c->disconnect();
  delete c;
}

int on_delete(MPI_Comm, int, void* value, void*) {
  auto* c = static_cast<Communicator*>(value);
  {
    const std::lock_guard lock(communicators_mutex);
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
  const std::lock_guard lock(communicators_mutex);
  if (keyval == MPI_KEYVAL_INVALID) native().Comm_create_keyval(on_copy, on_delete, &keyval, nullptr);
  return true;
}

template <typename T>
std::size_t memory_of(const std::vector<T>& v) {
  return v.size() * sizeof(T);
}

std::size_t memory_of(const Schedule& s) {
  return sizeof s + memory_of(s.parts.first) + memory_of(s.scratch.runs()) + memory_of(s.rounds) + memory_of(s.sends) +
         memory_of(s.actions) + memory_of(s.ranges);
}

void log_choice(const Call& call, const Choice& choice) {
  const FunctionFacts& f = facts(call.function);
  Params params = choice.algorithm ? resolved(*choice.algorithm, call.shape, choice.params) : Params{};
  params.list = choice.params.list;  // not what follows from the nodes: it may be long
  say("select: " + std::string(f.name) +
      (f.bytes_known || call.bytes > 0 ? ' ' + std::to_string(call.bytes) + " bytes, " : " ") +
      std::to_string(call.shape.ranks) + (call.oversubscribed ? " ranks sharing cores -> " : " ranks -> ") +
      written(choice.algorithm, params) + " (" + choice.reason + ')');
}

/// Ranks that share the memory of one node and its cores learn nothing: of calls that follow each other most end at
/// once there, and the others when a rank is given a core again, so that no call's time says what it takes. Between
/// nodes messages take most of it.
bool learns(const Communicator& c) {
  if (settings().learn.empty() || c.unusable || c.ranks() < 2 || c.survives_faults()) return false;
  if (!c.one_node() || !c.oversubscribed()) return true;
  static std::atomic<bool> said{false};
  if (c.rank() == 0 && !said.exchange(true))
    say("nothing is learned on ranks of one node that share its cores: no call's time tells much there",
        "start no more ranks than there are cores");
  return false;
}

Communicator* make(MPI_Comm comm, const std::string& cause) {
  const Native& mpi = native();
  int inter = 0;
  int rank = 0;
  int ranks = 1;
  if (mpi.Comm_test_inter(comm, &inter) != MPI_SUCCESS || mpi.Comm_rank(comm, &rank) != MPI_SUCCESS ||
      mpi.Comm_size(comm, &ranks) != MPI_SUCCESS)
    return nullptr;
  auto* c = new Communicator(comm, rank, ranks);
  if (settings().observes()) c->records = observe::take_records(comm);
  if (inter)
    c->unusable = Passed::intercommunicator;
  else if (settings().disabled)  // observed nevertheless
    c->unusable = Passed::disabled;
  else
    c->connect(cause);
  if (learns(*c)) c->learner = std::make_unique<Learner>(*c);
  {
    const std::lock_guard lock(communicators_mutex);
    all().push_back(c);
  }
  mpi.Comm_set_attr(comm, keyval, c);
  return c;
}

bool is_fatal(MPI_Comm comm) {
  MPI_Errhandler handler{};
  if (native().Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
  const bool fatal = handler == MPI_ERRORS_ARE_FATAL;
  native().Errhandler_free(&handler);
  return fatal;
}

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  if (native().Error_string(code, text, &length) != MPI_SUCCESS) return "error " + std::to_string(code);
  return text;
}

}  // namespace

const std::shared_ptr<const Graph>& Communicator::graph() {
  if (!asked_for_graph_) graph_ = graph_known_to(comm_, rank_, ranks_);
  asked_for_graph_ = true;
  return graph_;
}

void Communicator::leave_node() {
  if (node_) leave(*node_, tag_.communicator);
  node_.reset();
}

void Communicator::disconnect() {
  leave_node();
  // With a failed rank that would not end.
  const bool whole = !survives_faults_ || flavour::fault_of(comm_) == MPI_SUCCESS;
  const bool failed = messages_ && messages_->abandoned();
  const bool all_came = private_ == shared_messages() ? !transport::MpiTransport::any_abandoned() : !failed;
  // MPICH ends a program that frees a communicator with messages that nobody received.
  if (private_ != constants().comm_null && whole && all_came) native().Comm_free(&private_);
  if (tags_ && whole && !failed) return_tags(*tags_);
}

std::shared_ptr<const Schedule> Communicator::schedule(const Algorithm& algorithm, const Shape& shape,
                                                       const Params& params) {
  const std::lock_guard lock(schedules_mutex_);
  if (schedules_.size() >= most_schedules || schedule_bytes_ >= most_schedule_bytes) {
    schedules_.clear();
    schedule_bytes_ = 0;
  }
  auto& schedule = schedules_[{&algorithm, shape.root, params.value, params.list, shape.counts}];
  if (!schedule) {
    Shape placed = shape;
    placed.nodes = nodes_;
    placed.cores = cores_;
    schedule = std::make_shared<Schedule>(build_schedule(algorithm, placed, rank_, params));
    schedule_bytes_ += memory_of(*schedule) + shape.counts.size() * sizeof(Count);
  }
  return schedule;
}

Call Communicator::placed(Call call) const {
  call.per_node = per_node_;
  call.even_nodes = even_nodes_;
  call.oversubscribed = oversubscribed_;
  call.kernel_copy = kernel_copy_;
  call.shape.nodes = nodes_;
  call.shape.cores = cores_;
  if (facts(facts(call.function).collective).neighbourhood) call.to_node = to_node_;
  return call;
}

Communicator::BothOverrides Communicator::overrides_for(Function function) const {
  return {variable_for(function, *rules_), override_for(overrides_, function)};
}

SizeHint* Communicator::size_hint(const Call& call) {
  return others_of(call).differ ? &hints_[static_cast<std::size_t>(call.function)].sizes : nullptr;
}

const OtherSizes& Communicator::others_of(const Call& call) {
  auto& others = hints_[static_cast<std::size_t>(call.function)].others;
  if (!others) others = other_sizes(overrides_for(call.function), *rules_, placed(call));
  return *others;
}

bool Communicator::bytes_known(Function function) {
  const FunctionFacts& known = facts(function);
  if (known.bytes_known) return true;
  if (known.irregular || !facts(known.collective).neighbourhood) return false;
  const Graph* const neighbours = graph().get();
  return neighbours && neighbours->whole() && neighbours->connected();
}

std::optional<transport::Tag> Communicator::next_persistent_tag(void (*meanwhile)()) {
  const auto in_use = [&](std::uint32_t sequence) {
    const std::lock_guard lock(persistent_tags_mutex_);
    return persistent_tags_.contains(sequence);
  };
  const std::uint32_t most = messages_ ? messages_->sequences() : transport::sequences_of_calls;
  for (std::uint32_t tries = 0; tries < most; ++tries) {
    const std::uint32_t sequence = transport::sequences_of_calls + last_persistent_++ % most;
    bool unused = true;
    if (last_persistent_ > most) {  // ranks may have freed different ones
      const ErrorsReturned quiet(comm_);
      Bootstrap all(comm_, "the making of a persistent collective");
      all.meanwhile(meanwhile);
      unused = all.minimum(in_use(sequence) ? 0 : 1) == 1;
      if (!all.agreed()) return std::nullopt;
    }
    if (!unused) continue;
    const std::lock_guard lock(persistent_tags_mutex_);
    persistent_tags_.insert(sequence);
    return transport::Tag{tag_.communicator, sequence, 0};
  }
  return std::nullopt;
}

void Communicator::return_persistent_tag(transport::Tag tag) {
  const std::lock_guard lock(persistent_tags_mutex_);
  persistent_tags_.erase(tag.sequence);
}

const Decision& Communicator::make_decision(Call call) {
  call = placed(std::move(call));
  const Choice choice = choose(overrides_for(call.function), *rules_, call);
  const bool log = settings().log_select;
  if (rank_ == 0) say_if_refused(variable_for(call.function, *rules_), call.shape);
  if (log && rank_ == 0) log_choice(call, choice);
  Decision decision{choice.algorithm, choice.params, nullptr, nullptr};
  if (choice.algorithm) {
    decision.served = &statistics().of(call.function, *choice.algorithm);
    if (!choice.algorithm->needs.counts) decision.schedule = schedule(*choice.algorithm, call.shape, choice.params);
  }
  if (decisions_.size() >= most_decisions && undecided.empty()) decisions_.clear();  // these refer to theirs
  // The log names every size.
  return decisions_.add(call, log ? Between{call.bytes, call.bytes} : chosen_alike(*rules_, call), std::move(decision));
}

void Communicator::set_override(Function function, std::optional<Override> wanted) {
  overrides_[static_cast<std::size_t>(function)] = std::move(wanted);
  decisions_.clear();
  plans.clear();
  if (learner) learner->forget_plans();
  hints_[static_cast<std::size_t>(function)] = {};
}

Communicator* recent_communicator(MPI_Comm comm) { return recent.find(comm); }

Communicator* communicator(MPI_Comm comm, const std::string& cause) {
  const std::uint64_t now = epoch.load(std::memory_order_acquire);
  Communicator* c = communicator_at_hand(comm);
  if (c || comm == (native(), constants().comm_null) || (dying && comm == *dying) || !ready()) return c;
  c = make(comm, cause);
  if (c) recent.add(comm, c, now);
  return c;
}

Communicator* communicator_at_hand(MPI_Comm comm) {
  if (Communicator* c = recent_communicator(comm)) return c;
  const std::uint64_t now = epoch.load(std::memory_order_acquire);
  if (comm == (native(), constants().comm_null) || (dying && comm == *dying) || !ready()) return nullptr;
  void* value = nullptr;
  int found = 0;
  if (native().Comm_get_attr(comm, keyval, &value, &found) != MPI_SUCCESS || !found) return nullptr;
  auto* const c = static_cast<Communicator*>(value);
  recent.add(comm, c, now);
  return c;
}

Communicator* communicator(MPI_Comm comm, Function cause) {
  Communicator* const c = recent_communicator(comm);
  return c ? c : communicator(comm, mpi_name(cause) + ", the first collective on this communicator");
}

int raise(const Communicator& c, const std::string& called, int code) {
  if (is_fatal(c.comm())) {
    say("fatal error in " + called + " on rank " + std::to_string(c.rank()) + " of " + std::to_string(c.ranks()) +
        ": " + text_of(code));
    native().Abort(c.comm(), code);
  }
  native().Comm_call_errhandler(c.comm(), code);
  return code;
}

int free_communicator(MPI_Comm* comm, int (*native_free)(MPI_Comm*)) {
  if (!comm || *comm == (native(), constants().comm_null) || !ready()) return native_free(comm);
  if (settings().observes()) observe::end_early_records(*comm);
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

std::optional<bool> world_writes() {
  const std::lock_guard lock(communicators_mutex);
  const auto world = std::ranges::find_if(all(), [](const Communicator* c) { return c->comm() == constants().world; });
  if (world == all().end()) return std::nullopt;
  if ((*world)->survives_faults() && flavour::fault_of(constants().world) != MPI_SUCCESS) return false;
  return (*world)->unusable == Passed::fault ? false : (*world)->same_files();
}

void free_communicators() {
  std::vector<Communicator*> left;
  {
    const std::lock_guard lock(communicators_mutex);
    left.swap(all());
    finalized = true;
  }
  for (Communicator* c : left) forget(c);
  if (settings().observes()) observe::end_early_records();
}

}  // namespace stretto::mpi
