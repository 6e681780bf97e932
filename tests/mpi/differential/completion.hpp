// SPDX-License-Identifier: BSD-3-Clause
//
// Requests under way on a rank, and all the ways in which MPI lets it complete them: one, some or all of any group, in
// any order, by waiting or by tests.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "mpi/native.hpp"
#include "random.hpp"

namespace stretto::differential {

// clang-format off
#define STRETTO_REQUEST_FUNCTIONS(X) \
  X(Start) X(Startall) X(Request_free) X(Request_get_status) \
  X(Wait) X(Test) X(Waitany) X(Testany) X(Waitall) X(Testall) X(Waitsome) X(Testsome)
// clang-format on

/// Those of one library; null where it has none.
struct RequestFunctions {
#define STRETTO_MEMBER(name) decltype(&PMPI_##name) name = nullptr;
  STRETTO_REQUEST_FUNCTIONS(STRETTO_MEMBER)
#undef STRETTO_MEMBER
};

/// Of a message that was received.
struct Envelope {
  int source;
  int tag;
};

struct Pending {
  MPI_Request* request;  ///< its owner's
  bool active = true;    ///< else null, or a persistent one that was not started
  bool persistent = false;
  bool native = false;                 ///< a persistent one of the MPI's own, or it is not known whose
  std::optional<Envelope> envelope{};  ///< what its status must say
  std::function<bool()> completed{};   ///< is called then; true if it has started the request again
};

/// Completes all but what is started again. The draws are this rank's own.
void complete(const RequestFunctions& functions, std::vector<Pending> pending, Random& own);

}  // namespace stretto::differential
