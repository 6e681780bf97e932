// SPDX-License-Identifier: BSD-3-Clause
//
// What a program does with requests. The native library does it unless Stretto's are among them.
#include <algorithm>

#include "intercept/entry.hpp"
#include "mpi/held_handles.hpp"
#include "prepare/observed.hpp"
#include "prepare/requests.hpp"

namespace {

using stretto::mpi::call_if_there;
using stretto::mpi::guarded;
using stretto::mpi::native;
using stretto::mpi::ObservedWait;
using stretto::mpi::Request;
namespace mpi = stretto::mpi;

Request* ours(const MPI_Request* handle) { return handle ? mpi::request_of(*handle) : nullptr; }
/// Also one that was freed: whoever still has its handle must not reach the native request, which is used again.
Request* ever_ours(const MPI_Request* handle) { return handle ? mpi::find_request(*handle) : nullptr; }

bool any_ours(int n, const MPI_Request* handles) {
  if (!mpi::requests_exist() && mpi::complete_handle() == MPI_Request{}) return false;
  return n > 0 && handles &&
         std::any_of(handles, handles + n, [](MPI_Request one) { return mpi::request_of(one) != nullptr; });
}

/// Calls what may not throw through MPI's C interface.
template <typename Body>
int served(Body body) {
  int code = MPI_SUCCESS;
  guarded([&] { code = body(); });
  return code;
}

mpi::Requests all_of(int n, MPI_Request* handles) { return {handles, static_cast<std::size_t>(n)}; }

}  // namespace

STRETTO_ENTRY(Wait, (MPI_Request * request, MPI_Status* status), (request, status)) {
  if (request && mpi::is_complete(*request)) return mpi::wait_complete(request, status);
  Request* const own = ours(request);
  if (own && own->at_once) return mpi::wait_at_once(*own, status);
  const ObservedWait wait(1, request);
  if (own) return served([&] { return mpi::wait(*own, request, status); });
  return native().Wait(request, status);
}

STRETTO_ENTRY(Test, (MPI_Request * request, int* flag, MPI_Status* status), (request, flag, status)) {
  const ObservedWait wait(1, request);
  if (Request* const own = ours(request)) return served([&] { return mpi::test(*own, request, flag, status); });
  return native().Test(request, flag, status);
}

STRETTO_ENTRY(Request_get_status, (MPI_Request request, int* flag, MPI_Status* status), (request, flag, status)) {
  if (Request* const own = ours(&request)) return served([&] { return mpi::get_status(*own, flag, status); });
  return native().Request_get_status(request, flag, status);
}

#define ARRAY_ENTRY(name, with_ours, parameters, arguments)                                     \
  STRETTO_ENTRY(name, (int n, MPI_Request requests[], STRETTO_LIST parameters),                 \
                (n, requests, STRETTO_LIST arguments)) {                                        \
    const ObservedWait wait(n, requests);                                                       \
    if (!any_ours(n, requests)) return native().name(n, requests, STRETTO_LIST arguments);      \
    return served([&] { return mpi::with_ours(all_of(n, requests), STRETTO_LIST arguments); }); \
  }

ARRAY_ENTRY(Waitany, wait_any, (int* index, MPI_Status* status), (index, status))
ARRAY_ENTRY(Testany, test_any, (int* index, int* flag, MPI_Status* status), (index, flag, status))
ARRAY_ENTRY(Waitall, wait_all, (MPI_Status statuses[]), (statuses))
ARRAY_ENTRY(Testall, test_all, (int* flag, MPI_Status statuses[]), (flag, statuses))
ARRAY_ENTRY(Waitsome, wait_some, (int* count, int indices[], MPI_Status statuses[]), (count, indices, statuses))
ARRAY_ENTRY(Testsome, test_some, (int* count, int indices[], MPI_Status statuses[]), (count, indices, statuses))

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
static mpi::Requests looked_at(int n, const MPI_Request* handles) {
  return all_of(n, const_cast<MPI_Request*>(handles));  // they are not changed
}

#define STATUS_ENTRY(name, with_ours, parameters, arguments)                                              \
  STRETTO_ENTRY(name, (int n, const MPI_Request requests[], STRETTO_LIST parameters),                     \
                (n, requests, STRETTO_LIST arguments)) {                                                  \
    if (!any_ours(n, requests)) return call_if_there(native().name, n, requests, STRETTO_LIST arguments); \
    return served([&] { return mpi::with_ours(looked_at(n, requests), STRETTO_LIST arguments); });        \
  }

STATUS_ENTRY(Request_get_status_any, get_status_any, (int* index, int* flag, MPI_Status* status), (index, flag, status))
STATUS_ENTRY(Request_get_status_all, get_status_all, (int* flag, MPI_Status statuses[]), (flag, statuses))
STATUS_ENTRY(Request_get_status_some, get_status_some, (int* count, int indices[], MPI_Status statuses[]),
             (count, indices, statuses))
#endif

STRETTO_ENTRY(Start, (MPI_Request * request), (request)) {
  if (Request* const own = ever_ours(request)) return served([&] { return mpi::start(*own); });
  return mpi::start_natively(request);
}

STRETTO_ENTRY(Startall, (int n, MPI_Request requests[]), (n, requests)) {
  const auto special = [observed = mpi::observe::any_pending()](const MPI_Request& one) {
    return ever_ours(&one) || (observed && mpi::observe::native_times(one));
  };
  if (n <= 0 || !requests || std::none_of(requests, requests + n, special)) return native().Startall(n, requests);
  for (int i = 0; i < n; ++i) {
    Request* const own = ever_ours(requests + i);
    const int code = own ? served([&] { return mpi::start(*own); }) : mpi::start_natively(requests + i);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

STRETTO_ENTRY(Request_free, (MPI_Request * request), (request)) {
  if (Request* const own = ever_ours(request)) return served([&] { return mpi::free_request(*own, request); });
  if (mpi::observe::any_pending() && request) [[unlikely]]
    mpi::observe::forget_native(*request, mpi::observe::native_times(*request));
  return native().Request_free(request);
}

// Collectives cannot be cancelled.
STRETTO_ENTRY(Cancel, (MPI_Request * request), (request)) {
  if (Request* const own = ever_ours(request)) return served([&] { return mpi::misused(*own); });
  return native().Cancel(request);
}

STRETTO_ENTRY(Type_free, (MPI_Datatype * type), (type)) {
  return mpi::put_off_type_free(type) ? MPI_SUCCESS : native().Type_free(type);
}

STRETTO_ENTRY(Op_free, (MPI_Op * op), (op)) { return mpi::put_off_op_free(op) ? MPI_SUCCESS : native().Op_free(op); }
