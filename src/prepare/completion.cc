// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "mpi/types.hpp"
#include "prepare/requests.hpp"

namespace stretto::mpi {
namespace {

/// Moves on what can be moved, once. `alone`: nothing has been moved on for other requests just now.
void poll(Request& request, bool alone = true) {
  const Entered entered(process_worker(), std::try_to_lock);
  if (!entered || request.call().done()) return;
  Communicator& c = *request.call().communicator();
  const PackingFor program(c.comm());
  if (alone && !process_worker().progress.poll() && !request.call().done()) {
    // A peer may come only when the MPI has let in what it sends to this rank.
    if (!process_worker().attend_to(c)) return request.call().give_up();
    if (wait_policy().polls <= 1) sched_yield();  // for a peer may need the core
  }
  request.call().poll();
}

bool over(Request& request) { return !request.active || request.done(); }

/// Was it still active when MPI_Finalize began?
bool is_lost(Request& request) { return requests_have_ended() && request.active && !request.call().done(); }

/// An array of requests, and a copy of it without Stretto's.
class Mixed {
 public:
  explicit Mixed(Requests all) : all_(all), native_(all.begin(), all.end()), ours_(all.size()) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      ours_[i] = all[i] == constants().request_null ? nullptr : request_of(all[i]);
      if (ours_[i] && is_lost(*ours_[i])) lost_ = ours_[i];
      if (ours_[i])
        native_[i] = constants().request_null;
      else if (all[i] != constants().request_null)
        any_native_ = true;
    }
  }

  /// The native library may have changed its requests, whatever it returned or an error handler threw.
  ~Mixed() {
    for (std::size_t i = 0; i < all_.size() && was_asked_; ++i)
      if (!ours_[i]) all_[i] = native_[i];
  }
  Mixed& operator=(Mixed&&) = delete;

  int size() const { return static_cast<int>(native_.size()); }
  MPI_Request* native_requests() {
    was_asked_ = true;
    return native_.data();
  }
  /// For those who do not change them: the program's array may be constant.
  const MPI_Request* seen_requests() const { return native_.data(); }
  bool any_native() const { return any_native_; }
  /// One that nobody completes any more; null: there is none.
  Request* lost() const { return lost_; }
  Request* ours(int i) const { return ours_[static_cast<std::size_t>(i)]; }

  int complete_ours(int i) { return complete(*ours(i), &all_[static_cast<std::size_t>(i)]); }

  bool ours_over() { return !unfinished(); }
  /// One of Stretto's whose completion the program can be given; -1: there is none.
  int first_complete() const {
    for (int i = 0; i < size(); ++i)
      if (ours(i) && ours(i)->active && ours(i)->done()) return i;
    return -1;
  }
  void waited_for() const {
    for (Request* one : ours_)
      if (one) one->waited_for();
  }
  bool any_active() const {
    return std::ranges::any_of(ours_, [](const Request* one) { return one && one->active; });
  }

  void poll_ours() const {
    bool first = true;
    for (Request* one : ours_)
      if (one && !over(*one)) poll(*one, std::exchange(first, false));
  }
  /// Until `done`, which looks after the native ones and is asked no more when it has said so. `all`: not before all
  /// of Stretto's are over.
  template <typename Done>
  void wait_until(bool all, Done done) {
    bool is_done = false;
    const auto ask = [&] { return is_done || (is_done = done()); };
    SharedWait shared_wait(!all);
    while (!ask()) {
      if (Request* const next = unfinished()) {
        const Entered entered = shared_wait.enter(process_worker());
        if (entered) {
          next->call().wait_inside(shared_wait, ask, !any_native_);
          continue;
        }
      }
      sched_yield();
    }
  }

 private:
  Request* unfinished() {
    while (over_before_ < ours_.size() && (!ours_[over_before_] || over(*ours_[over_before_]))) ++over_before_;
    return over_before_ < ours_.size() ? ours_[over_before_] : nullptr;
  }

  Requests all_;
  std::vector<MPI_Request> native_;
  std::vector<Request*> ours_;
  std::size_t over_before_ = 0;  // those before it are over, and stay so
  Request* lost_ = nullptr;
  bool any_native_ = false;
  bool was_asked_ = false;
};

/// An error code may say more than its class.
bool is_in_status(int code) {
  int its_class = code;
  return code != MPI_SUCCESS && native().Error_class(code, &its_class) == MPI_SUCCESS && its_class == MPI_ERR_IN_STATUS;
}

bool ignored(const MPI_Status* statuses) { return statuses == MPI_STATUSES_IGNORE; }
MPI_Status* status_of(MPI_Status* statuses, int i) { return ignored(statuses) ? MPI_STATUS_IGNORE : statuses + i; }

/// All of Stretto's are over, and `code` is what the native library said of the others. MPI's code of the whole.
int finish_all(Mixed& mixed, MPI_Status* statuses, int code) {
  std::vector<int> codes(static_cast<std::size_t>(mixed.size()), MPI_SUCCESS);
  bool failed = false;
  for (int i = 0; i < mixed.size(); ++i) {
    if (!ignored(statuses) && (mixed.ours(i) || !mixed.any_native())) set_empty(statuses + i);
    if (!mixed.ours(i) || !mixed.ours(i)->active) continue;
    codes[static_cast<std::size_t>(i)] = mixed.complete_ours(i);
    failed |= codes[static_cast<std::size_t>(i)] != MPI_SUCCESS;
  }
  if (code != MPI_SUCCESS && !is_in_status(code)) return code;
  if (!failed && code == MPI_SUCCESS) return MPI_SUCCESS;
  // Errors are in all statuses then; the native library has written its own, if it has any.
  for (int i = 0; i < mixed.size() && !ignored(statuses); ++i)
    if (mixed.ours(i) || code == MPI_SUCCESS) statuses[i].MPI_ERROR = codes[static_cast<std::size_t>(i)];
  return code == MPI_SUCCESS ? MPI_ERR_IN_STATUS : code;
}

// Which of the native library's requests are complete? Their completions are handed to the program.
constexpr auto testany = [](Mixed& m, auto... to) { return native().Testany(m.size(), m.native_requests(), to...); };
constexpr auto testsome = [](Mixed& m, auto... to) { return native().Testsome(m.size(), m.native_requests(), to...); };

/// One of those that are complete: true. `index` is MPI_UNDEFINED where none is active. `ask`: which native ones are;
/// `completes`: the completion is handed to the program.
template <typename Ask>
bool find_any(Mixed& mixed, Ask ask, bool completes, int* index, MPI_Status* status, int& code) {
  int flag = 0;
  *index = MPI_UNDEFINED;
  if (mixed.any_native()) {
    code = ask(mixed, index, &flag, status);
    if (code != MPI_SUCCESS || (flag && *index != MPI_UNDEFINED)) return true;
  }
  if (const int first = mixed.first_complete(); first >= 0) {
    *index = first;
    set_empty(status);
    if (completes) code = mixed.complete_ours(first);
    return true;
  }
  const bool native_active = mixed.any_native() && !flag;
  if (native_active || mixed.any_active()) return false;
  set_empty(status);
  return true;
}

/// All that are complete: true if there are any or none is active.
template <typename Ask>
bool find_some(Mixed& mixed, Ask ask, bool completes, int* count, int* indices, MPI_Status* statuses, int& code) {
  *count = MPI_UNDEFINED;
  if (mixed.any_native()) code = ask(mixed, count, indices, statuses);
  if (code != MPI_SUCCESS && !is_in_status(code)) return true;
  const bool native_active = *count != MPI_UNDEFINED;
  const bool active = native_active || mixed.any_active();
  int n = native_active ? *count : 0;
  for (int i = 0; i < mixed.size(); ++i) {
    if (!mixed.ours(i) || !mixed.ours(i)->active || !mixed.ours(i)->done()) continue;
    set_empty(status_of(statuses, n));
    const int error = completes ? mixed.complete_ours(i) : MPI_SUCCESS;
    if (error != MPI_SUCCESS && code == MPI_SUCCESS) {
      code = MPI_ERR_IN_STATUS;
      for (int k = 0; k < n && !ignored(statuses); ++k) statuses[k].MPI_ERROR = MPI_SUCCESS;
    }
    if (code != MPI_SUCCESS && !ignored(statuses)) statuses[n].MPI_ERROR = error;
    indices[n++] = i;
  }
  *count = active ? n : MPI_UNDEFINED;
  return n > 0 || !active;
}

/// Moves Stretto's on once, and lets `see(mixed, code)` look at them all.
template <typename See>
int look(Requests requests, See see) {
  Mixed mixed(requests);
  if (mixed.lost()) return misused(*mixed.lost());
  int code = MPI_SUCCESS;
  mixed.poll_ours();
  see(mixed, code);
  return code;
}

}  // namespace

int wait(Request& request, MPI_Request* handle, MPI_Status* status) {
  set_empty(status);
  if (!request.active) return request.taken ? MPI_SUCCESS : misused(request);
  if (is_lost(request)) return misused(request);
  request.waited_for();
  await(request.call());
  return complete(request, handle);
}

int get_status(Request& request, int* flag, MPI_Status* status) {
  if (is_lost(request)) return misused(request);
  if (!over(request)) poll(request);
  *flag = over(request) ? 1 : 0;
  if (*flag) set_empty(status);
  return MPI_SUCCESS;
}

int test(Request& request, MPI_Request* handle, int* flag, MPI_Status* status) {
  const int code = get_status(request, flag, status);
  return code == MPI_SUCCESS && *flag && request.active ? complete(request, handle) : code;
}

int wait_any(Requests requests, int* index, MPI_Status* status) {
  Mixed mixed(requests);
  if (mixed.lost()) return misused(*mixed.lost());
  int code = MPI_SUCCESS;
  if (mixed.any_native() && !mixed.any_active())
    return native().Waitany(mixed.size(), mixed.native_requests(), index, status);
  mixed.wait_until(false, [&] { return find_any(mixed, testany, true, index, status, code); });
  return code;
}

int test_any(Requests requests, int* index, int* flag, MPI_Status* status) {
  return look(requests, [&](Mixed& m, int& code) { *flag = find_any(m, testany, true, index, status, code) ? 1 : 0; });
}

int wait_all(Requests requests, MPI_Status* statuses) {
  Mixed mixed(requests);
  if (mixed.lost()) return misused(*mixed.lost());
  mixed.waited_for();
  mixed.wait_until(true, [&] { return mixed.ours_over(); });
  if (!mixed.any_native()) return finish_all(mixed, statuses, MPI_SUCCESS);
  // Open MPI forgets the error of a message that is complete already, if statuses are ignored.
  std::vector<MPI_Status> own(ignored(statuses) ? requests.size() : 0);
  MPI_Status* const all = ignored(statuses) ? own.data() : statuses;
  return finish_all(mixed, all, native().Waitall(mixed.size(), mixed.native_requests(), all));
}

int test_all(Requests requests, int* flag, MPI_Status* statuses) {
  return look(requests, [&](Mixed& mixed, int& code) {
    *flag = 0;
    if (!mixed.ours_over()) return;  // the native ones may not be completed yet
    if (mixed.any_native()) {
      code = native().Testall(mixed.size(), mixed.native_requests(), flag, statuses);
      if (!*flag) return;  // MPICH may report an error before the others are complete
    }
    *flag = 1;
    code = finish_all(mixed, statuses, code);
  });
}

int wait_some(Requests requests, int* count, int* indices, MPI_Status* statuses) {
  Mixed mixed(requests);
  if (mixed.lost()) return misused(*mixed.lost());
  int code = MPI_SUCCESS;
  if (mixed.any_native() && !mixed.any_active())
    return native().Waitsome(mixed.size(), mixed.native_requests(), count, indices, statuses);
  mixed.wait_until(false, [&] { return find_some(mixed, testsome, true, count, indices, statuses, code); });
  return code;
}

int test_some(Requests requests, int* count, int* indices, MPI_Status* statuses) {
  return look(requests, [&](Mixed& m, int& code) { find_some(m, testsome, true, count, indices, statuses, code); });
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)

int get_status_any(Requests requests, int* index, int* flag, MPI_Status* status) {
  const auto ask = [](const Mixed& m, auto... to) {
    return native().Request_get_status_any(m.size(), m.seen_requests(), to...);
  };
  return look(requests, [&](Mixed& m, int& code) { *flag = find_any(m, ask, false, index, status, code) ? 1 : 0; });
}

int get_status_all(Requests requests, int* flag, MPI_Status* statuses) {
  Mixed mixed(requests);
  if (mixed.lost()) return misused(*mixed.lost());
  mixed.poll_ours();
  *flag = mixed.ours_over() ? 1 : 0;
  if (!*flag) return MPI_SUCCESS;
  if (mixed.any_native()) return native().Request_get_status_all(mixed.size(), mixed.seen_requests(), flag, statuses);
  for (int i = 0; i < mixed.size() && !ignored(statuses); ++i) set_empty(statuses + i);
  return MPI_SUCCESS;
}

int get_status_some(Requests requests, int* count, int* indices, MPI_Status* statuses) {
  const auto ask = [](const Mixed& m, auto... to) {
    return native().Request_get_status_some(m.size(), m.seen_requests(), to...);
  };
  return look(requests, [&](Mixed& m, int& code) { find_some(m, ask, false, count, indices, statuses, code); });
}

#endif

}  // namespace stretto::mpi
