// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/requests.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "communicator/provenance.hpp"
#include "mpi/bootstrap.hpp"
#include "mpi/operators.hpp"
#include "mpi/queries.hpp"
#include "mpi/threads.hpp"
#include "prepare/background.hpp"
#include "prepare/observed.hpp"

namespace stretto::mpi {
namespace {

/// From carriers to requests. It only grows, and is read without a lock: what is replaced stays.
class RequestTable {
 public:
  Request* find(MPI_Request handle) const {
    const Entries* entries = entries_.load(std::memory_order_acquire);
    if (!entries || handle == constants().request_null) return nullptr;
    for (std::size_t at = slot(handle);; ++at) {
      const Entry& entry = (*entries)[at & (entries->size() - 1)];
      Request* const request = entry.load(std::memory_order_acquire);
      if (!request || request->carrier == handle) return request;
    }
  }

  void insert(Request* request) {
    Entries* entries = entries_.load(std::memory_order_relaxed);
    if (!entries || 2 * (used_ + 1) > entries->size()) {
      auto* larger = new Entries(entries ? 2 * entries->size() : 64);
      if (entries)
        for (const Entry& entry : *entries)
          if (Request* r = entry.load(std::memory_order_relaxed)) place(*larger, r);
      entries = larger;
      entries_.store(larger, std::memory_order_release);
    }
    place(*entries, request);
    ++used_;
  }

 private:
  using Entry = std::atomic<Request*>;
  using Entries = std::vector<Entry>;

  static std::size_t slot(MPI_Request handle) {
    return static_cast<std::size_t>(std::hash<MPI_Request>{}(handle) * 0x9e3779b97f4a7c15u >> 32);
  }
  static void place(Entries& entries, Request* request) {
    std::size_t at = slot(request->carrier);
    while (entries[at & (entries.size() - 1)].load(std::memory_order_relaxed)) ++at;
    entries[at & (entries.size() - 1)].store(request, std::memory_order_release);
  }

  std::atomic<Entries*> entries_{nullptr};
  std::size_t used_ = 0;
};
constinit RequestTable request_table;
std::atomic<bool> ended{false};

// Never destroyed, like all that a program may use at its very end.
struct Pool {
  const bool locks = threads_at_once();
  std::mutex mutex;  // guards what follows, and insertions into the table
  std::deque<Request> all;
  std::vector<Request*> unused;
  Request* next = nullptr;      // for the next nonblocking call: used inside Entered, and not among `unused`
  std::optional<MPI_Comm> own;  // a communicator of this process alone, for the carriers
};
Pool& pool() {
  static auto& only = *new Pool;
  return only;
}

std::unique_lock<std::mutex> lock(Pool& p) {
  return p.locks ? std::unique_lock(p.mutex) : std::unique_lock<std::mutex>();
}

/// Inside lock().
void count_in_use(int more) {
  auto& n = detail::requests_in_use;
  n.store(n.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

/// Not MPI_COMM_SELF itself: at its end MPICH tells of requests that are left on it.
bool make_own(Pool& p) {
  if (p.own) return true;
  const ErrorsReturned quiet(MPI_COMM_SELF);
  if (const MPI_Comm made = with_same_ranks(MPI_COMM_SELF); made != constants().comm_null) p.own = made;
  return p.own.has_value();
}

/// False: the native library has no room for one more. Carriers are persistent receives from oneself that are never
/// started. An invented handle would not do: Open MPI's Fortran interface looks inside; nor would requests on
/// MPI_PROC_NULL, which MPICH and Intel MPI take for complete in places.
[[gnu::noinline]] bool make_one(Pool& p) {
  MPI_Request carrier{};
  if (!make_own(p) || native().Recv_init(nullptr, 0, constants().byte, 0, 0, *p.own, &carrier) != MPI_SUCCESS)
    return false;
  p.all.emplace_back(carrier);
  request_table.insert(&p.all.back());
  p.unused.push_back(&p.all.back());
  return true;
}

/// Null: there is no room for one more.
Request* take(Pool& p) {
  const auto locked = lock(p);
  if (p.unused.empty() && !make_one(p)) return nullptr;
  Request* const request = p.unused.back();
  p.unused.pop_back();
  return request;
}

/// To the program.
MPI_Request hand_out(Pool& p, Request& request) {
  request.taken = true;
  const auto locked = lock(p);
  count_in_use(1);
  return request.carrier;
}

/// What nobody can wait for any more.
void put_back(Request& request) {
  request.persistent.reset();
  request.active = false;
  Pool& p = pool();
  const auto locked = lock(p);
  if (std::exchange(request.taken, false)) count_in_use(-1);
  p.unused.push_back(&request);
}

/// Where a call began another one, in an error handler, one is kept already. Inside Entered.
void keep_for_next(Pool& p, Request& request) {
  if (p.next) [[unlikely]]
    return put_back(request);
  p.next = &request;
}

/// See is_complete(). This request is never put back: an MPI_Finalize calls functions of the program that may still
/// wait for it. False: there is no room for it.
[[gnu::noinline]] bool make_complete(Pool& p) {
  Request* const request = take(p);
  if (!request) return false;
  request->taken = request->active = true;
  detail::complete_handle.store(request->carrier, std::memory_order_release);
  return true;
}

/// It does not need its communicator any more, which the program may have freed. Inside Entered.
void leave_communicator(Request& request) {
  Communicator* const c = request.call().communicator();
  if (!c) return;
  std::erase(c->pending, &request.call());
  if (request.persistent) c->persistent.fetch_sub(1, std::memory_order_relaxed);
  request.persistent.reset();
  request.nonblocking.detach();
  if (!c->free_when_left || !c->pending.empty()) return;
  MPI_Comm comm = c->comm();
  free_communicator(&comm, c->free_when_left);
}

/// Then nobody need be waited for in its set-up.
bool is_alone(MPI_Comm comm) {
  int ranks = 0;
  if (!world_is_up() || comm == constants().comm_null) return false;
  return native().Comm_size(comm, &ranks) == MPI_SUCCESS && ranks == 1;
}

bool has_own_operator(const Signature& call) {
  return facts(facts(call.function).collective).reduces && !is_standard(call.op);
}

/// The state of `comm`, if nonblocking calls on it can be served; else null, and that is counted.
Communicator* usable(MPI_Comm comm, const Signature& call) {
  using Sure = Communicator::Sure;
  Communicator* c = communicator_at_hand(comm);
  if (c && !c->unusable) {
    if (c->sure_requests == Sure::all) [[likely]]
      return c;
    if (c->sure_requests == Sure::without_own_operators && !has_own_operator(call)) return c;
  }
  const Function function = call.function;
  if (!c && is_alone(comm)) c = communicator(comm, function);
  if (settings().disabled)
    pass(function, Passed::disabled);
  else if (!c || c->unusable)
    pass(function, c ? *c->unusable : Passed::not_ready);
  else if (!progress_is_sure(*c, has_own_operator(call)) || (c->threads() && !c->all_threads()))
    pass(function, Passed::progress);
  else {
    c->sure_requests = progress_is_sure(*c, true) ? Sure::all : Sure::without_own_operators;
    return c;
  }
  return nullptr;
}

}  // namespace

constinit std::atomic<int> detail::requests_in_use{0};
constinit std::atomic<MPI_Request> detail::complete_handle{MPI_Request{}};

bool requests_have_ended() { return ended; }

Request* find_request(MPI_Request handle) { return request_table.find(handle); }

Served start_nonblocking(MPI_Comm comm, const Arguments& arguments, MPI_Request* handle, const NativeStart& native,
                         observe::Nanoseconds began) {
  const Function function = arguments.signature.function;
  Communicator* const c = usable(comm, arguments.signature);
  if (!c) return std::nullopt;
  Pool& p = pool();
  const Entered entered(process_worker());
  if (complete_handle() == MPI_Request{} && !make_complete(p)) return pass(function, Passed::not_ready);
  Request* const request = p.next ? std::exchange(p.next, nullptr) : take(p);
  if (!request) return pass(function, Passed::not_ready);
  NonblockingCall& call = request->nonblocking;
  if (c->records) [[unlikely]]
    call.times.begin(*c->records, function, observed_bytes(*c, arguments), Form::nonblocking, began);
  bool started = false;
  try {
    started = call.start(*c, arguments, native);
  } catch (...) {  // of the program's error handler
    call.drop();
    leave_communicator(*request);
    keep_for_next(p, *request);
    throw;
  }
  if (!started) {
    call.times.leave();
    call.detach();
    keep_for_next(p, *request);
    return std::nullopt;
  }
  if (call.was_at_once()) {
    keep_for_next(p, *request);
    *handle = complete_handle();
    return MPI_SUCCESS;
  }
  request->active = true;
  if (c->records) [[unlikely]]
    call.times.posted();
  *handle = hand_out(p, *request);
  return MPI_SUCCESS;
}

Served make_persistent(MPI_Comm comm, const Arguments& arguments, MPI_Request* handle,
                       FunctionRef<int(MPI_Request*)> native, observe::Nanoseconds began) {
  const Function function = arguments.signature.function;
  communicator(comm, mpi_name(function) + "_init, the first collective on this communicator");
  Communicator* const c = usable(comm, arguments.signature);
  if (!c) return std::nullopt;
  Pool& p = pool();
  Request* const request = take(p);
  if (!request) return pass(function, Passed::not_ready);
  request->persistent = std::make_unique<PersistentCall>();
  const Served code =
      beside_pending(*c, [&](Worker& w) { return request->persistent->make(w, *c, arguments, native); });
  if (code != MPI_SUCCESS) {
    request->persistent->detach();
    put_back(*request);
    return code ? raise(*c, mpi_name(function) + "_init", *code) : code;
  }
  const Entered entered(process_worker());
  c->pending.push_back(request->persistent.get());
  c->persistent.fetch_add(1, std::memory_order_relaxed);
  if (c->records) [[unlikely]] {
    observe::PendingTimes& times = request->persistent->times;
    times.begin(*c->records, function, observed_bytes(*c, arguments), Form::persistent, began);
    request->persistent->observe_choice();
    times.made();
  }
  *handle = hand_out(p, *request);
  return MPI_SUCCESS;
}

int misused() {
  MPI_Request none = constants().request_null;
  const int code = native().Request_free(&none);
  return code == MPI_SUCCESS ? MPI_ERR_REQUEST : code;
}

int misused(Request& request) {
  const Communicator* const c = request.call().communicator();
  return c ? raise(*c, request.call().called(), MPI_ERR_REQUEST) : misused();
}

int start(Request& request) {
  if (!request.persistent || request.active || ended) return misused(request);
  const Entered entered(process_worker());
  request.active = true;
  observe::PendingTimes& times = request.persistent->times;
  if (times) [[unlikely]]
    times.again();
  request.persistent->start();
  request.at_once = request.persistent->was_at_once();
  if (times) [[unlikely]]
    times.posted();
  return MPI_SUCCESS;
}

int free_request(Request& request, MPI_Request* handle) {
  if (request.active || !request.taken) return misused(request);
  {
    const Entered entered(process_worker());
    leave_communicator(request);
  }
  put_back(request);
  *handle = constants().request_null;
  return MPI_SUCCESS;
}

int complete(Request& request, MPI_Request* handle) {
  if (is_complete(*handle)) return wait_complete(handle, MPI_STATUS_IGNORE);
  request.active = request.at_once = false;
  if (request.call().times) [[unlikely]] {
    ObservedWait::divide_time();
    request.call().times.complete();
  }
  const int code = request.call().end();
  if (request.persistent) {
    request.persistent->tell_time();
    return code;
  }
  if (request.nonblocking.needs_communicator()) {
    const Entered entered(process_worker());
    if (request.call().communicator()) request.nonblocking.tell_time();
    leave_communicator(request);
  }
  put_back(request);
  *handle = constants().request_null;
  return code;
}

void await_decisions(MPI_Comm comm) {
  if (Communicator* const c = communicator_at_hand(comm)) await_decisions(*c);
}

bool finish_requests(MPI_Comm comm, int (*native_free)(MPI_Comm*)) {
  Communicator* const c = communicator_at_hand(comm);
  if (!c) return false;
  // Persistent ones are started in no common order: a peer may start its own behind MPI_Comm_free.
  const bool disconnects = native_free == native().Comm_disconnect;
  await_all(*c, disconnects);
  const Entered entered(process_worker());
  if (std::ranges::any_of(c->pending, [](const PendingCall* one) { return one->persists(); })) {
    // MPI_Request_free, which frees it then, is local: only processes of another world are waited for.
    c->free_when_left = provenance_of(comm) == Provenance::world ? native().Comm_free : native_free;
    return true;
  }
  for (PendingCall* call : c->pending) call->detach();
  c->pending.clear();
  c->leave_node();  // inside Entered: Stretto's thread may read by the same connections
  return false;
}

void forget_requests() {
  if (complete_handle() == MPI_Request{} && !requests_exist()) return;
  detail::complete_handle.store(MPI_Request{}, std::memory_order_release);
  Pool& p = pool();
  const auto locked = lock(p);
  for (Request& request : p.all) request.carrier = constants().request_null;
}

void end_requests() {
  Pool& p = pool();
  const auto locked = lock(p);
  // What is inactive or complete the program may still wait for or free, in functions that MPI_Finalize calls: its
  // handle goes to nobody else.
  for (Request& request : p.all) {
    if (request.persistent) request.persistent->retire();
    request.call().detach();
    if (request.taken) continue;
    MPI_Request carrier = std::exchange(request.carrier, constants().request_null);
    native().Request_free(&carrier);
  }
  p.unused.clear();
  p.next = nullptr;
  ended = true;
  if (p.own) native().Comm_free(&*p.own);
  p.own.reset();
}

}  // namespace stretto::mpi
