// SPDX-License-Identifier: BSD-3-Clause
//
// The MPI functions that Stretto takes the place of. Each asks to be served and else calls the native function.
#include "communicator/hints.hpp"
#include "communicator/neighbourhood.hpp"
#include "communicator/provenance.hpp"
#include "communicator/shared_heap.hpp"
#include "intercept/entry.hpp"
#include "observe/write.hpp"
#include "prepare/requests.hpp"
#include "prepare/serve.hpp"
#include "stretto/error.hpp"

namespace {

using stretto::Function;
using stretto::mpi::call_if_there;
using stretto::mpi::combines;
using stretto::mpi::guarded;
using stretto::mpi::moves;
using stretto::mpi::native;
using stretto::mpi::nothing;
using stretto::mpi::parts;
using stretto::mpi::Provenance;
namespace mpi = stretto::mpi;

/// However the call ends.
struct EndOfCall {
  EndOfCall& operator=(EndOfCall&&) = delete;
  ~EndOfCall() {
    if (mpi::observe::call_is_open()) [[unlikely]]
      mpi::observe::end_call();
  }
};

/// Apart from serve_or_pass(), which would else be too large to be part of each entry.
template <typename Pass>
[[gnu::noinline, gnu::cold]] int pass_on(MPI_Comm comm, Pass pass) {
  return mpi::watched(comm, pass);
}

template <typename Pass>
[[gnu::always_inline]] inline int serve_or_pass(MPI_Comm comm, const mpi::Arguments& arguments, Pass pass) {
  const EndOfCall end;
  mpi::Served served;
  guarded([&] { served = mpi::serve(comm, arguments); });
  return served ? *served : pass_on(comm, pass);
}

/// The end of a function that has given `info` to `comm`, if it succeeded.
int with_hints(int error, const MPI_Comm* comm, MPI_Info info, const char* cause) {
  if (error == MPI_SUCCESS) guarded([&] { mpi::take_hints(*comm, info, cause); });
  return error;
}

/// `comm`, when all its nonblocking calls have chosen: the MPI must see collective calls in one order on all ranks, and
/// some may still become its own.
MPI_Comm decided(MPI_Comm comm) {
  if (mpi::requests_exist()) guarded([&] { mpi::await_decisions(comm); });
  return comm;
}

/// The end of a function that has made a communicator from another one, if it succeeded. Where the new one has
/// neighbours, or its ranks have met, it is set up at once, so that its first nonblocking call need not be left to the
/// native library.
int made_from(MPI_Comm parent, const MPI_Comm* child, int error, const char* cause) {
  if (error != MPI_SUCCESS || *child == mpi::constants().comm_null) return error;
  guarded([&] {
    mpi::set_provenance(*child, mpi::provenance_of(parent));  // which MPI_Comm_dup and its kin have copied already
    if (mpi::has_topology(*child) || mpi::ranks_have_met(*child)) mpi::communicator(*child, std::string(cause));
  });
  return error;
}

/// The end of a function that has made a communicator from something else.
int made_by(Provenance provenance, const MPI_Comm* made, int error) {
  if (error == MPI_SUCCESS && *made != mpi::constants().comm_null)
    guarded([&] { mpi::set_provenance(*made, provenance); });
  return error;
}

/// Initializes the MPI by `native`. What this process can do alone comes first: all ranks leave that function together,
/// and the first one would then wait for the last in its first collective.
template <typename Init>
int initialize(const char* cause, Init native) {
  const bool serves = !stretto::settings().disabled;
  if (serves) guarded([] { mpi::prepare_process(); });
  const int error = native();
  if (error == MPI_SUCCESS && stretto::settings().observes()) mpi::observe::note_parents();
  if (error != MPI_SUCCESS || !serves) return error;
  if (stretto::settings().children) guarded([cause] { mpi::set_up_world(cause); });  // all ranks have Stretto
  return error;
}

/// Nonblocking calls on it end first; it outlives what persistent ones need of it.
int free_with_requests(MPI_Comm* comm, int (*native_free)(MPI_Comm*)) {
  bool later = false;
  if (comm && mpi::requests_exist()) guarded([&] { later = mpi::finish_requests(*comm, native_free); });
  if (!later) return mpi::free_communicator(comm, native_free);
  *comm = mpi::constants().comm_null;
  return MPI_SUCCESS;
}

}  // namespace

#define ENTRY(name, parameters, arguments) STRETTO_ENTRY(name, parameters, arguments)
#define COLLECTIVE_ENTRY(name, function, parameters, arguments, ...)                  \
  ENTRY(name, parameters, arguments) {                                                \
    return serve_or_pass(comm, __VA_ARGS__, [=] { return native().name arguments; }); \
  }
#define COUNT int
#define DISPLACEMENT int
#include "intercept/entry_points.inc"
COLLECTIVE_ENTRY(Barrier, barrier, (MPI_Comm comm), (comm), mpi::Arguments{{Function::barrier}})

ENTRY(Comm_free, (MPI_Comm * comm), (comm)) { return free_with_requests(comm, native().Comm_free); }

ENTRY(Comm_disconnect, (MPI_Comm * comm), (comm)) { return free_with_requests(comm, native().Comm_disconnect); }

ENTRY(Comm_set_info, (MPI_Comm comm, MPI_Info info), (comm, info)) {
  const int error = native().Comm_set_info(decided(comm), info);  // hints must not change decisions on some ranks
  // A rank whose own info is wrong takes part in the comparison all the same: the others wait there.
  guarded([&] { mpi::take_hints(comm, error == MPI_SUCCESS ? info : MPI_INFO_NULL, "MPI_Comm_set_info"); });
  return error;
}

ENTRY(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm), (comm, info, newcomm)) {
  const char* const cause = "MPI_Comm_dup_with_info";
  const int error = made_from(comm, newcomm, native().Comm_dup_with_info(decided(comm), info, newcomm), cause);
  return with_hints(error, newcomm, info, cause);
}

ENTRY(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* newcomm),
      (comm, type, key, info, newcomm)) {
  const char* const cause = "MPI_Comm_split_type";
  const int error = made_from(comm, newcomm, native().Comm_split_type(decided(comm), type, key, info, newcomm), cause);
  return with_hints(error, newcomm, info, cause);
}

#include "intercept/makers.inc"

ENTRY(Alloc_mem, (MPI_Aint size, MPI_Info info, void* base), (size, info, base)) {
  return mpi::allocate_in_heap(size, info, base) ? MPI_SUCCESS : native().Alloc_mem(size, info, base);
}

ENTRY(Free_mem, (void* base), (base)) { return mpi::release_to_heap(base) ? MPI_SUCCESS : native().Free_mem(base); }

ENTRY(Init, (int* argc, char*** argv), (argc, argv)) {
  return initialize("MPI_Init", [=] { return mpi::init(argc, argv); });
}

ENTRY(Init_thread, (int* argc, char*** argv, int required, int* provided), (argc, argv, required, provided)) {
  return initialize("MPI_Init_thread", [=] { return mpi::init_thread(argc, argv, required, provided); });
}

ENTRY(Query_thread, (int* provided), (provided)) { return mpi::query_thread(provided); }

ENTRY(Finalize, (), ()) {
  guarded([] { mpi::before_finalize(); });
  const int code = native().Finalize();
  mpi::forget_requests();
  return code;
}

#undef ENTRY
#undef COLLECTIVE_ENTRY
#undef COUNT
#undef DISPLACEMENT

// Large counts. An MPI without these functions must not seem to have them: mpi4py would call them.
#ifdef STRETTO_LARGE_COUNTS
#define COLLECTIVE_ENTRY(name, function, parameters, arguments, ...)                                                   \
  STRETTO_ENTRY(name##_c, parameters, arguments) {                                                                     \
    return serve_or_pass(comm, __VA_ARGS__, [=] { return call_if_there(native().name##_c, STRETTO_LIST arguments); }); \
  }
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#include "intercept/entry_points.inc"
#undef COLLECTIVE_ENTRY
#undef COUNT
#undef DISPLACEMENT
#endif

// For benchmarks and tests: id of the algorithm that served this thread's last call, "native" if it was passed on.
extern "C" __attribute__((visibility("default"))) const char* stretto_last_algorithm() { return mpi::last_algorithm(); }

// For paired benchmarks: what MPI_Comm_set_info does with key stretto_FUNCTION, but with no message between the ranks.
extern "C" __attribute__((visibility("default"))) bool stretto_prefer(MPI_Comm comm, const char* function,
                                                                      const char* words) {
  const auto named = stretto::function_named(function);
  if (!named) return false;
  try {
    guarded([&] { mpi::prefer(comm, *named, words); });
  } catch (const stretto::Error& e) {
    stretto::say(e.what(), e.hint());
    return false;
  }
  return true;
}
