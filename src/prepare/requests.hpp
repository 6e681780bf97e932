// SPDX-License-Identifier: BSD-3-Clause
//
// The requests of Stretto's nonblocking and persistent calls: real ones of the native library, never started there,
// that only carry a call. Whatever copies, compares or converts requests works on them.
#pragma once

#include <span>

#include "prepare/nonblocking_call.hpp"
#include "prepare/persistent_call.hpp"
#include "prepare/serve.hpp"

namespace stretto::mpi {

/// Used again for another call when the program is done with it.
struct Request {
  MPI_Request carrier;
  bool taken = false;    ///< by the program, which has not freed it
  bool active = false;   ///< started, and its completion not yet handed to the program
  bool at_once = false;  ///< active, persistent, and complete since it was started: nothing is left to be done
  NonblockingCall nonblocking = {};
  std::unique_ptr<PersistentCall> persistent = {};  ///< null: it is nonblocking

  PendingCall& call() { return persistent ? static_cast<PendingCall&>(*persistent) : nonblocking; }
  bool done() { return call().done(); }
  /// The program begins to wait for it.
  void waited_for() {
    if (active) call().waited_for();
  }
};

namespace detail {
extern std::atomic<int> requests_in_use;
extern std::atomic<MPI_Request> complete_handle;
}  // namespace detail

/// Of all nonblocking calls that were complete when they were posted: one request does for them, as in the MPIs
/// themselves, for there is nothing to be known of it. MPI_Request{}: there has been no call yet.
inline MPI_Request complete_handle() { return detail::complete_handle.load(std::memory_order_acquire); }
inline bool is_complete(MPI_Request handle) { return handle == complete_handle() && handle != MPI_Request{}; }
/// Are any others of Stretto's with the program?
inline bool requests_exist() { return detail::requests_in_use.load(std::memory_order_relaxed) > 0; }

/// The request that `handle` carries, whether it is taken or not; null: it is the native library's.
Request* find_request(MPI_Request handle);
/// The same in little time, where programs wait for requests of other kinds: null for those that are not taken.
inline Request* request_of(MPI_Request handle) {
  return requests_exist() || is_complete(handle) ? find_request(handle) : nullptr;
}

/// MPI_I…: MPI's return code, or nothing if the native library is to do it. `native`: how it would. `began`: when, if
/// the call is observed.
Served start_nonblocking(MPI_Comm comm, const Arguments& arguments, MPI_Request* request, const NativeStart& native,
                         observe::Nanoseconds began);
/// MPI_…_init, likewise. Collective.
Served make_persistent(MPI_Comm comm, const Arguments& arguments, MPI_Request* request,
                       FunctionRef<int(MPI_Request*)> native, observe::Nanoseconds began);
/// MPI_Start.
int start(Request& request);
/// MPI_Request_free.
int free_request(Request& request, MPI_Request* handle);
/// After the end of its call: hands the completion to the program, by MPI's code.
int complete(Request& request, MPI_Request* handle);
/// MPI_ERR_REQUEST, by way of the error handler.
int misused(Request& request);
/// The same where nothing is known of a communicator: the native library says it.
int misused();

/// Until all calls on it know their algorithms.
void await_decisions(MPI_Comm comm);
/// Before `comm` is freed: waits for its nonblocking calls. True: persistent ones are left, and the last of them to be
/// freed frees it.
bool finish_requests(MPI_Comm comm, int (*native_free)(MPI_Comm*));
/// Before MPI_Finalize: no call goes on, and no request is started again.
void end_requests();
/// Has that been?
bool requests_have_ended();
/// After MPI_Finalize: requests that a session makes may have the same handles.
void forget_requests();

/// What MPI calls an empty status: that of a request which was not active, and of a collective.
inline void set_empty(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  MPI_Request none = constants().request_null;
  int flag = 0;
  native().Test(&none, &flag, status);
}

// MPI's waits and tests of requests, of which some are Stretto's and others may be the native library's: with MPI's
// own parameters. Not for arrays in which none is Stretto's. In completion.cc.

int wait(Request& request, MPI_Request* handle, MPI_Status* status);
/// wait() for one that is_complete().
inline int wait_complete(MPI_Request* handle, MPI_Status* status) {
  set_empty(status);
  *handle = constants().request_null;
  return MPI_SUCCESS;
}
/// wait() for one that is complete `at_once`.
inline int wait_at_once(Request& request, MPI_Status* status) {
  set_empty(status);
  request.active = request.at_once = false;
  return MPI_SUCCESS;
}
int test(Request& request, MPI_Request* handle, int* flag, MPI_Status* status);
int get_status(Request& request, int* flag, MPI_Status* status);

using Requests = std::span<MPI_Request>;
int wait_any(Requests requests, int* index, MPI_Status* status);
int test_any(Requests requests, int* index, int* flag, MPI_Status* status);
int wait_all(Requests requests, MPI_Status* statuses);
int test_all(Requests requests, int* flag, MPI_Status* statuses);
int wait_some(Requests requests, int* count, int* indices, MPI_Status* statuses);
int test_some(Requests requests, int* count, int* indices, MPI_Status* statuses);

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
// Without handing completions to the program.
int get_status_any(Requests requests, int* index, int* flag, MPI_Status* status);
int get_status_all(Requests requests, int* flag, MPI_Status* statuses);
int get_status_some(Requests requests, int* count, int* indices, MPI_Status* statuses);
#endif

}  // namespace stretto::mpi
