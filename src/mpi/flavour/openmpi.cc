// SPDX-License-Identifier: BSD-3-Clause
//
// The Open MPI ABI.
#include <dlfcn.h>

#include <utility>

#include "mpi/flavour/flavour.hpp"
#include "mpi/native.hpp"

namespace stretto::mpi::flavour {

constinit const Traits traits{.reports_null = false,
                              .threads_may_make_communicators = false,
                              .testany_keeps_errors = true,
                              .calls_nest_beside_threads = true};

std::string other_abi(void* handle, const std::string& path) {
  if (path.find("libmpi_abi.so") != std::string::npos) return "which has the MPI 5 standard ABI";
  if (handle && !dlsym(handle, "ompi_mpi_comm_world")) return "which has the MPICH ABI";
  return {};
}

int size_of_predefined(MPI_Datatype type) {
  int size = 0;
  if (!type || native().Type_size(type, &size) != MPI_SUCCESS) return 0;
  return size;
}

// MPIX_C_FLOAT16 of mpi-ext.h: not in versions before 5, and empty where the compiler knew no such type.
std::vector<ShortFloat> short_floats() {
  const auto handle = static_cast<MPI_Datatype>(address_of_global("ompi_mpi_short_float"));
  if (size_of_predefined(handle) != 2) return {};
  return {{handle, reduce::Type::f16}};
}

// Open MPI has no operators beyond the standard's.
bool is_predefined(MPI_Op) { return false; }

int alias_error(Function function, Count elements) {
  if (function == Function::allreduce && elements > 1) return MPI_ERR_BUFFER;
  return function == Function::reduce ? MPI_ERR_ARG : MPI_SUCCESS;
}

// Open MPI 5 calls the older name a deprecated one, and has sessions, which the older ones have not.
const char* key_of_environment() {
  static const bool is_new = address_of_global("PMPI_Session_init") != nullptr;
  return is_new ? "PMIX_ENVAR" : "env";
}

// Its parameter mpi_yield_when_idle; set by itself where the launcher starts more ranks than there are cores.
bool yields_when_idle() {
  static const auto* yields = static_cast<const bool*>(address_of_global("opal_progress_yield_when_idle"));
  return yields && *yields;
}

constexpr int failed_class = 75, revoked_class = 77;  // of Open MPI 5, whose extension it is

bool survives_faults() {
  static const auto* enabled = static_cast<const bool*>(address_of_global("ompi_ftmpi_enabled"));
  return enabled && *enabled;
}

bool is_revoked(MPI_Comm comm) {
  static const auto asked = extension<int(MPI_Comm, int*)>("PMPIX_Comm_is_revoked");
  int revoked = 0;
  return asked && asked(comm, &revoked) == MPI_SUCCESS && revoked;
}

int fault_of(MPI_Comm comm) {
  static const auto asked = extension<int(MPI_Comm, MPI_Group*)>("PMPIX_Comm_get_failed");
  if (is_revoked(comm)) return revoked_class;
  MPI_Group group{};
  if (!asked || asked(comm, &group) != MPI_SUCCESS) return MPI_SUCCESS;
  int failed = 0;
  native().Group_size(group, &failed);
  if (group != MPI_GROUP_EMPTY) native().Group_free(&group);
  return failed > 0 ? failed_class : MPI_SUCCESS;
}

namespace {

// Of libopen-pal: functions that are called whenever Open MPI waits or polls, and say how much they have done.
using Registration = int(int (*)());
bool (*poll_of_ours)() = nullptr;
int call_poll() {
  poll_of_ours();
  return 0;
}

}  // namespace

bool calls_in_progress() {
  static const bool has_both =
      extension<Registration>("opal_progress_register") && extension<Registration>("opal_progress_unregister");
  return has_both;
}

void call_in_progress(bool (*poll)()) {
  if (std::exchange(poll_of_ours, poll) != poll) extension<Registration>("opal_progress_register")(call_poll);
}

void end_calls_in_progress() {
  if (poll_of_ours) extension<Registration>("opal_progress_unregister")(call_poll);
}

int process_failed() { return survives_faults() ? failed_class : MPI_ERR_OTHER; }

}  // namespace stretto::mpi::flavour
