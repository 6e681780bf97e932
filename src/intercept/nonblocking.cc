// SPDX-License-Identifier: BSD-3-Clause
//
// Nonblocking and persistent collectives. Each asks to be served and else calls the native function.
#include "intercept/entry.hpp"
#include "prepare/observed.hpp"
#include "prepare/requests.hpp"

namespace {

using stretto::Function;
using stretto::intercept::call_if_there;
using stretto::intercept::combines;
using stretto::intercept::guarded;
using stretto::intercept::moves;
using stretto::intercept::native;
using stretto::intercept::NativeStart;
using stretto::intercept::nothing;
using stretto::intercept::parts;
using stretto::intercept::observe::Form;
namespace intercept = stretto::intercept;

/// The end of a call that the native library posts or makes.
int passed_on(int code, MPI_Comm comm, const intercept::Arguments& arguments, Form form,
              intercept::observe::Nanoseconds began, const MPI_Request* request) {
  if (began > 0 && code == MPI_SUCCESS) [[unlikely]]
    guarded([&] { intercept::observe_native(comm, arguments, form, began, *request); });
  return code;
}

template <typename Start>
[[gnu::always_inline]] inline int start_or_pass(MPI_Comm comm, const intercept::Arguments& arguments,
                                                MPI_Request* request, Start native_start) {
  const auto began = intercept::observed_begin();
  intercept::Served served;
  if (request)
    guarded([&] {
      served = intercept::start_nonblocking(comm, arguments, request, [&] { return NativeStart(native_start); }, began);
    });
  if (served) return *served;
  return passed_on(native_start(request), comm, arguments, Form::nonblocking, began, request);
}

template <typename Init>
[[gnu::always_inline]] inline int init_or_pass(MPI_Comm comm, const intercept::Arguments& arguments,
                                               MPI_Request* request, Init native_init) {
  const auto began = intercept::observed_begin();
  intercept::Served served;
  if (request) guarded([&] { served = intercept::make_persistent(comm, arguments, request, began); });
  if (served) return *served;
  return passed_on(native_init(request), comm, arguments, Form::persistent, began, request);
}

}  // namespace

#define NONBLOCKING_ENTRY(name, parameters, arguments, ...)                                                          \
  STRETTO_ENTRY(name, (STRETTO_LIST parameters, MPI_Request * request), (STRETTO_LIST arguments, request)) {         \
    return start_or_pass(comm, __VA_ARGS__, request,                                                                 \
                         [=](MPI_Request* to) { return call_if_there(native().name, STRETTO_LIST arguments, to); }); \
  }

#define PERSISTENT_ENTRY(name, parameters, arguments, ...)                             \
  STRETTO_ENTRY(name, (STRETTO_LIST parameters, MPI_Info info, MPI_Request * request), \
                (STRETTO_LIST arguments, info, request)) {                             \
    return init_or_pass(comm, __VA_ARGS__, request, [=](MPI_Request* to) {             \
      return call_if_there(native().name, STRETTO_LIST arguments, info, to);           \
    });                                                                                \
  }

#define COUNT int
#define DISPLACEMENT int
#define COLLECTIVE_ENTRY(name, function, parameters, arguments, ...) \
  NONBLOCKING_ENTRY(I##function, parameters, arguments, __VA_ARGS__)
#include "intercept/entry_points.inc"
COLLECTIVE_ENTRY(Barrier, barrier, (MPI_Comm comm), (comm), intercept::Arguments{{Function::barrier}})
#undef COLLECTIVE_ENTRY

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define COLLECTIVE_ENTRY(name, function, parameters, arguments, ...) \
  PERSISTENT_ENTRY(name##_init, parameters, arguments, __VA_ARGS__)
#include "intercept/entry_points.inc"
COLLECTIVE_ENTRY(Barrier, barrier, (MPI_Comm comm), (comm), intercept::Arguments{{Function::barrier}})
#undef COLLECTIVE_ENTRY
#endif
#undef COUNT
#undef DISPLACEMENT

#ifdef STRETTO_LARGE_COUNTS
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#define COLLECTIVE_ENTRY(name, function, parameters, arguments, ...) \
  NONBLOCKING_ENTRY(I##function##_c, parameters, arguments, __VA_ARGS__)
#include "intercept/entry_points.inc"
#undef COLLECTIVE_ENTRY
#define COLLECTIVE_ENTRY(name, function, parameters, arguments, ...) \
  PERSISTENT_ENTRY(name##_init_c, parameters, arguments, __VA_ARGS__)
#include "intercept/entry_points.inc"
#endif
