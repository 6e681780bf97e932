// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/raise.hpp"

#include <string>

#include "support/say.hpp"

namespace stretto::mpi {
namespace {

bool is_fatal(MPI_Comm comm) {
  MPI_Errhandler handler{};
  if (native().Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
  const bool fatal = handler == MPI_ERRORS_ARE_FATAL;
  native().Errhandler_free(&handler);
  return fatal;
}

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  if (native().Error_string(code, text, &length) != MPI_SUCCESS) return "error " + std::to_string(code);
  return text;
}

}  // namespace

int raise(const Communicator& c, const std::string& called, int code) {
  if (is_fatal(c.comm())) {
    say("fatal error in " + called + " on rank " + std::to_string(c.rank()) + " of " + std::to_string(c.ranks()) +
        ": " + text_of(code));
    native().Abort(c.comm(), code);
  }
  native().Comm_call_errhandler(c.comm(), code);
  return code;
}

}  // namespace stretto::mpi
