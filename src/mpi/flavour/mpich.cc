// SPDX-License-Identifier: BSD-3-Clause
//
// The MPICH ABI: MPICH, Intel MPI, MVAPICH, Cray MPICH.
#include <dlfcn.h>

#include <atomic>

#include "mpi/flavour/flavour.hpp"
#include "mpi/native.hpp"
#include "mpi/progress.hpp"

namespace stretto::mpi::flavour {

constinit const Traits traits{.reports_null = true,
                              .threads_may_make_communicators = true,
                              .testany_keeps_errors = false,
                              .calls_nest_beside_threads = false};

std::string other_abi(void* handle, const std::string& path) {
  if (path.find("libmpi_abi.so") != std::string::npos) return "which has the MPI 5 standard ABI";
  if (handle && dlsym(handle, "ompi_mpi_comm_world")) return "which has the Open MPI ABI";
  return {};
}

// Handles of basic types carry their size, so that types which an older MPI lacks need not be asked for.
int size_of_predefined(MPI_Datatype type) {
  const auto handle = static_cast<unsigned>(type);
  constexpr unsigned basic = 0x4c000000;
  return (handle & 0xff000000) == basic ? static_cast<int>(handle >> 8 & 0xff) : 0;
}

// By their numbers: the names are not the same in all headers, and older ones lack them.
std::vector<ShortFloat> short_floats() {
  return {{0x4c000246, reduce::Type::f16},    // MPIX_C_FLOAT16
          {0x4c000226, reduce::Type::f16},    // MPI_REAL2
          {0x4c00024c, reduce::Type::bf16},   // MPIX_BFLOAT16 of MPICH
          {0x4c000247, reduce::Type::bf16}};  // MPIX_C_BF16 of Intel MPI
}

bool is_predefined(MPI_Op op) {
  constexpr unsigned builtin = 0x58000000;
  return (static_cast<unsigned>(op) & 0xff000000) == builtin;
}

int alias_error(Function, Count elements) { return elements > 0 ? MPI_ERR_BUFFER : MPI_SUCCESS; }

const char* key_of_environment() { return nullptr; }

bool yields_when_idle() { return false; }

// Hydra ends the job, unless it is told otherwise.
bool survives_faults() { return false; }
int fault_of(MPI_Comm) { return MPI_SUCCESS; }
bool is_revoked(MPI_Comm) { return false; }

namespace {

// MPICH 4.3 and later: a function that is called whenever MPICH waits or polls, until it says that it is done.
using AsyncPoll = int(void*);
using AsyncStart = int(AsyncPoll*, void* state, int stream);
constexpr int stream_null = 0x3c000000, no_progress = 0, done = 1;

std::atomic<bool (*)()> poll_of_ours{nullptr};  // null: it is not called
std::atomic<bool> ending{false};

/// Begun anew it costs more than a call that finds nothing: it lingers for a while.
int call_poll(void*) {
  constexpr int longest_idle = 1000;
  static std::atomic<int> idle{0};
  const auto poll = poll_of_ours.load(std::memory_order_relaxed);
  idle = poll() ? 0 : idle + 1;
  if (idle < longest_idle && !ending) return no_progress;
  idle = 0;
  poll_of_ours = nullptr;
  return done;
}

AsyncStart* async_start() {
  static const auto function = extension<AsyncStart>("PMPIX_Async_start");
  return function;
}

}  // namespace

bool calls_in_progress() { return async_start() != nullptr; }

void call_in_progress(bool (*poll)()) {
  if (poll_of_ours.load(std::memory_order_relaxed)) return;
  poll_of_ours = poll;
  async_start()(call_poll, nullptr, stream_null);
}

void end_calls_in_progress() {
  ending = true;
  while (poll_of_ours.load()) drive_progress();
}

int process_failed() { return 101; }  // MPIX_ERR_PROC_FAILED, which not all headers have

}  // namespace stretto::mpi::flavour
