// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/threads.hpp"

#include <atomic>
#include <cstdlib>

#include "mpi/native.hpp"
#include "settings/settings.hpp"

namespace stretto::mpi {
namespace {

constexpr int as_the_mpi_says = -1;
std::atomic<int> given{as_the_mpi_says};  // to the program, where the MPI has more

bool asks_for_more(int required) {
  return settings().progress_thread && !settings().disabled && required < MPI_THREAD_MULTIPLE;
}

bool is_multiple(int (*query)(int*)) {
  int level = MPI_THREAD_SINGLE;
  query(&level);
  return level == MPI_THREAD_MULTIPLE;
}

}  // namespace

int init(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  // By these users of MPICH and Open MPI say what MPI_Init is to ask for.
  const bool said = std::getenv("MPIR_CVAR_DEFAULT_THREAD_LEVEL") || std::getenv("OMPI_MPI_THREAD_LEVEL");
  return asks_for_more(MPI_THREAD_SINGLE) && !said ? init_thread(argc, argv, MPI_THREAD_SINGLE, &provided)
                                                   : native().Init(argc, argv);
}

int init_thread(int* argc, char*** argv, int required, int* provided) {
  if (!asks_for_more(required)) return native().Init_thread(argc, argv, required, provided);
  const int error = native().Init_thread(argc, argv, MPI_THREAD_MULTIPLE, provided);
  if (error == MPI_SUCCESS && *provided == MPI_THREAD_MULTIPLE) given = *provided = required;
  return error;
}

int query_thread(int* level) {
  const int error = native().Query_thread(level);
  if (error == MPI_SUCCESS && given != as_the_mpi_says) *level = given;
  return error;
}

bool threads_at_once() { return is_multiple(query_thread); }
bool own_thread_may_call() { return is_multiple(native().Query_thread); }

}  // namespace stretto::mpi
