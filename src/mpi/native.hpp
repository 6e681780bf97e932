// SPDX-License-Identifier: BSD-3-Clause
//
// The functions of the MPI that the program runs on, found when the first of them is needed. The library is not linked
// to any MPI: it would then bring its own into programs that use another.
#pragma once

#include <atomic>

#include "mpi/mpi_header.hpp"
#include "stretto/functions.def"

namespace stretto::mpi {

// clang-format off
// Of functions.def: X(Bcast) for all, for those with counts, and X(Bcast_c) for the latter.
#define STRETTO_NAME_IN_MPI(X, function, name, ...) X(name)
#define STRETTO_NATIVE_COLLECTIVES(X) STRETTO_FUNCTIONS(STRETTO_NAME_IN_MPI, X)
#define STRETTO_NONBLOCKING_NAME(X, function, ...) X(I##function)
#define STRETTO_NATIVE_NONBLOCKING(X) STRETTO_FUNCTIONS(STRETTO_NONBLOCKING_NAME, X)
#define STRETTO_PERSISTENT_NAME(X, function, name, ...) X(name##_init)
#define STRETTO_WITH_COUNTS_none(...)
#define STRETTO_WITH_COUNTS_equal(...) __VA_ARGS__
#define STRETTO_WITH_COUNTS_neighbours(...) __VA_ARGS__
#define STRETTO_WITH_COUNTS_all(...) __VA_ARGS__
#define STRETTO_WITH_COUNTS_own(...) __VA_ARGS__
#define STRETTO_COUNTED_NAME(X, function, name, collective, sizes) STRETTO_WITH_COUNTS_##sizes(X(name))
#define STRETTO_COUNTED_COLLECTIVES(X) STRETTO_FUNCTIONS(STRETTO_COUNTED_NAME, X)
#define STRETTO_LARGE_NAME(X, function, name, collective, sizes) \
  STRETTO_WITH_COUNTS_##sizes(X(name##_c) X(I##function##_c) X(name##_init_c))

// Those that entry_points.cc takes the place of beside the collectives.
#define STRETTO_OTHER_ENTRIES(X) \
  X(Alloc_mem) X(Cancel) X(Cart_create) X(Cart_sub) X(Comm_create) X(Comm_create_group) X(Comm_disconnect) X(Comm_dup) \
  X(Comm_dup_with_info) \
  X(Comm_free) X(Comm_get_parent) X(Comm_set_info) X(Comm_spawn) X(Comm_spawn_multiple) X(Comm_split) \
  X(Comm_split_type) X(Dist_graph_create) X(Dist_graph_create_adjacent) X(Finalize) X(Free_mem) X(Graph_create) \
  X(Init) X(Init_thread) X(Intercomm_create) X(Intercomm_merge) X(Op_free) X(Query_thread) X(Request_free) X(Request_get_status) X(Start) X(Startall) \
  X(Test) X(Testall) X(Testany) X(Testsome) X(Type_free) X(Wait) X(Waitall) X(Waitany) X(Waitsome)

// Those that only have to stand behind nonblocking calls. An MPI without files or windows has some of them not.
#define STRETTO_BLOCKING_ENTRIES(X) \
  X(Comm_accept) X(Comm_connect) X(File_open) X(Win_allocate) X(Win_allocate_shared) X(Win_create) \
  X(Win_create_dynamic)

// Of MPI 4, which an MPI need not have.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define STRETTO_PERSISTENT_COLLECTIVES(X) STRETTO_FUNCTIONS(STRETTO_PERSISTENT_NAME, X)
#define STRETTO_SESSION_ENTRIES(X) X(Comm_create_from_group) X(Intercomm_create_from_groups)
#else
#define STRETTO_PERSISTENT_COLLECTIVES(X)
#define STRETTO_SESSION_ENTRIES(X)
#endif
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define STRETTO_STATUS_ENTRIES(X) X(Request_get_status_all) X(Request_get_status_any) X(Request_get_status_some)
#else
#define STRETTO_STATUS_ENTRIES(X)
#endif
#define STRETTO_OPTIONAL_ENTRIES(X) \
  STRETTO_BLOCKING_ENTRIES(X) STRETTO_PERSISTENT_COLLECTIVES(X) STRETTO_SESSION_ENTRIES(X) STRETTO_STATUS_ENTRIES(X)

#define STRETTO_NATIVE_FUNCTIONS(X) \
  STRETTO_NATIVE_COLLECTIVES(X) STRETTO_NATIVE_NONBLOCKING(X) STRETTO_OTHER_ENTRIES(X) \
  X(Abort) X(Cart_get) X(Cartdim_get) X(Comm_call_errhandler) X(Comm_create_keyval) X(Comm_delete_attr) \
  X(Comm_get_attr) X(Comm_get_errhandler) X(Comm_get_name) X(Comm_group) X(Comm_rank) X(Comm_set_attr) \
  X(Comm_set_errhandler) X(Comm_size) X(Comm_test_inter) X(Dist_graph_neighbors) \
  X(Dist_graph_neighbors_count) X(Errhandler_free) X(Error_class) X(Error_string) X(Finalized) \
  X(Get_library_version) X(Graph_neighbors) X(Graph_neighbors_count) X(Grequest_complete) X(Grequest_start) X(Group_free) X(Group_size) X(Group_translate_ranks) \
  X(Info_create) X(Info_dup) X(Info_free) X(Info_get) X(Info_get_nkeys) \
  X(Info_get_nthkey) X(Info_get_valuelen) X(Info_set) X(Initialized) X(Irecv) X(Isend) \
  X(Op_commutative) X(Pack) X(Recv) X(Recv_init) X(Reduce_local) X(Send) X(Topo_test) X(Type_create_keyval) \
  X(Type_get_attr) X(Type_get_contents) X(Type_get_envelope) X(Type_get_extent) X(Type_get_true_extent) \
  X(Type_set_attr) X(Type_size) X(Type_size_x) X(Unpack)

// Only tests and benchmarks use these: null in an MPI without them.
#define STRETTO_NATIVE_TEST_FUNCTIONS(X) \
  X(Op_create) X(Type_commit) X(Type_contiguous) X(Type_create_resized) \
  X(Type_create_struct) X(Type_get_name) X(Type_indexed) X(Type_vector) X(Wtime)

#ifdef STRETTO_LARGE_COUNTS
#define STRETTO_NATIVE_LARGE_COLLECTIVES(X) STRETTO_FUNCTIONS(STRETTO_LARGE_NAME, X)
#define STRETTO_LARGE_BLOCKING_ENTRIES(X) X(Win_allocate_c) X(Win_allocate_shared_c) X(Win_create_c)
#define STRETTO_NATIVE_LARGE_FUNCTIONS(X) \
  STRETTO_NATIVE_LARGE_COLLECTIVES(X) STRETTO_LARGE_BLOCKING_ENTRIES(X) \
  X(Pack_c) X(Type_get_contents_c) X(Type_get_envelope_c) X(Unpack_c)
#else
#define STRETTO_NATIVE_LARGE_COLLECTIVES(X)
#define STRETTO_LARGE_BLOCKING_ENTRIES(X)
#define STRETTO_NATIVE_LARGE_FUNCTIONS(X)
#endif

/// Every MPI_X and PMPI_X that the library defines.
#define STRETTO_ENTRIES(X) \
  STRETTO_NATIVE_COLLECTIVES(X) STRETTO_NATIVE_NONBLOCKING(X) STRETTO_NATIVE_LARGE_COLLECTIVES(X) \
  STRETTO_LARGE_BLOCKING_ENTRIES(X) STRETTO_OTHER_ENTRIES(X) STRETTO_OPTIONAL_ENTRIES(X)
// clang-format on

struct Native {
#define STRETTO_DECLARE(name) decltype(&PMPI_##name) name = nullptr;
  STRETTO_NATIVE_FUNCTIONS(STRETTO_DECLARE)
  STRETTO_NATIVE_TEST_FUNCTIONS(STRETTO_DECLARE)
  STRETTO_NATIVE_LARGE_FUNCTIONS(STRETTO_DECLARE)  // null in an older MPI
  STRETTO_OPTIONAL_ENTRIES(STRETTO_DECLARE)        // likewise
#undef STRETTO_DECLARE
  const char* library = nullptr;  ///< path, kept for ever
};

/// Handles that are asked for on every call.
struct Constants {
  MPI_Comm comm_null;
  MPI_Comm world;
  MPI_Comm self;
  MPI_Datatype type_null;
  MPI_Datatype byte;
  MPI_Op op_null;
  MPI_Request request_null;
};

namespace detail {
extern std::atomic<bool> found;
extern Native native;
extern Constants constants;
void find_native();
}  // namespace detail

/// Finds the MPI at the first call. If there is none, or one of another ABI, it says so and ends the process.
inline const Native& native() {
  if (!detail::found.load(std::memory_order_acquire)) [[unlikely]]
    detail::find_native();
  return detail::native;
}

/// After the first native().
inline const Constants& constants() { return detail::constants; }

/// A function of the MPI, or of what it brings along, that need not be there.
template <typename Function>
Function* extension(const char* name) {
  return reinterpret_cast<Function*>(address_of_global(name));
}

/// The MPI is the one at `path` (race and tests, which load it themselves).
void use_native(const char* path);

}  // namespace stretto::mpi
